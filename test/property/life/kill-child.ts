/** A process that does the steps of a seed in a data folder and tells before and after each, until it is killed. */

import { killableSteps } from "./kills.ts";
import { SequenceRun } from "./sequence.ts";
import { openFolder, StoreWorld } from "./world.ts";

const [folder, seed] = process.argv.slice(2);
const { historyMax, steps } = killableSteps(Number(seed));
const world = new StoreWorld([(limit, clock) => openFolder(folder, limit, clock)], (store) =>
  store.compact(),
);
const run = await SequenceRun.start(world, "q", historyMax);
for (const [index, step] of steps.entries()) {
  process.send?.({ begun: index });
  await run.step(step);
  process.send?.({ done: index });
}
setInterval(() => {}, 60_000);
