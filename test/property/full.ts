/**
 * The full counts: npm run test:full [-- --exactness N] [--lies N] [--seed N] [--minutes N]
 *
 * Without options 100,000 profiles and 1,000,000 attacks, about half an hour on one core; before them, all golden blocks
 * are built and read, in Python too where there is a python3 with numpy. Progress is a line every few seconds. It stops at the first failure, whose message has the seed; with --minutes each part stops in time
 * and says how far it came.
 */

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { loadCodebooks } from "../../src/blockwork/codebooks.ts";
import { BLOCK_FORMS, formatVersionOf } from "../../src/codec/codebook.ts";
import { checkGoldenBlock } from "../fixtures/golden-blocks.ts";
import { loadVectors } from "../fixtures/vectors.ts";
import { findNumpy } from "../format/numpy.ts";
import { readInPython } from "../format/python-reader.ts";
import { exactnessTrial, lieTrials, type Tally } from "./block-trials.ts";

const PROGRESS_MS = 5000;
const ATTACKS_PER_CAST = 100;
/** Attacks that need alignment take 50 times as long as the others: one in 33. */
const DAMAGED_SHARE = 0.03;

const { values } = parseArgs({
  options: {
    exactness: { type: "string", default: "100000" },
    lies: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "600" },
  },
});
const seed = Number(values.seed);
const limitMs = Number(values.minutes) * 60_000;

/** Runs `work` for consecutive seeds until `count` trials are done or the time is up. */
function repeat(what: string, count: number, perSeed: number, work: (seed: number) => void): void {
  const startMs = performance.now();
  let shownMs = startMs;
  let done = 0;
  const rate = () => done / ((performance.now() - startMs) / 1000);
  for (let i = 0; done < count && performance.now() - startMs < limitMs; i++) {
    work(seed * 1_000_003 + i);
    done += perSeed;
    if (performance.now() - shownMs < PROGRESS_MS) continue;
    shownMs = performance.now();
    const minutesLeft = (count - done) / rate() / 60;
    console.log(
      `${what}: ${done} of ${count}, ${rate().toFixed(0)} a second, ${minutesLeft.toFixed(1)} min to go`,
    );
  }
  console.log(`${what}: ${done} of ${count} done, none wrong, ${rate().toFixed(0)} a second`);
}

for (const codebook of loadCodebooks()) {
  for (const form of BLOCK_FORMS) {
    const version = formatVersionOf(codebook, form);
    const { blocks } = loadVectors(version);
    for (const vector of blocks) checkGoldenBlock(vector, codebook, version);
    console.log(`${blocks.length} golden blocks of version ${version} are built and read the same`);
  }
}
if (findNumpy()) {
  const { printed, wanted } = await readInPython(() => true);
  assert.equal(printed, wanted);
  process.stdout.write(printed);
} else console.log("no python3 with numpy on this machine: the golden blocks are not read in Python");
const tally: Tally = { right: 0, refused: 0 };
repeat("profiles read back exactly", Number(values.exactness), 1, exactnessTrial);
repeat("attacks read right or refused", Number(values.lies), ATTACKS_PER_CAST, (trialSeed) =>
  lieTrials(trialSeed, ATTACKS_PER_CAST, DAMAGED_SHARE, tally),
);
console.log(`of the attacks ${tally.right} were read right and ${tally.refused} refused`);
