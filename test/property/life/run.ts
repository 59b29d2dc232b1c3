/**
 * Random sequences against the model: npm run test:life -- [SEED] [COUNT]. 10,000 of them by default, from seeds that
 * follow one another. At the first difference it says the seed, and the fewest steps that show it.
 */

import { ProgressLine } from "../../../src/cli/progress.ts";
import { runSequence, shrink } from "./sequence.ts";
import { stepsOf } from "./steps.ts";
import { embeddedWorld } from "./world.ts";

/** A store does not become so large that compactions take long. */
const SEQUENCES_PER_WORLD = 100;

const [seed = 1, count = 10_000] = process.argv.slice(2).map(Number);
console.log(`seeds ${seed} to ${seed + count - 1}`);
const startMs = performance.now();
const progress = new ProgressLine("sequences", count, true);
let steps = 0;
let world = embeddedWorld();
for (let i = 0; i < count; i++) {
  if (i % SEQUENCES_PER_WORLD === SEQUENCES_PER_WORLD - 1) {
    await world.end();
    world = embeddedWorld();
  }
  const sequence = stepsOf(seed + i);
  try {
    await runSequence(world, `q${i}`, sequence);
  } catch {
    const found = await shrink(world, `q${i}`, sequence);
    console.error(`seed ${seed + i}, history ${sequence.historyMax}: ${found.error.message}`);
    for (const step of found.steps) console.error(`  ${JSON.stringify(step)}`);
    console.error(found.error.cause);
    process.exitCode = 1;
    break;
  }
  steps += sequence.steps.length;
  progress.step();
}
progress.end();
await world.end();
const { user } = process.cpuUsage();
console.log(
  `${steps} steps in ${((performance.now() - startMs) / 1000).toFixed(1)} s, ${(user / 1e6).toFixed(1)} s of a processor`,
);
