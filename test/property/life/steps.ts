/**
 * Random sequences of steps from a seed. The alphabets are small, so that steps meet: two accounts, three users of which
 * one looks like a place of another, three projects, five labels of which an account adds two, or a person makes them. A step names revisions
 * and moments by how they relate to what is there, so that it keeps its meaning when steps before it are dropped.
 */

import { FACT_ORIGINS, type FactOrigin } from "../../../src/base/fact-origins.ts";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import type { NewLabel } from "../../../src/memory/label-terms.ts";
import type { Scope, WriteScope } from "../../../src/memory/records.ts";
import { projectUser } from "../../../src/memory/shared-places.ts";

export const START_MS = Date.UTC(2026, 10, 10, 12);
export const USERS = ["ada", "ada/loom", "bo"] as const;
export const PROJECTS = [undefined, "loom", "loom/x", "loo"] as const;
const SHARED = ["loom", "loo"] as const;
/** Whose memory is what is shared. */
export const TEAMS = SHARED.map(projectUser);
const OWN_LABELS = ["FAMILY.pet", "OWN.list"] as const;
export const STANDARD_LABELS = ["USER.name", "PROJ.status", "TASK.current"] as const;
export const LABELS = [...STANDARD_LABELS, ...OWN_LABELS] as const;
export const HISTORY_LIMITS = [0, 1, 2, 8] as const;
/** Encodes a month: the first account comes to its limit now and then. */
export const QUOTAS = [20, null] as const;

const VALUES = ["a", "b", "c", "a; b", "b; c", "é", "long enough"];
const ITEMS = ["a", "b", "c", "d"];
const SCOPES: readonly Scope[] = ["person", "project", "worktree"];

/** The revision that a fact must have: the present one, another, or none at all. */
export type Condition = "present" | "other" | "none";

export interface Whose {
  readonly account: number;
  readonly user: string;
  readonly project?: string | undefined;
}

export interface Written extends Whose {
  readonly writtenBy?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly key?: string | undefined;
}

export interface FactOfStep {
  readonly label: string;
  readonly value: string;
  readonly ttlS?: number | undefined;
  readonly scope?: WriteScope | undefined;
  readonly newLabel?: true | "certain" | undefined;
  readonly condition?: Condition | undefined;
  readonly origin?: FactOrigin | undefined;
}

export interface ItemStep extends Written, Omit<FactOfStep, "value"> {
  readonly kind: "append" | "remove";
  readonly item: string;
}

export interface EncodeStep extends Written {
  readonly kind: "encode" | "batch";
  readonly facts: readonly FactOfStep[];
}

export interface ForgetStep extends Whose {
  readonly kind: "forget";
  readonly label: string;
  readonly scope?: WriteScope | undefined;
  readonly keepHistory?: boolean;
  readonly condition?: Condition | undefined;
}

export interface RestoreStep extends Written {
  readonly kind: "restore";
  readonly label: string;
  /** Which of the fact's history. */
  readonly nth: number;
  readonly condition?: Condition | undefined;
}

export interface RenameStep extends Written {
  readonly kind: "rename";
  readonly label: string;
  readonly to: string;
  readonly merge?: boolean;
  readonly condition?: Condition | undefined;
}

export interface RollbackStep extends Written {
  readonly kind: "rollback";
  /** Which of the moments that were. */
  readonly nth: number;
  readonly offsetMs: number;
  readonly dryRun?: boolean;
  readonly partial?: boolean;
  /** Only what has not changed since, as nth. */
  readonly sinceNth?: number;
  /** What is shared, and nothing else. */
  readonly scope?: "project";
}

/** A place is cleared, but for the labels that have, or had, one of these values. */
export interface ClearStep extends Whose {
  readonly kind: "clear";
  readonly kept: readonly string[];
}

/** Who shares a project, and whether what it gives or takes finds nothing in its way: where it would, it stays. */
export type SharingStep =
  | {
      readonly kind: "share";
      readonly account: number;
      readonly shared: string;
      readonly members: readonly string[] | null;
      readonly takeFrom?: string;
    }
  | {
      readonly kind: "unshare";
      readonly account: number;
      readonly shared: string;
      readonly giveTo?: string | undefined;
    }
  | { readonly kind: "erase shared"; readonly account: number; readonly shared: string };

