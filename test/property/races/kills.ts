/**
 * A process is killed in the midst of a round. What it has acknowledged must keep the rules then, and of what it has not
 * each call is there whole or not at all.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import postgres from "postgres";
import { seededRandom } from "../../../src/base/random.ts";
import { bundledProgram } from "../../fixtures/bundled-program.ts";
import type { Answer, Beginning, MadeCall, Pair } from "./plans.ts";
import { broken, forgetAll, type Nodes, plansOf, type Round, seenOf, usedOf, userOf } from "./round.ts";
import { violationsOf } from "./rules.ts";
import {
  requireRules,
  type SharedCall,
  type SharedPair,
  sharedPlansOf,
  type TeamBeginning,
  teamOf,
} from "./shared-calls.ts";
import { openNodes, type StoreName } from "./stores.ts";

/** What the process tells: the beginning, with its clock, then each call by its number when it begins, and its answer. */
export type Message<B, A> =
  | { readonly beginning: B; readonly nowMs: number }
  | { readonly begun: number }
  | { readonly ended: number; readonly answer: A };

const KILLED_WITHIN_MS = 12;

/** Whether calls were in flight. Throws where a rule is broken. */
export async function killRound(store: StoreName, at: string, round: Round): Promise<boolean> {
  const { beginning, nowMs, momentOf } = await runAndKill<Beginning, Answer>("one user", store, at, round);
  const plans = plansOf(round, 1).plans.flat();
  const calls = plans.map((plan, i): MadeCall => ({ plan, ...momentOf(i) }));
  await openAfter(store, at, nowMs, async (nodes) => {
    const user = userOf(nodes, round);
    const tick = calls.length * 2 + 1;
    const read = { begun: tick, ended: tick, values: await seenOf(user, 0) };
    const found = violationsOf({
      pair: round.pair,
      beginning,
      calls,
      reads: [read],
      used: await usedOf(user),
    });
    if (found.length > 0) throw broken(found, calls, read);
    await forgetAll(user);
  });
  return calls.some(({ answer }) => answer === undefined);
}

/** The same of calls on a shared project. */
export async function killSharedRound(
  store: StoreName,
  at: string,
  round: Round<SharedPair>,
): Promise<boolean> {
  const { beginning, nowMs, momentOf } = await runAndKill<TeamBeginning, string>("team", store, at, round);
  const made = sharedPlansOf(round, 1)
    .flat()
    .map((plan, i): SharedCall => ({ plan, ...momentOf(i) }));
  const calls = [...beginning.first, ...made];
  let now = calls.length * 2 + 1;
  await openAfter(store, at, nowMs, (nodes) =>
    requireRules(teamOf(nodes, round), { pair: round.pair, calls, reads: [] }, () => ++now),
  );
  return calls.some(({ answer }) => answer === undefined);
}

/** What a process that was killed has left. */
async function openAfter(
  store: StoreName,
  at: string,
  nowMs: number,
  look: (nodes: Nodes["nodes"]) => Promise<void>,
): Promise<void> {
  if (store !== "embedded") await untilAlone(at);
  const { clock, nodes, close } = await openNodes(store, at);
  try {
    clock.advance(nowMs - clock.now() + 1_000);
    await look(nodes);
  } finally {
    await close();
  }
}

/** @param whose the calls are, which the process makes */
async function runAndKill<B, A>(
  whose: "one user" | "team",
  store: StoreName,
  at: string,
  { seed, pair }: Round<Pair | SharedPair>,
) {
  const args = [whose, store, at, String(seed), ...pair];
  const program = await bundledProgram(new URL("kill-child.ts", import.meta.url));
  const child: ChildProcess = fork(program, args, { execArgv: [] });
  const afterMs = seededRandom(seed).unit() * KILLED_WITHIN_MS;
  // What it has told is read to the end, also after its death.
  const ended = Promise.all([once(child, "exit"), once(child, "disconnect")]);
  let begunWith: { beginning: B; nowMs: number } | undefined;
  const moments = new Map<number, { begun: number; ended?: number; answer?: A }>();
  let tick = 0;
  child.on("message", (message: Message<B, A>) => {
    if ("beginning" in message) {
      begunWith = message;
      setTimeout(() => child.kill("SIGKILL"), afterMs);
    } else if ("begun" in message) moments.set(message.begun, { begun: ++tick });
    else Object.assign(moments.get(message.ended)!, { ended: ++tick, answer: message.answer });
  });
  const [[status, signal]] = await ended;
  if (signal !== "SIGKILL" || begunWith === undefined)
    throw broken([`the process ended with ${status ?? signal}`], []);
  // One that was not told to have begun may have.
  const momentOf = (index: number) => {
    const { begun = tick + 1, ended: end = Number.POSITIVE_INFINITY, answer } = moments.get(index) ?? {};
    return { begun, ended: end, answer };
  };
  return { ...begunWith, momentOf };
}

/** The database may still be at work for a node that is gone. */
export async function untilAlone(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  for (let others = 1; others > 0; ) {
    const [row] = await sql<{ others: number }[]>`
      SELECT count(*)::integer AS others FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
    others = row.others;
  }
  await sql.end();
}
