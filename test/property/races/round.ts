/**
 * A round: the calls of a pair on one user at once, from eight callers over all nodes, while others read. Then what was
 * called and seen must keep the rules (rules.ts), and the user must be gone when the last fact is forgotten.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { forgetFact } from "../../../src/memory/facts.ts";
import { quotaWindow } from "../../../src/memory/quota.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import type { FakeClock } from "../../unit/blockwork/fake-workers.ts";
import { callerOf, servicesOf } from "../life/sequence.ts";
import { begin, call, type User } from "./calls.ts";
import { type Answer, type Beginning, type MadeCall, type Pair, type Plan, planOf } from "./plans.ts";
import { type Seen, violationsOf } from "./rules.ts";

/** Nothing that was written is dropped for its age. */
export const HISTORY_MAX = 32;
const LIMIT = 1_000_000;
const READERS = 2;
/** Rounds of other users at the same time: a group of the store then has several users. */
const LANES = 16;

export interface Nodes {
  readonly clock: FakeClock;
  readonly nodes: readonly MemoryServices[];
}

export interface Round<P = Pair> {
  readonly pair: P;
  readonly seed: number;
}

export function nodesOf(stores: readonly MemoryServices["store"][], clock: FakeClock): Nodes {
  return { clock, nodes: stores.map((store) => servicesOf(store, clock, HISTORY_MAX)) };
}

/** Each round has a user and a key of its own; every other key has a limit, which is counted in another way. */
export function userOf(nodes: readonly MemoryServices[], { pair, seed }: Round): User {
  const userId = `${pair.join(" ")} ${seed}`;
  const limit = seed % 2 === 0 ? LIMIT : null;
  return { nodes, userId, caller: { ...callerOf("races", limit), keyId: userId.replaceAll(" ", "-") } };
}

/** The plans of a round, and the same random numbers on. */
export function plansOf({ pair, seed }: Round, nodes: number): { plans: Plan[][]; random: Random } {
  const random = seededRandom(seed);
  return { plans: planOf(pair, nodes, random), random };
}

/** All rounds, some at a time. The errors of those that fail have their pairs and seeds. */
export async function runAll<P extends readonly string[]>(
  rounds: readonly Round<P>[],
  run: (round: Round<P>) => Promise<unknown>,
  failed: (error: Error) => void,
  lanes = LANES,
): Promise<void> {
  let next = 0;
  const takeTurns = async () => {
    while (next < rounds.length) {
      const { pair, seed } = rounds[next++];
      await run({ pair, seed }).catch((cause: Error) => {
        failed(new Error(`${pair.join(" against ")}, seed ${seed}: ${cause.message}`, { cause }));
      });
    }
  };
  await Promise.all(Array.from({ length: lanes }, takeTurns));
}

/** Throws where a rule is broken, with all that was called. */
export async function runRound({ clock, nodes }: Nodes, round: Round): Promise<void> {
  const user = userOf(nodes, round);
  const { plans } = plansOf(round, nodes.length);
  const beginning = await begin(user, (ms) => clock.advance(ms));
  const calls: MadeCall[] = [];
  const reads: Seen[] = [];
  let tick = 0;
  let isOver = false;
  const racing = race(user, plans, beginning, clock, (plan) => {
    const made: MadeCall = { plan, begun: ++tick, ended: Number.POSITIVE_INFINITY, answer: undefined };
    calls.push(made);
    return (answer) => Object.assign(made, { answer, ended: ++tick });
  }).finally(() => {
    isOver = true;
  });
  const readers = Array.from({ length: READERS }, async (_, reader) => {
    while (!isOver) {
      const begun = ++tick;
      const values = await seenOf(user, reader);
      reads.push({ begun, ended: ++tick, values });
      await nextTurn();
    }
  });
  await Promise.all([racing, ...readers]);
  for (const node of nodes.keys())
    reads.push({ begun: ++tick, ended: tick, values: await seenOf(user, node) });
  const used = await usedOf(user);
  const found = violationsOf({ pair: round.pair, beginning, calls, reads, used });
  if (found.length > 0) throw broken(found, calls, reads.at(-1));
  await forgetAll(user);
}

/** Makes all calls. @param begun tells that one begins, and gives whom to tell its answer */
export async function race(
  user: User,
  plans: readonly (readonly Plan[])[],
  beginning: Beginning,
  clock: FakeClock,
  begun: (plan: Plan, index: number) => (answer: Answer) => void,
): Promise<void> {
  await Promise.all(
    plans.map(async (ofCaller, caller) => {
      for (const [i, plan] of ofCaller.entries()) {
        for (let turns = plan.turns; turns > 0; turns--) await nextTurn();
        clock.advance(1);
        const ended = begun(plan, caller * ofCaller.length + i);
        ended(await call(user, plan, beginning));
      }
    }),
  );
}

/** All values of the user, present and earlier. */
export async function seenOf({ nodes, caller, userId }: User, node: number): Promise<Seen["values"]> {
  const { store, clock } = nodes[node % nodes.length];
  const life = await store.readLife(caller.account, userId, { nowMs: clock.now() });
  return [...(life?.facts ?? []), ...(life?.earlier ?? [])].map((fact) => ({
    place: fact.place,
    label: fact.label,
    value: fact.value,
    revision: fact.revision,
    isPresent: !("ended" in fact),
  }));
}

export async function usedOf({ nodes: [{ store, clock }], caller }: User): Promise<number> {
  return store.readUsage(caller.keyId, quotaWindow(clock.now()).month);
}

/** What is counted of a user comes to nothing with the last fact, or a fact was counted twice. */
export async function forgetAll(user: User): Promise<void> {
  const { nodes, caller, userId } = user;
  const { account } = caller;
  const [services] = nodes;
  const names = new Map(
    (await seenOf(user, 0)).map(({ place, label }) => [`${label} ${place}`, { place, label }]),
  );
  for (const { place, label } of names.values()) {
    const project = place === "" ? undefined : place;
    const innermost = place.includes("/") ? "worktree" : "project";
    const scope = project === undefined ? "person" : innermost;
    await forgetFact(services, account, { userId, project, scope, label });
  }
  for (const { store } of nodes)
    if ((await store.readStamp(account, userId)) !== undefined)
      throw broken(["the user is counted as known without a fact and a history"], []);
}

export function broken(found: readonly string[], calls: readonly MadeCall[], last?: Seen): Error {
  const shown = calls.map(({ plan, begun, ended, answer }) =>
    JSON.stringify([begun, ended, plan.kind, plan.node, plan.target.label, plan.tags, answer]),
  );
  const seen = last?.values.map((value) => JSON.stringify(value)) ?? [];
  return new Error([...found, "calls:", ...shown, "seen last:", ...seen].join("\n  "));
}
