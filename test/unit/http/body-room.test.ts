/** The room for bodies: bounded in all, for an account and for an address, and given back whole. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { BodyRoom } from "../../../src/http/request/body-room.ts";

const REFUSED = { code: "overloaded" };

function setUp(bytesMax: number) {
  const metrics = new Metrics();
  const room = new BodyRoom(metrics, bytesMax);
  const taken = () => metrics.value("sideband_body_bytes");
  return { room, taken };
}

test("an address has an eighth of the room, an account a quarter, and all together the whole", () => {
  const { room, taken } = setUp(800);
  const take = (account: string, address: string, bytes: number) => {
    const place = room.placeFor(account, address);
    place.take(bytes);
    return place;
  };
  take("a", "1", 60);
  assert.throws(() => take("b", "1", 41), { ...REFUSED, message: /from this address/ });
  take("b", "1", 40);
  take("a", "2", 100);
  assert.throws(() => take("a", "3", 41), { ...REFUSED, message: /of this account/ });
  take("a", "3", 40);
  for (let i = 0; i < 14; i++) take(`of-${i}`, `from-${i}`, 40);
  assert.equal(taken(), 800);
  assert.throws(() => take("c", "4", 1), {
    ...REFUSED,
    extra: { retryAfterS: 1 },
    message: /of the requests that/,
  });
  assert.equal(taken(), 800, "what is refused takes nothing");
});

test("a place that is left is free again, once", () => {
  const { room, taken } = setUp(800);
  const place = room.placeFor("a", "1");
  place.take(30);
  place.take(70);
  assert.throws(() => place.take(1), REFUSED);
  const other = room.placeFor("a", "2");
  other.take(100);
  place.leave();
  place.leave();
  assert.equal(taken(), 100);
  room.placeFor("a", "1").take(100);
});
