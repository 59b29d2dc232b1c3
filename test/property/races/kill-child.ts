/** A process that makes the calls of a round and tells of each, until it is killed. */

import { begin } from "./calls.ts";
import type { Message } from "./kills.ts";
import type { Answer, Beginning, Pair } from "./plans.ts";
import { plansOf, race, userOf } from "./round.ts";
import {
  beginTeam,
  raceOfTeam,
  type SharedPair,
  sharedPlansOf,
  type TeamBeginning,
  teamOf,
} from "./shared-calls.ts";
import { openNodes, type StoreName } from "./stores.ts";

const [whose, store, at, seed, ...pair] = process.argv.slice(2);
const tell = (message: Message<Beginning | TeamBeginning, Answer | string>) => void process.send?.(message);
const { clock, nodes } = await openNodes(store as StoreName, at!);
const advance = (ms: number) => clock.advance(ms);
const begun = (_: unknown, index: number) => {
  tell({ begun: index });
  return (answer: Answer | string) => tell({ ended: index, answer });
};
if (whose === "team") {
  const round = { pair: pair as unknown as SharedPair, seed: Number(seed) };
  const team = teamOf(nodes, round);
  const beginning = await beginTeam(team, advance);
  tell({ beginning, nowMs: clock.now() });
  await raceOfTeam(team, sharedPlansOf(round, 1), beginning, advance, begun);
} else {
  const round = { pair: pair as unknown as Pair, seed: Number(seed) };
  const user = userOf(nodes, round);
  const beginning = await begin(user, advance);
  tell({ beginning, nowMs: clock.now() });
  await race(user, plansOf(round, 1).plans, beginning, clock, begun);
}
// It waits for its end, and does not outlive who is to kill it.
process.on("disconnect", () => process.exit());