export type LabelStep =
  | { readonly kind: "add label"; readonly account: number; readonly label: NewLabel }
  | {
      readonly kind: "change label";
      readonly account: number;
      readonly label: string;
      readonly change: Partial<NewLabel>;
    };

export type FactStep =
  | EncodeStep
  | ItemStep
  | ForgetStep
  | RestoreStep
  | RenameStep
  | RollbackStep
  | ClearStep
  | (Whose & { readonly kind: "forget user" });

/** What the store, or the world, does. */
export type WorldStep =
  | { readonly kind: "clock"; readonly ms: number }
  | { readonly kind: "sweep" | "compact" | "move" | "save codes" }
  | { readonly kind: "restart"; readonly historyMax?: number };

export type Step = FactStep | LabelStep | SharingStep | WorldStep;

export function stepsOf(seed: number): { historyMax: number; steps: Step[] } {
  const random = seededRandom(seed);
  // Neighbours have the same limit: another one opens the store again.
  const historyMax = HISTORY_LIMITS[Math.floor(seed / 25) % HISTORY_LIMITS.length];
  const steps: Step[] = random.below(2) === 0 ? [shareStep(random)] : [];
  for (let left = 10 + random.below(31); left > 0; left--) steps.push(nextStep(random, steps));
  return { historyMax, steps };
}

function nextStep(random: Random, before: readonly Step[]): Step {
  const kind = random.below(100);
  if (kind < 22) return { kind: "encode", ...written(random), facts: [factOf(random)] };
  if (kind < 30)
    return {
      kind: "batch",
      ...written(random),
      facts: Array.from({ length: 1 + random.below(3) }, () => factOf(random)),
    };
  if (kind < 38) return itemStep(random, "append");
  if (kind < 43) return itemStep(random, "remove");
  if (kind < 46) {
    const repeated = before.filter((step) => "key" in step && step.key !== undefined);
    if (repeated.length > 0) return random.pick(repeated);
  }
  if (kind < 52) return forgetStep(random);
  if (kind < 54) return random.below(3) === 0 ? clearStep(random) : { kind: "forget user", ...whose(random) };
  if (kind < 60)
    return {
      kind: "restore",
      ...written(random),
      label: random.pick(LABELS),
      nth: random.below(4),
      ...sometimes(random, 5, { condition: conditionOf(random) }),
    };
  if (kind < 66)
    return {
      kind: "rollback",
      ...written(random),
      key: undefined,
      nth: random.below(40),
      offsetMs: random.below(3) - 1,
      ...sometimes(random, 4, { dryRun: true }),
      ...sometimes(random, 3, { partial: true }),
      ...sometimes(random, 3, { sinceNth: random.below(40) }),
      ...sometimes(random, 2, {
        scope: "project",
        project: random.pick([...SHARED, "loom", "loom"]),
      } as const),
    };
  if (kind < 71) return { kind: "add label", account: random.below(2), label: labelOf(random) };
  if (kind < 73) return changeOf(random);
  if (kind < 78)
    return {
      kind: "rename",
      ...written(random),
      label: random.pick(LABELS),
      to: random.pick(LABELS),
      ...sometimes(random, 3, { merge: true }),
      ...sometimes(random, 5, { condition: conditionOf(random) }),
    };
  if (kind < 84) return sharingStep(random);
  if (kind < 89) return { kind: "clock", ms: clockMs(random) };
  if (kind < 93) return { kind: "sweep" };
  if (kind < 95) return { kind: "save codes" };
  return worldStep(random);
}

function sharingStep(random: Random): Step {
  const kind = random.below(8);
  if (kind < 4) return shareStep(random);
  const of = { account: random.below(4) === 0 ? 1 : 0, shared: sharedOf(random) };
  if (kind === 4) return { kind: "erase shared", ...of };
  return { kind: "unshare", ...of, giveTo: random.pick(["ada", "ada", "bo", undefined]) };
}

function sharedOf(random: Random): string {
  return random.pick([...SHARED, "loom", "loom"]);
}

function shareStep(random: Random): Step {
  return {
    kind: "share",
    account: random.below(4) === 0 ? 1 : 0,
    shared: sharedOf(random),
    members: random.pick([null, ["ada"], ["ada", "bo"], ["ada/loom", "bo"]]),
    ...sometimes(random, 2, { takeFrom: random.pick(["ada", "ada", "bo"]) }),
  };
}

