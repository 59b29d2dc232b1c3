/** Exactness and "never a lie", a hundred profiles and a few hundred attacks; `npm run test:full` does the full counts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anySeed } from "../fixtures/blocks.ts";
import { exactnessTrial, lieTrials, type Tally } from "./block-trials.ts";

test("random profiles of 1 to 256 facts in all scripts come back byte for byte", () => {
  fc.assert(fc.property(anySeed, exactnessTrial), { numRuns: 100 });
});

test("damaged, forged, truncated, spliced and foreign blocks are read right or refused, never read wrong", () => {
  const tally: Tally = { right: 0, refused: 0 };
  fc.assert(
    fc.property(anySeed, (seed) => lieTrials(seed, 30, 0.08, tally)),
    { numRuns: 15 },
  );
  assert.ok(tally.right > 0 && tally.refused > 0, "the trials see both outcomes");
});
