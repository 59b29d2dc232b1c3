/** A process that makes the calls of a round and tells of each, until it is killed. */

import { begin } from "./calls.ts";
import type { Message } from "./kills.ts";
import type { Pair } from "./plans.ts";
import { plansOf, race, userOf } from "./round.ts";
import { openNodes, type StoreName } from "./stores.ts";

const [store, at, seed, ...pair] = process.argv.slice(2);
const round = { pair: pair as unknown as Pair, seed: Number(seed) };
const tell = (message: Message) => void process.send?.(message);
const { clock, nodes } = await openNodes(store as StoreName, at);
const user = userOf(nodes, round);
const beginning = await begin(user, (ms) => clock.advance(ms));
tell({ beginning, nowMs: clock.now() });
await race(user, plansOf(round, 1).plans, beginning, clock, (_, index) => {
  tell({ begun: index });
  return (answer) => tell({ ended: index, answer });
});
// It waits for its end, and does not outlive who is to kill it.
process.on("disconnect", () => process.exit());
