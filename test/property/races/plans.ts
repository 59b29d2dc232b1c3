/**
 * The calls that race, planned from a seed: each kind of write, on one user, and what it does to the facts of a name. A
 * call writes values (tags) that no other call writes, so that a value that is seen tells which call it is from.
 */

import type { Random } from "../../../src/base/random.ts";
import { isInside } from "../../../src/memory/places.ts";
import type { Scope } from "../../../src/memory/records.ts";

export const KINDS = [
  "encode",
  "batch",
  "append",
  "remove",
  "forget",
  "restore",
  "rename",
  "rollback",
  "move",
  "import",
  "expiry",
  "erase person",
  "erase project",
] as const;
export type Kind = (typeof KINDS)[number];
export type Pair = readonly [Kind, Kind];
export const PAIRS: readonly Pair[] = KINDS.flatMap((a, i) => KINDS.slice(i).map((b) => [a, b] as const));

export interface Name {
  readonly place: string;
  readonly label: string;
}

export interface Target extends Name {
  readonly scope: Scope;
}

export const PROJECT = "loom";
export const MOVED_TO = "weft";
export const WORKTREE = `${PROJECT}/x`;
/** What a batch, an import and the beginning of a round write. */
export const TARGETS: readonly Target[] = [
  { place: "", label: "USER.name", scope: "person" },
  { place: PROJECT, label: "PROJ.status", scope: "project" },
  { place: WORKTREE, label: "TASK.current", scope: "worktree" },
];
export const LIST: Target = { place: PROJECT, label: "PREF.tools", scope: "project" };
/** A fact whose end has come when the calls begin. */
export const ENDING: Target = { place: WORKTREE, label: "PROJ.branch", scope: "worktree" };

/** What the first of the targets is renamed to: a label that a person makes, and that nothing else writes. */
export const RENAMED_TO = "PEOPLE.me";

export interface Plan {
  readonly kind: Kind;
  /** The node that is called. */
  readonly node: number;
  /** Turns of the event loop that it waits before. */
  readonly turns: number;
  /** What it writes, or the item that it removes. */
  readonly tags: readonly string[];
  readonly target: Target;
  readonly keepHistory: boolean;
  /** Sent twice at once, with one Idempotency-Key. */
  readonly isKeyed: boolean;
  /** A move in the other direction. */
  readonly isBack: boolean;
}

/** What was there before the calls. */
export interface Beginning {
  readonly tags: readonly (readonly string[])[];
  readonly list: readonly string[];
  readonly ending: string;
  /** A moment at which the first values were there. */
  readonly toMs: number;
  /** The revisions of the first values, by label. */
  readonly revisions: Readonly<Record<string, number>>;
}

export interface WrittenValue extends Name {
  readonly value: string;
  readonly revision: number;
  /** The revision that it has replaced. */
  readonly replaced: number | undefined;
}

/** What a call was answered. */
export interface Answer {
  readonly refused?: string;
  readonly facts: readonly WrittenValue[];
  readonly counted: number;
  /** Names and revisions that were found expired. */
  readonly expired?: readonly string[];
}

/** Moments are numbers that grow. Without an answer a call may have been done or not. */
export interface MadeCall {
  readonly plan: Plan;
  readonly begun: number;
  readonly ended: number;
  readonly answer: Answer | undefined;
}

const CALLERS = 8;
const CALLS_EACH = 2;

/** The calls of each caller, one after the other: half of the callers make calls of the one kind. */
export function planOf(pair: Pair, nodes: number, random: Random): Plan[][] {
  let tags = 0;
  const kinds = random.shuffle(Array.from({ length: CALLERS }, (_, i) => pair[i % 2]));
  return kinds.map((kind, caller) =>
    Array.from({ length: CALLS_EACH }, () => ({
      kind,
      node: caller % nodes,
      turns: random.below(6),
      tags: kind === "remove" ? [`r${random.below(8)}`] : TARGETS.map(() => `t${++tags}`),
      target: kind === "append" || kind === "remove" ? LIST : random.pick([...TARGETS, ENDING]),
      keepHistory: random.below(2) === 0,
      isKeyed: random.below(3) === 0,
      // Otherwise what is erased at a place could come back from the other one.
      isBack: pair[0] === "move" && pair[1] === "move" && random.below(2) === 0,
    })),
  );
}

export function isDone({ answer }: MadeCall): boolean {
  return answer !== undefined && answer.refused === undefined;
}

/** Whether a call may have come after another, and before a read was over. */
export function mayFollow(other: MadeCall, call: MadeCall, read: { readonly ended: number }): boolean {
  return (
    other !== call &&
    other.answer?.refused === undefined &&
    other.ended > call.begun &&
    other.begun < read.ended
  );
}

export function isErasure({ plan: { kind, keepHistory } }: MadeCall): boolean {
  return kind.startsWith("erase") || (kind === "forget" && !keepHistory);
}

/** Whether a call that forgets is about a name. */
export function isWipedBy({ plan }: MadeCall, name: Name): boolean {
  if (plan.kind === "forget") return isSameName(plan.target, name);
  return plan.kind === "erase person" || (plan.kind === "erase project" && isInside(name.place, PROJECT));
}

export function isRemovedBy(call: MadeCall, name: Name): boolean {
  const { kind } = call.plan;
  if (kind === "move") return isInside(name.place, PROJECT);
  if (kind === "rename") return isSameName(TARGETS[0], name);
  if (kind === "remove") return isSameName(LIST, name);
  return kind === "rollback" || isWipedBy(call, name);
}

export function isReviver({ plan: { kind } }: MadeCall): boolean {
  return kind === "restore" || kind === "rollback";
}

export function isSameName(a: Name, b: Name): boolean {
  return a.place === b.place && a.label === b.label;
}
