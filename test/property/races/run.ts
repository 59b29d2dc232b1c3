/**
 * Every pair of writes against one another: npm run test:races -- [SEED] [ROUNDS] [embedded|postgres|nodes]. 200 rounds of
 * each pair on each store by default, of one user and of a team, then processes that are killed in the midst of a round, or of a call on 10,000 facts.
 * A broken rule is told with its pair and seed, the first ones with all that was called; the others go on.
 */

import assert from "node:assert/strict";
import { PostgresServer } from "../../../bench/store/postgres-server.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { ProgressLine } from "../../../src/cli/printed.ts";
import { killRound, killSharedRound } from "./kills.ts";
import { PAIRS } from "./plans.ts";
import { type Round, runAll, runRound } from "./round.ts";
import { runSharedRound, SHARED_PAIRS } from "./shared-calls.ts";
import { inNewFolder, openNodes, STORES, type StoreName } from "./stores.ts";
import { killWholeCalls } from "./whole-kills.ts";

const KILLS_AT_ONCE = 2;
const SHOWN_MAX = 3;
/** One cycle of killed calls on a whole user comes with so many rounds of a pair. */
const ROUNDS_OF_WHOLE = 20;
/** The largest memory of a person. */
const FACTS_MAX = 10_000;

const [seed = 1, rounds = 200] = process.argv.slice(2, 4).map(Number);
const chosen = process.argv[4];
assert.ok(chosen === undefined || STORES.some((store) => store === chosen), `no such store: ${chosen}`);

async function all<P extends readonly string[]>(
  what: string,
  rounds: readonly Round<P>[],
  run: (round: Round<P>) => Promise<unknown>,
  lanes?: number,
): Promise<void> {
  const startMs = performance.now();
  const progress = new ProgressLine(what, rounds.length, true);
  let broken = 0;
  const failed = ({ message }: Error) => {
    broken += 1;
    console.error(broken <= SHOWN_MAX ? message : message.split("\n", 1)[0]);
  };
  await runAll(rounds, (round) => run(round).finally(() => progress.step()), failed, lanes);
  progress.end();
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const pairs = new Set(rounds.map(({ pair }) => pair)).size;
  const counts = `${pairs} pairs, ${rounds.length} rounds, ${broken} violations, ${seconds} s`;
  console.log(`${what}: ${counts}`);
  if (broken > 0) process.exitCode = 1;
}

function roundsOf<P>(pairs: readonly P[], count: number): Round<P>[] {
  return Array.from({ length: count }, (_, i) =>
    pairs.map((pair, j) => ({ pair, seed: seed + i * pairs.length + j })),
  ).flat();
}

async function races(store: StoreName, at: string): Promise<void> {
  const nodes = await openNodes(store, at);
  await all(`races on ${store}`, roundsOf(PAIRS, rounds), (round) => runRound(nodes, round));
  const shared = roundsOf(SHARED_PAIRS, rounds);
  await all(`races on a shared project on ${store}`, shared, (round) => runSharedRound(nodes, round));
  await nodes.close();
}

async function kills<P extends readonly string[]>(
  what: string,
  store: StoreName,
  rounds: readonly Round<P>[],
  killOne: (store: StoreName, at: string, round: Round<P>) => Promise<boolean>,
): Promise<void> {
  let inFlight = 0;
  const kill = async (round: Round<P>) => {
    const killAt = async (at: string) => {
      if (await killOne(store, at, round)) inFlight += 1;
    };
    if (store === "embedded") await inNewFolder(killAt);
    else await killAt(await server!.createDatabase(`kill_${++databases}`));
  };
  await all(what, rounds, kill, KILLS_AT_ONCE);
  console.log(`calls were in flight at ${inFlight} of the kills`);
}

let databases = 0;
const server =
  chosen === "embedded" ? undefined : await PostgresServer.start(["fsync=off", "synchronous_commit=off"]);
for (const store of STORES) {
  if (chosen !== undefined && chosen !== store) continue;
  if (store === "embedded") await inNewFolder((folder) => races(store, folder));
  else await races(store, await server!.createDatabase(`races_${store}`));
  if (store === "nodes") continue;
  await kills(`kills on ${store}`, store, roundsOf(PAIRS, 1), killRound);
  await kills(`kills on a shared project on ${store}`, store, roundsOf(SHARED_PAIRS, 1), killSharedRound);
  const cycles = Math.ceil(rounds / ROUNDS_OF_WHOLE);
  const killWhole = (at: string) => killWholeCalls(store, at, seededRandom(seed), cycles, FACTS_MAX);
  const { done, undone } =
    store === "embedded"
      ? await inNewFolder(killWhole)
      : await killWhole(await server!.createDatabase("whole"));
  console.log(`kills in calls on 10,000 facts on ${store}: ${done} were done whole, ${undone} not at all`);
}
await server?.remove();