/** These take long: an opening, a copy of everything. */
function worldStep(random: Random): Step {
  const kind = random.below(20);
  if (kind < 2) return { kind: "compact" };
  if (kind < 5) return { kind: "move" };
  if (kind < 7)
    return { kind: "restart", ...sometimes(random, 2, { historyMax: random.pick(HISTORY_LIMITS) }) };
  return { kind: "sweep" };
}

function whose(random: Random): Whose {
  return {
    // Most of it happens to one user, so that a history grows.
    account: random.below(4) === 0 ? 1 : 0,
    user: random.below(3) === 0 ? random.pick(USERS) : "ada",
    project: random.pick(PROJECTS),
  };
}

function written(random: Random): Written {
  return {
    ...whose(random),
    ...sometimes(random, 2, { writtenBy: random.pick(["codex", "console"]) }),
    ...sometimes(random, 3, { sessionId: random.pick(["s1", "s2"]) }),
    ...sometimes(random, 5, { key: random.pick(["k1", "k2", "k3"]) }),
  };
}

function factOf(random: Random): FactOfStep {
  return {
    label: random.pick(LABELS),
    value: random.pick(VALUES),
    ...sometimes(random, 4, { ttlS: 1 + random.below(30) }),
    ...sometimes(random, 4, { scope: random.pick<WriteScope>([...SCOPES, "own", "shared"]) }),
    ...sometimes(random, 2, { newLabel: random.pick([true, "certain"] as const) }),
    ...sometimes(random, 5, { condition: conditionOf(random) }),
    ...sometimes(random, 2, { origin: random.pick(FACT_ORIGINS) }),
  };
}

function itemStep(random: Random, kind: ItemStep["kind"]): ItemStep {
  const { value: _, ttlS, origin, scope, ...rest } = factOf(random);
  // Nobody names here what is not shared: whether that or the label is refused first is not told.
  const fact = scope === "shared" ? rest : { ...rest, scope };
  const item = random.pick(ITEMS);
  if (kind === "remove") return { kind, ...written(random), ...fact, item };
  return { kind, ...written(random), ...fact, item, ttlS, origin };
}

function forgetStep(random: Random): ForgetStep {
  return {
    kind: "forget",
    ...whose(random),
    label: random.pick(LABELS),
    ...sometimes(random, 4, { scope: random.pick<WriteScope>([...SCOPES, "own"]) }),
    ...sometimes(random, 2, { keepHistory: true }),
    ...sometimes(random, 5, { condition: conditionOf(random) }),
  };
}

function clearStep(random: Random): ClearStep {
  return { kind: "clear", ...whose(random), kept: VALUES.filter(() => random.below(4) === 0) };
}

function conditionOf(random: Random): Condition {
  return random.pick(["present", "present", "other", "none"]);
}

function labelOf(random: Random): NewLabel {
  const label = random.below(12) === 0 ? "USER.name" : random.pick(OWN_LABELS);
  return {
    label,
    ...termsOf(random),
    description: "what it is",
    example: "",
    scope: random.pick([null, ...SCOPES]),
  };
}

function termsOf(random: Random) {
  return {
    oneOf: random.below(5) === 0 ? ["a", "b", "a; b"] : null,
    maxBytes: random.below(4) === 0 ? 7 : null,
    ttlS: random.below(4) === 0 ? 1 + random.below(30) : null,
    hidden: random.below(4) === 0,
  };
}

function changeOf(random: Random): Step {
  const account = random.below(2);
  const label = random.pick(LABELS);
  const isHiding = random.below(2) === 0;
  return {
    kind: "change label",
    account,
    label,
    change: isHiding ? { hidden: random.below(2) === 0 } : termsOf(random),
  };
}

/** Mostly on by seconds; sometimes by nothing, over a day, or a little back. */
function clockMs(random: Random): number {
  const kind = random.below(12);
  if (kind === 0) return -random.below(5_000);
  if (kind === 1) return 25 * 3600 * 1000;
  return kind < 5 ? 1 + random.below(3) : random.below(20_000);
}

/** The fields, one time in `n`. */
function sometimes<T extends object>(random: Random, n: number, fields: T): Partial<T> {
  return random.below(n) === 0 ? fields : {};
}
