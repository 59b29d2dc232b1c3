/** What each step must answer and do, by the model: a result, or the code of a refusal. */

import { isShared } from "../../../src/memory/shared-places.ts";
import type { LifeModel } from "./model.ts";
import { placeFor, scopeOfPlace } from "./places.ts";
import { Refused } from "./refused.ts";
import type { KeyedRequest } from "./replays.ts";
import { changeSharing, type ResolvedSharing, withFreeWay } from "./sharing-steps.ts";
import type {
  Condition,
  EncodeStep,
  FactOfStep,
  FactStep,
  ForgetStep,
  ItemStep,
  RenameStep,
  RestoreStep,
  RollbackStep,
  SharingStep,
  Step,
  Whose,
  WorldStep,
} from "./steps.ts";
import type { Change, Present } from "./values.ts";

type Resolved<S> = S extends { readonly condition?: unknown }
  ? S & { readonly ifRevision?: number | undefined }
  : S;

/** A step whose revisions and moments are numbers. */
export type ResolvedStep =
  | (Omit<EncodeStep, "facts"> & { readonly facts: readonly Resolved<FactOfStep>[] })
  | Resolved<ItemStep>
  | Resolved<ForgetStep>
  | Resolved<RenameStep>
  | (Resolved<RestoreStep> & { readonly revision: number })
  | (RollbackStep & { readonly toMs: number; readonly unchangedSinceMs?: number })
  | ResolvedSharing
  | Exclude<Step, EncodeStep | ItemStep | ForgetStep | RenameStep | RestoreStep | RollbackStep | SharingStep>;

const NO_REVISION = 999_999;
const VALUE_BYTES_MAX = 1024;

/** Puts numbers in place of relations to what is there. */
export function resolve(model: LifeModel, step: Step): ResolvedStep {
  switch (step.kind) {
    case "encode":
    case "batch":
      return { ...step, facts: step.facts.map((fact) => ({ ...fact, ...conditionOf(model, step, fact) })) };
    case "append":
      return { ...step, ...conditionOf(model, step, step) };
    case "remove":
    case "forget":
    case "rename":
      return { ...step, ...revisionFor(step.condition, countingIn(model, step)) };
    case "restore": {
      const values = model
        .viewed(step.account, step)
        .filter(({ label }) => label === step.label)
        .flatMap(({ present, past }) => [...past, ...(present === undefined ? [] : [present])])
        .sort((a, b) => b.revision - a.revision);
      const value = values[step.nth % Math.max(1, values.length)];
      const present = value && model.at(step.account, step.user, value.place, step.label);
      return {
        ...step,
        revision: value?.revision ?? NO_REVISION,
        ...revisionFor(step.condition, present),
      };
    }
    case "rollback": {
      const momentOf = (nth: number) => model.moments[nth % model.moments.length];
      const since = step.sinceNth === undefined ? {} : { unchangedSinceMs: momentOf(step.sinceNth) };
      return { ...step, toMs: momentOf(step.nth) + step.offsetMs, ...since };
    }
    case "share":
    case "unshare":
      return withFreeWay(model, step);
    default:
      return step;
  }
}

function conditionOf(model: LifeModel, whose: Whose, { label, scope, condition }: Omit<FactOfStep, "value">) {
  if (condition === undefined) return {};
  const { account, user } = whose;
  const places = model.places(account, whose);
  if (scope === "shared" && !places.some(isShared)) return revisionFor(condition, undefined);
  const place = placeFor(scope ?? scopeOf(model, account, label), places);
  return revisionFor(condition, model.at(account, user, place, label));
}

function revisionFor(condition: Condition | undefined, present: Present | undefined) {
  if (condition === undefined) return {};
  const revision = present?.revision ?? 0;
  return { ifRevision: { present: revision, other: revision + NO_REVISION, none: 0 }[condition] };
}

function scopeOf(model: LifeModel, account: number, label: string) {
  try {
    return model.termsOf(account, label).scope ?? "person";
  } catch {
    return "person";
  }
}

