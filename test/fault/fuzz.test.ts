/** A small run of the fuzzer; the whole one is npm run test:fuzz. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "./fuzz-requests.ts";

test("2,000 malformed requests: only 4xx problems, no 5xx, no leak, and the service goes on", async () => {
  const seed = Date.now() % 2 ** 32;
  const { faults, statuses } = await fuzz(2_000, seed);
  assert.deepEqual(faults, [], `seed ${seed}`);
  assert.ok((statuses["400"] ?? 0) > 200, JSON.stringify(statuses));
});
