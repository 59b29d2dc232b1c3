/** A small soak; the whole one is npm run test:soak. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "./soak/soak.ts";

test("ten seconds of all operations, with cut connections and compactions: every answer is as it should be", async () => {
  const seed = Date.now() % 2 ** 32;
  const report = await soak({
    minutes: 1 / 6,
    operationsMin: 150,
    rate: 20,
    seed,
    users: 10,
    compactEveryMs: 2_000,
    scrapeEveryMs: 1_000,
    marks: [],
    print: () => {},
  });
  assert.equal(report.fault, undefined, `seed ${seed}`);
  assert.ok(report.compactionsMs.length > 0);
  assert.ok(report.cuts > 0);
});