/** The fact that a step without a scope means, or that of its scope. */
function countingIn(
  model: LifeModel,
  step: Resolved<ItemStep> | ForgetStep | RenameStep,
): Present | undefined {
  const { account, user, project, label } = step;
  const scope = "scope" in step ? step.scope : undefined;
  if (scope !== undefined)
    return model.at(account, user, placeFor(scope, model.places(account, step)), label);
  return model.facts(account, { user, project }).find((fact) => fact.label === label);
}

/** Does a step in the model, unless it is one that was answered before. Throws a Refused. */
export function expected(model: LifeModel, step: ResolvedStep): unknown {
  const request = requestOf(step);
  if (request === undefined || !("user" in step)) return done(model, step, undefined);
  const kept = model.replayOf(step.account, step, request);
  if (kept !== undefined)
    return { count: kept.count, replayed: true, facts: kept.facts ?? factsLeft(model, step) };
  const result = done(model, step, request);
  model.replayOf(step.account, step, request)!.facts = (result as { facts: unknown }).facts;
  return result;
}

function requestOf(step: ResolvedStep): KeyedRequest | undefined {
  const key = "key" in step ? step.key : undefined;
  const fingerprint = fingerprintOf(step);
  return key === undefined || fingerprint === undefined ? undefined : { key, fingerprint };
}

/** What tells the requests apart that may be repeated; undefined for the others. */
function fingerprintOf(step: ResolvedStep): string | undefined {
  switch (step.kind) {
    case "encode":
    case "batch":
      return JSON.stringify([
        step.user,
        step.project,
        step.kind,
        step.facts.map(({ newLabel: _, ...fact }) => fact),
      ]);
    case "append":
    case "remove":
      return JSON.stringify([
        step.user,
        step.project,
        step.kind,
        step.label,
        step.item,
        step.scope,
        step.ttlS,
        step.ifRevision,
        step.origin,
      ]);
    case "restore":
      return JSON.stringify([step.user, step.project, step.kind, step.label, step.revision, step.ifRevision]);
    case "rename":
      return JSON.stringify([
        step.user,
        step.project,
        step.kind,
        step.label,
        step.to,
        step.merge,
        step.ifRevision,
      ]);
    default:
      return undefined;
  }
}

/** What a request says itself, after something of its user was forgotten. */
function factsLeft(model: LifeModel, step: ResolvedStep): unknown {
  if (step.kind !== "encode" && step.kind !== "batch") return [];
  return step.facts.map(({ label, value, scope }) => ({
    label,
    value,
    place: placeFor(scope ?? scopeOf(model, step.account, label), model.places(step.account, step)),
    expiresAtMs: null,
    previous: null,
  }));
}

function done(model: LifeModel, step: ResolvedStep, replay: KeyedRequest | undefined): unknown {
  switch (step.kind) {
    case "encode":
    case "batch":
      return encode(model, step, step.facts, replay);
    case "append":
      return append(model, step, replay);
    case "remove":
      return remove(model, step, replay);
    case "forget":
      return forget(model, step);
    case "restore":
      return restore(model, step, replay);
    case "rename":
      return rename(model, step, replay);
    case "rollback":
      return rollBack(model, step);
    case "forget user":
      return model.forgetUser(step.account, step);
    case "clear":
      return model.clear(step.account, step, step.kept);
    case "add label":
      return model.addLabel(step.account, step.label);
    case "change label":
      return void model.changeLabel(step.account, step.label, step.change);
    case "share":
    case "unshare":
    case "erase shared":
      return changeSharing(model, step);
    default:
      return void worldStep(model, step);
  }
}

function worldStep(model: LifeModel, step: WorldStep): void {
  if (step.kind === "clock") model.passTime(step.ms);
  else if (step.kind === "sweep") model.sweep();
  else if (step.kind === "compact") model.shorten();
  else if (step.kind === "move") model.move();
  else if (step.kind === "restart") {
    const { historyMax = model.historyMax } = step;
    // What was beyond a limit does not come back under a higher one.
    if (historyMax > model.historyMax) model.shorten();
    model.historyMax = historyMax;
  }
}

type WriteStep = Extract<FactStep, { readonly writtenBy?: unknown }>;

