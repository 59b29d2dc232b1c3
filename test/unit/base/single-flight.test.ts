/** Work that is shared, left and begun anew. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SingleFlight } from "../../../src/base/single-flight.ts";

function setUp() {
  const work = new SingleFlight<string>();
  const begun: { signal: AbortSignal; end: (result: string) => void }[] = [];
  const join = (signal?: AbortSignal) =>
    work
      .join("block", signal, (shared) => new Promise((end) => begun.push({ signal: shared, end })))
      .catch((error) => `left: ${error}`);
  return { begun, join };
}

test("callers at the same time share one work; the next one after it begins another", async () => {
  const { begun, join } = setUp();
  const both = [join(new AbortController().signal), join()];
  begun[0].end("built");
  assert.deepEqual(await Promise.all(both), ["built", "built"]);
  void join();
  assert.equal(begun.length, 2);
});

test("the work ends only when all have gone; who has gone is told at once", async () => {
  const { begun, join } = setUp();
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = [join(first.signal), join(second.signal)];
  first.abort("gone");
  assert.equal(await answers[0], "left: gone");
  assert.equal(begun[0].signal.aborted, false);
  second.abort("gone too");
  assert.equal(await answers[1], "left: gone too");
  assert.equal(begun[0].signal.aborted, true);
});

test("a caller that comes after all have gone begins anew", async () => {
  const { begun, join } = setUp();
  const first = new AbortController();
  void join(first.signal);
  first.abort("gone");
  const second = join(new AbortController().signal);
  begun[0].end("too late");
  begun[1].end("built");
  assert.equal(await second, "built");
});

test("one who cannot leave keeps the work going", async () => {
  const { begun, join } = setUp();
  const caller = new AbortController();
  const [leaves, stays] = [join(caller.signal), join()];
  caller.abort("gone");
  await leaves;
  assert.equal(begun[0].signal.aborted, false);
  begun[0].end("built");
  assert.equal(await stays, "built");
});
