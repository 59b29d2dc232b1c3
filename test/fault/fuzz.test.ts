/** A small run of the fuzzer; the whole one is npm run test:fuzz. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "./fuzz/fuzz.ts";

/** A whole run has a second; here a busy machine must not be a failure. */
const STALL_MS_MAX = 15_000;
const KINDS = 18;

test("1,200 requests of all kinds, good and bad: no 5xx, no leak, nothing lost, and the service goes on", async () => {
  const seed = Date.now() % 2 ** 32;
  const report = await fuzz({
    requests: 1_200,
    seed,
    patienceMs: 500,
    stallMsMax: STALL_MS_MAX,
    print: () => {},
  });
  assert.equal(report.fault, undefined);
  assert.equal(report.kinds.size, KINDS, [...report.kinds.keys()].join(", "));
  assert.ok(report.marks[2].descriptors <= report.marks[0].descriptors + 8);
});