function encode(
  model: LifeModel,
  step: WriteStep,
  facts: readonly (Omit<Resolved<FactOfStep>, "origin"> & Pick<Change, "expiresAtMs" | "origin">)[],
  replay: KeyedRequest | undefined,
): unknown {
  const { account } = step;
  const places = model.places(account, step);
  const changes: Change[] = [];
  // First what is wrong with the request itself, whatever is there.
  for (const fact of facts) {
    const { label, value, ttlS, scope, ifRevision, origin } = fact;
    const terms = model.termsOf(account, label);
    if (bytesOf(value) > VALUE_BYTES_MAX) throw new Refused("invalid_value");
    const place = placeFor(scope ?? terms.scope ?? "person", places);
    if (changes.some((change) => change.label === label && change.place === place))
      throw new Refused("invalid_request");
    const lifeS = ttlS ?? terms.ttlS;
    const lifeEnd = lifeS === null ? null : model.nowMs + lifeS * 1000;
    const expiresAtMs = fact.expiresAtMs === undefined ? lifeEnd : fact.expiresAtMs;
    changes.push({ label, place, value, expiresAtMs, ifRevision, origin });
  }
  model.refuseTaken(account, replay);
  for (const { label, newLabel } of facts)
    if (newLabel === undefined) model.requireLabel(account, step, label);
  for (const { label, value } of facts) {
    const terms = model.termsOf(account, label);
    if (terms.oneOf !== null && !terms.oneOf.includes(value)) throw new Refused("invalid_value");
    if (bytesOf(value) > (terms.maxBytes ?? VALUE_BYTES_MAX)) throw new Refused("invalid_value");
  }
  const { count, previous } = model.write(account, step, changes, { ...step, counts: true, replay });
  return {
    count,
    replayed: false,
    facts: changes.map(({ label, value, place, expiresAtMs }, i) => ({
      label,
      value,
      place,
      expiresAtMs,
      previous: previous[i] === undefined ? null : [previous[i].value, previous[i].revision],
    })),
  };
}

function append(model: LifeModel, step: Resolved<ItemStep>, replay: KeyedRequest | undefined): unknown {
  const { account, user, label, item, scope, ttlS, newLabel, ifRevision } = step;
  const terms = model.termsOf(account, label);
  model.refuseTaken(account, replay);
  if (newLabel === undefined) model.requireLabel(account, step, label);
  const place = placeFor(scope ?? terms.scope ?? "person", model.places(account, step));
  const present = model.at(account, user, place, label);
  const items = itemsOf(present);
  const value = (items.includes(item) ? items : [...items, item]).join("; ");
  if (bytesOf(value) > (terms.maxBytes ?? VALUE_BYTES_MAX)) throw new Refused("invalid_value");
  const origin = originOfBoth(present, step);
  const fact = { label, value, scope, ttlS, newLabel, ifRevision, origin };
  return encode(model, step, [fact], replay);
}

function remove(model: LifeModel, step: Resolved<ItemStep>, replay: KeyedRequest | undefined): unknown {
  const { account, label, item, ifRevision } = step;
  model.refuseTaken(account, replay);
  model.requireLabel(account, step, label);
  const present = countingIn(model, step);
  const items = itemsOf(present);
  if (present === undefined || !items.includes(item)) throw new Refused("fact_not_found");
  const { place } = present;
  const rest = items.filter((other) => other !== item);
  const scope = scopeOfPlace(place, model.places(account, step));
  if (rest.length > 0) {
    const fact = { label, value: rest.join("; "), scope, ifRevision, origin: present.origin } as const;
    return encode(model, step, [fact], replay);
  }
  const change = { label, place, value: null, keepHistory: true, ifRevision };
  const { count } = model.write(account, step, [change], { counts: false, replay });
  return { count, replayed: false, facts: [] };
}

function forget(model: LifeModel, step: Resolved<ForgetStep>): number {
  const { account, label, scope, keepHistory = false, ifRevision } = step;
  const terms = model.termsOf(account, label);
  model.requireLabel(account, step, label);
  const otherwise = () => placeFor(scope ?? terms.scope ?? "person", model.places(account, step));
  const place = countingIn(model, step)?.place ?? otherwise();
  const change = { label, place, value: null, keepHistory, ifRevision };
  const { count, found } = model.write(account, step, [change], { counts: false });
  if (found === 0) throw new Refused("fact_not_found");
  return count;
}

