/**
 * Calls of two members, and of the account, on a shared project at once: a round of them as in round.ts. What was called and
 * seen must keep the rules of shared-rules.ts.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { Failure } from "../../../src/base/errors.ts";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { forgetFact, forgetUser, listFacts } from "../../../src/memory/facts.ts";
import { restoreFact, rollBack } from "../../../src/memory/history.ts";
import { eraseProject, shareProject, unshareProject } from "../../../src/memory/project-sharing.ts";
import { moveProject } from "../../../src/memory/rename.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { isShared, projectUser } from "../../../src/memory/shared-places.ts";
import { callerOf } from "../life/sequence.ts";
import { MOVED_TO, PROJECT } from "./plans.ts";
import type { Nodes, Round } from "./round.ts";
import { type SeenMemories, sharedViolations } from "./shared-rules.ts";

export const SHARED_KINDS = [
  "write",
  "write own",
  "forget",
  "restore",
  "rollback",
  "move",
  "share",
  "unshare",
  "remove member",
  "erase member",
  "erase project",
] as const;
type SharedKind = (typeof SHARED_KINDS)[number];
export type SharedPair = readonly [SharedKind, SharedKind];
export const SHARED_PAIRS: readonly SharedPair[] = SHARED_KINDS.flatMap((a, i) =>
  SHARED_KINDS.slice(i).map((b) => [a, b] as const),
);

export const MEMBERS = ["ada", "bob"] as const;
export type Member = (typeof MEMBERS)[number];
/** The one who is removed, and the one who keeps what is taken and given. */
export const [KEPT, REMOVED] = MEMBERS;
const LABELS = ["PROJ.status", "PROJ.stack"] as const;
const CALLERS = 8;
const CALLS_EACH = 2;
const EXPECTED: readonly string[] = [
  "fact_not_found",
  "not_found",
  "not_a_member",
  "project_has_facts",
  "overloaded",
];

export interface SharedPlan {
  readonly kind: SharedKind;
  readonly member: Member;
  readonly node: number;
  readonly turns: number;
  /** One on each label; no other call writes them. */
  readonly tags: readonly string[];
  /** The label that is forgotten or restored. */
  readonly label: (typeof LABELS)[number];
}

/** Moments are numbers that grow. Without an answer a call may have been done or not; else it is "done", or why it was refused. */
export interface SharedCall {
  readonly plan: SharedPlan;
  readonly begun: number;
  readonly ended: number;
  readonly answer: string | undefined;
}

/** Those of a round, in a process. */
export interface Team {
  readonly nodes: readonly MemoryServices[];
  readonly caller: Caller;
}

/** What was there before the calls. */
export interface TeamBeginning {
  /** Told as calls that ended before. */
  readonly first: readonly SharedCall[];
  /** A moment at which the first facts were there. */
  readonly toMs: number;
  /** Their revisions, by label. */
  readonly revisions: Readonly<Record<string, number>>;
}

/** An account of its own: other rounds neither see its projects, nor take names out of them. */
export function teamOf(nodes: readonly MemoryServices[], { pair, seed }: Round<SharedPair>): Team {
  return { nodes, caller: callerOf(`${pair.join("-")}-${seed}`.replaceAll(" ", "-"), null) };
}

export function sharedPlansOf({ pair, seed }: Round<SharedPair>, nodes: number): SharedPlan[][] {
  const random: Random = seededRandom(seed);
  const kinds = random.shuffle(Array.from({ length: CALLERS }, (_, i) => pair[i % 2]!));
  let tags = 0;
  return kinds.map((kind, caller) =>
    Array.from({ length: CALLS_EACH }, () => ({
      kind,
      member: random.pick([...MEMBERS]),
      node: caller % nodes,
      turns: random.below(6),
      tags: LABELS.map(() => `t${++tags}`),
      label: random.pick([...LABELS]),
    })),
  );
}

function writing(team: Team, plan: Pick<SharedPlan, "member" | "node" | "tags">, scope: "shared" | "own") {
  const facts = LABELS.map((label, i) => ({ label, scope, value: plan.tags[i]! }));
  const input = { userId: plan.member, project: PROJECT, facts, operation: "encode/batch" as const };
  return encodeFacts(team.nodes[plan.node]!, team.caller, input);
}

/** Each member writes for the team, then for themselves. */
export async function beginTeam(team: Team, advance: (ms: number) => void): Promise<TeamBeginning> {
  const [services] = team.nodes as [MemoryServices];
  await shareProject(services, team.caller.account, { project: PROJECT, members: [...MEMBERS] });
  const first: SharedCall[] = [];
  const plan = (kind: SharedKind, member: Member): SharedPlan => {
    const tags = LABELS.map((_, i) => `s${first.length * LABELS.length + i}`);
    const made = { kind, member, node: 0, turns: 0, tags, label: LABELS[0] };
    first.push({ plan: made, begun: -1, ended: 0, answer: "done" });
    return made;
  };
  const { facts } = await writing(team, plan("write", KEPT), "shared");
  const revisions = Object.fromEntries(facts.map(({ label, revision }) => [label, revision]));
  const toMs = services.clock.now();
  advance(10);
  await writing(team, plan("write", REMOVED), "shared");
  for (const member of MEMBERS) await writing(team, plan("write own", member), "own");
  advance(10);
  return { first, toMs, revisions };
}

