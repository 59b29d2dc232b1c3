/**
 * A process is killed in the midst of a round. What it has acknowledged must keep the rules then, and of what it has not
 * each call is there whole or not at all.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import postgres from "postgres";
import { seededRandom } from "../../../src/base/random.ts";
import { bundledProgram } from "../../fixtures/bundled-program.ts";
import type { Answer, Beginning, MadeCall } from "./plans.ts";
import { broken, forgetAll, plansOf, type Round, seenOf, usedOf, userOf } from "./round.ts";
import { violationsOf } from "./rules.ts";
import { openNodes, type StoreName } from "./stores.ts";

/** What the process tells: the beginning, with its clock, then each call by its number when it begins, and its answer. */
export type Message =
  | { readonly beginning: Beginning; readonly nowMs: number }
  | { readonly begun: number }
  | { readonly ended: number; readonly answer: Answer };

const KILLED_WITHIN_MS = 12;

/** Whether calls were in flight. Throws where a rule is broken. */
export async function killRound(store: StoreName, at: string, round: Round): Promise<boolean> {
  const { beginning, nowMs, calls } = await runAndKill(store, at, round);
  if (store !== "embedded") await untilAlone(at);
  const { clock, nodes, close } = await openNodes(store, at);
  try {
    clock.advance(nowMs - clock.now() + 1_000);
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
    return calls.some(({ answer }) => answer === undefined);
  } finally {
    await close();
  }
}

async function runAndKill(store: StoreName, at: string, round: Round) {
  const { seed, pair } = round;
  const args = [store, at, String(seed), ...pair];
  const program = await bundledProgram(new URL("kill-child.ts", import.meta.url));
  const child: ChildProcess = fork(program, args, { execArgv: [] });
  const afterMs = seededRandom(seed).unit() * KILLED_WITHIN_MS;
  // What it has told is read to the end, also after its death.
  const ended = Promise.all([once(child, "exit"), once(child, "disconnect")]);
  let begunWith: { beginning: Beginning; nowMs: number } | undefined;
  const moments = new Map<number, { begun: number; ended?: number; answer?: Answer }>();
  let tick = 0;
  child.on("message", (message: Message) => {
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
  const plans = plansOf(round, 1).plans.flat();
  const calls = plans.map((plan, i): MadeCall => {
    const { begun = tick + 1, ended: end = Number.POSITIVE_INFINITY, answer } = moments.get(i) ?? {};
    return { plan, begun, ended: end, answer };
  });
  return { ...begunWith, calls };
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