function restore(
  model: LifeModel,
  step: Resolved<RestoreStep> & { revision: number },
  replay: KeyedRequest | undefined,
): unknown {
  const { account, label, revision, ifRevision } = step;
  model.refuseTaken(account, replay);
  model.requireLabel(account, step, label);
  const values = model
    .viewed(account, step)
    .flatMap(({ present, past }) => [...past, ...(present === undefined ? [] : [present])]);
  const found = values.find((value) => value.label === label && value.revision === revision);
  if (found === undefined) throw new Refused("not_found");
  const { place, value, origin = null } = found;
  const scope = scopeOfPlace(place, model.places(account, step));
  const isOver = found.expiresAtMs !== null && found.expiresAtMs <= model.nowMs;
  const end = isOver ? {} : { expiresAtMs: found.expiresAtMs };
  return encode(model, step, [{ label, value, scope, ifRevision, origin, ...end }], replay);
}

function rename(model: LifeModel, step: Resolved<RenameStep>, replay: KeyedRequest | undefined): unknown {
  const { account, user, label, to, merge, ifRevision } = step;
  if (label === to) throw new Refused("invalid_request");
  model.refuseTaken(account, replay);
  model.requireLabel(account, step, label);
  const fact = countingIn(model, step);
  if (fact === undefined) throw new Refused("fact_not_found");
  const { place } = fact;
  const target = model.at(account, user, place, to);
  if (target !== undefined && !merge) throw new Refused("fact_exists");
  const items = [...itemsOf(target), ...itemsOf(fact)];
  const value = target === undefined ? fact.value : [...new Set(items)].join("; ");
  const { oneOf, maxBytes } = model.termsOf(account, to);
  if (oneOf !== null && !oneOf.includes(value)) throw new Refused("invalid_value");
  if (bytesOf(value) > (maxBytes ?? VALUE_BYTES_MAX)) throw new Refused("invalid_value");
  const expiresAtMs = (target ?? fact).expiresAtMs;
  const previous = target === undefined ? null : [target.value, target.revision];
  const facts = [{ label: to, value, place, expiresAtMs, previous }];
  if (target === undefined) {
    const { count } = model.rename(account, step, { place, label, to, ifRevision }, replay);
    return { count, replayed: false, facts };
  }
  const changes = [
    { label: to, place, value, expiresAtMs, origin: originOfBoth(target, fact) },
    { label, place, value: null, keepHistory: true, ifRevision },
  ];
  const { count } = model.write(account, step, changes, { ...step, counts: false, replay });
  return { count, replayed: false, facts };
}

function rollBack(
  model: LifeModel,
  step: RollbackStep & { toMs: number; unchangedSinceMs?: number },
): unknown {
  const { account, toMs, dryRun = false, partial = false, unchangedSinceMs: since } = step;
  if (toMs > model.nowMs) throw new Refused("invalid_request");
  if (step.scope !== undefined) {
    if (step.project === undefined || step.project.includes("/")) throw new Refused("invalid_request");
    if (!model.places(account, step).some(isShared)) throw new Refused("not_a_member");
  }
  const { changes, unreached, changedSince } = model.plan(account, step, toMs, since);
  const isDone = !dryRun && (partial || unreached.length === 0);
  if (isDone && changes.length > 0) model.rollBack(account, step, toMs, step, since);
  return {
    changes: sorted(changes),
    unreached: sorted(unreached),
    isDone,
    changedSince: sorted(changedSince),
  };
}

/** By place and label: the contract names no order. */
export function sorted<T extends { readonly place: string; readonly label: string }>(
  items: readonly T[],
): T[] {
  const name = ({ place, label }: T) => `${place} ${label}`;
  return [...items].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

function itemsOf(present: Present | undefined): string[] {
  return present === undefined ? [] : present.value.split("; ");
}

type WithOrigin = Pick<Change, "origin">;

/** A list with an item that was read somewhere stays one, whatever is added. */
function originOfBoth(list: WithOrigin | undefined, added: WithOrigin): Change["origin"] {
  if (list?.origin === "read") return "read";
  return added.origin === undefined ? list?.origin : added.origin;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