/** "done", or the code of what it was refused with; any other error is not caught. */
async function answerOf(team: Team, plan: SharedPlan, beginning: TeamBeginning): Promise<string> {
  try {
    await make(team, plan, beginning);
    return "done";
  } catch (error) {
    if (!(error instanceof Failure && EXPECTED.includes(error.code))) throw error;
    return error.code;
  }
}

async function make(
  { nodes, caller }: Team,
  plan: SharedPlan,
  { toMs, revisions }: TeamBeginning,
): Promise<unknown> {
  const services = nodes[plan.node]!;
  const { kind, member: userId, label } = plan;
  const { account } = caller;
  const named = { userId, project: PROJECT, label, scope: "shared" } as const;
  switch (kind) {
    case "write":
      return writing({ nodes, caller }, plan, "shared");
    case "write own":
      return writing({ nodes, caller }, plan, "own");
    case "forget":
      return forgetFact(services, account, named);
    case "restore":
      return restoreFact(services, caller, { ...named, revision: revisions[label]! });
    case "rollback":
      return rollBack(services, caller, { userId, project: PROJECT, scope: "project", toMs, partial: true });
    case "move":
      return moveProject(services, account, { userId, from: PROJECT, to: MOVED_TO });
    case "share":
      return shareProject(services, account, { project: PROJECT, members: [...MEMBERS], take: { userId } });
    case "unshare":
      return unshareProject(services, account, { project: PROJECT, giveTo: KEPT });
    case "remove member":
      return shareProject(services, account, { project: PROJECT, members: [KEPT] });
    case "erase member":
      return forgetUser(services, account, { userId });
    case "erase project":
      return eraseProject(services, account, PROJECT);
  }
}

/** Makes all calls. @param begun tells that one begins, and gives whom to tell its answer */
export async function raceOfTeam(
  team: Team,
  plans: readonly (readonly SharedPlan[])[],
  beginning: TeamBeginning,
  advance: (ms: number) => void,
  begun: (plan: SharedPlan, index: number) => (answer: string) => void,
): Promise<void> {
  await Promise.all(
    plans.map(async (ofCaller, caller) => {
      for (const [i, plan] of ofCaller.entries()) {
        for (let turns = plan.turns; turns > 0; turns--) await nextTurn();
        advance(1);
        const ended = begun(plan, caller * CALLS_EACH + i);
        ended(await answerOf(team, plan, beginning));
      }
    }),
  );
}

/** What the team and each member have, kept as it is; and what a member is shown. */
export async function seenMemories(
  { nodes, caller: { account } }: Team,
  node: number,
  tick: () => number,
): Promise<SeenMemories> {
  const services = nodes[node % nodes.length]!;
  const begun = tick();
  const valuesOf = async (userId: string) => {
    const life = await services.store.readLife(account, userId, { nowMs: services.clock.now() });
    return [...(life?.facts ?? []), ...(life?.earlier ?? [])];
  };
  const team = await valuesOf(projectUser(PROJECT));
  const own = { ada: await valuesOf("ada"), bob: await valuesOf("bob") };
  const shown = await listFacts(services, account, { userId: REMOVED, project: PROJECT });
  const isKnown = (await services.projects.of(account, true)).has(PROJECT);
  return {
    begun,
    ended: tick(),
    team,
    own,
    shown: shown.filter(({ place }) => isShared(place)).map(({ value }) => value),
    isKnown,
  };
}

/** Throws where a rule is broken, with all that was called. */
export async function runSharedRound({ clock, nodes }: Nodes, round: Round<SharedPair>): Promise<void> {
  const team = teamOf(nodes, round);
  const advance = (ms: number) => clock.advance(ms);
  const beginning = await beginTeam(team, advance);
  const calls = [...beginning.first];
  const reads: SeenMemories[] = [];
  let now = 0;
  const tick = () => ++now;
  let isOver = false;
  const plans = sharedPlansOf(round, nodes.length);
  const racing = raceOfTeam(team, plans, beginning, advance, (plan) => {
    const made: SharedCall = { plan, begun: tick(), ended: Number.POSITIVE_INFINITY, answer: undefined };
    calls.push(made);
    return (answer) => Object.assign(made, { answer, ended: tick() });
  }).finally(() => {
    isOver = true;
  });
  const reader = async () => {
    for (let node = 0; !isOver; node++) {
      reads.push(await seenMemories(team, node, tick));
      await nextTurn();
    }
  };
  await Promise.all([racing, reader()]);
  await requireRules(team, { pair: round.pair, calls, reads }, tick);
}

/** The rules, with a last read of each node, when nothing is at work any more. */
export async function requireRules(
  team: Team,
  { pair, calls, reads }: { pair: SharedPair; calls: readonly SharedCall[]; reads: readonly SeenMemories[] },
  tick: () => number,
): Promise<void> {
  const last: SeenMemories[] = [];
  for (const node of team.nodes.keys()) last.push(await seenMemories(team, node, tick));
  const found = sharedViolations({ pair, calls, reads: [...reads, ...last], last });
  if (found.length === 0) return;
  const shown = calls.map(({ plan, begun, ended, answer }) =>
    JSON.stringify([begun, ended, plan.kind, plan.member, plan.node, plan.label, plan.tags, answer]),
  );
  throw new Error([...found, "calls:", ...shown, "seen last:", JSON.stringify(last[0])].join("\n  "));
}
