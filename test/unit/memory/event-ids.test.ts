/** Ids of events: the same on every node, and without a word of other events. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { sealedIds } from "../../../src/memory/event-ids.ts";

const idsOf = sealedIds([Buffer.alloc(32, 1)]);

test("an id names its event on every node, and nowhere else", () => {
  const ids = idsOf("acme", "log");
  const numbers = [0, 1, 2, 1_000, 2 ** 32, Number.MAX_SAFE_INTEGER];
  for (const number of numbers) {
    const id = ids.idOf(number);
    assert.equal(idsOf("acme", "log").idOf(number), id);
    assert.equal(idsOf("acme", "log").numberOf(id), number);
    for (const other of [
      idsOf("globex", "log"),
      idsOf("acme", "log2"),
      sealedIds([Buffer.alloc(32, 2)])("acme", "log"),
    ])
      assert.equal(other.numberOf(id), undefined);
  }
  assert.throws(() => ids.idOf(-1));
  assert.throws(() => ids.idOf(1.5));
});

test("what is no id names no event", () => {
  const ids = idsOf("acme", "log");
  const id = ids.idOf(7);
  for (const text of [
    "",
    "log-7",
    `${id}A`,
    id.slice(1),
    ` ${id.slice(1)}`,
    "A".repeat(22),
    `é${id.slice(1)}`,
    `${id}\n`,
  ])
    assert.equal(ids.numberOf(text), undefined, text);
  // After what was no id, ids are read as before.
  assert.equal(ids.numberOf(id), 7);
});

test("ids of neighbours have nothing in common, and all have one length", () => {
  const ids = idsOf("acme", "log");
  const bytesOf = (number: number) => Buffer.from(ids.idOf(number), "base64url");
  for (let number = 0; number < 1_000; number++) {
    const [a, b] = [bytesOf(number), bytesOf(number + 1)];
    assert.deepEqual([a.length, b.length], [16, 16]);
    // Of 16 random bytes, six are the same in one of 10 billion pairs.
    assert.ok(a.filter((byte, i) => byte === b[i]).length < 6, `${number}`);
  }
});

test("an id goes on to name its event while one master key takes the place of another", () => {
  const [old, present] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const id = sealedIds([old])("acme", "log").idOf(7);
  assert.equal(sealedIds([old, present])("acme", "log").numberOf(id), 7);
  const next = sealedIds([old, present])("acme", "log").idOf(7);
  assert.notEqual(next, id);
  assert.equal(sealedIds([present, old])("acme", "log").numberOf(next), 7);
});
