/**
 * encode: one fact, or up to 40 of one user, all or none. The store checks revisions, the monthly limit and the
 * idempotency key, and writes, in one transaction; the answer comes after the data is on disk. Code bits follow when
 * there is time.
 */

import { assert } from "../base/assert.ts";
import { momentOf } from "../base/clock.ts";
import { ERRORS, type FailureCode } from "../base/error-codes.ts";
import { Failure, type PresentFact } from "../base/errors.ts";
import { TIME_MS_MAX, TTL_S_MAX } from "../base/limits.ts";
import type { Caller } from "./authentication.ts";
import { checkAuthor, checkValue } from "./identifiers.ts";
import type { LabelTerms } from "./labels.ts";
import { type Person, placeFor, viewOf } from "./places.ts";
import type {
  FactChange,
  FactRecord,
  Place,
  PreviousFact,
  Replay,
  Scope,
  View,
  WriteOutcome,
  WriteRequest,
} from "./ports.ts";
import { dayOf, quotaWindow } from "./quota.ts";
import type { MemoryServices } from "./services.ts";

export interface FactInput {
  readonly label: string;
  readonly value: string;
  /** How long it lives, or until when; its label's default life where both are absent. */
  readonly ttlS?: number | undefined;
  readonly expiresAt?: string | undefined;
  /** Where it goes, whatever its label says. */
  readonly scope?: Scope | undefined;
  /** The revision that the fact must have now; 0: there must be none. */
  readonly ifRevision?: number | undefined;
}

/** Who writes, and once. */
export interface WriteInput extends Person {
  readonly writtenBy?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface EncodeInput extends WriteInput {
  readonly facts: readonly FactInput[];
  /** Tells the operations apart: one idempotency key cannot stand for two of them. */
  readonly operation: "encode" | "encode/batch" | "append" | "remove" | "restore";
  /** What tells this request from another, where its facts do not: an item that is appended. */
  readonly fingerprinted?: readonly unknown[];
}

/** A fact that was written. */
export interface WrittenFact {
  readonly label: string;
  readonly channel: number;
  readonly value: string;
  readonly place: Place;
  readonly revision: number;
  readonly expiresAtMs: number | null;
  /** The fact that was there before. */
  readonly previous: PreviousFact | undefined;
}

export interface EncodeResult {
  readonly facts: readonly WrittenFact[];
  /** Of the first fact; also where a list has lost its last item, and is no fact any more. */
  readonly channel: number;
  readonly channelCount: number;
  readonly replayed: boolean;
  /** Encodes of this key in this month, after this call; undefined where nothing was counted. */
  readonly used: number | undefined;
}

export async function encodeFacts(
  services: MemoryServices,
  caller: Caller,
  input: EncodeInput,
): Promise<EncodeResult> {
  const { facts, operation } = input;
  const view = viewOf(caller.account, input, services.clock.now());
  checkAuthor(input);
  return orAsBefore(services, caller, input, async () =>
    storeFacts(
      services,
      caller,
      input,
      view,
      await placeFacts(services, view, facts, operation === "encode/batch"),
    ),
  );
}

/** A fact with its place; without a value it is forgotten. */
export type PlacedFact = FactChange & { readonly label: string; readonly expiresAtMs: number | null };

/** Writes facts once under the Idempotency-Key of their request. */
export async function storeFacts(
  services: MemoryServices,
  caller: Caller,
  input: EncodeInput,
  view: View,
  placed: readonly PlacedFact[],
): Promise<EncodeResult> {
  const { writtenBy = null, sessionId = null, idempotencyKey } = input;
  const { nowMs } = view;
  const { keyId, limit } = caller;
  const quota = { keyId, month: quotaWindow(nowMs).month, day: dayOf(nowMs), limit };
  const write = (idempotency?: WriteRequest["idempotency"]) =>
    services.store.write({ ...view, changes: placed, writtenBy, sessionId, quota, idempotency });
  const answer = keptAnswer(input, placed);
  const outcome =
    idempotencyKey === undefined
      ? await write()
      : await services.idempotency.run(
          idempotencyKey,
          { caller, nowMs, fingerprinted: fingerprintOf(input, placed) },
          (record) => write({ ...record, ...(answer === undefined ? {} : { answer }) }),
        );
  refuseUnlessStored(outcome, caller, { nowMs, placed, isBatch: input.operation === "encode/batch" });
  const { used } = outcome;
  if (outcome.outcome === "replayed") {
    assert(idempotencyKey !== undefined, "only a request with an Idempotency-Key gets an earlier answer");
    return { ...resultOfReplay(input, outcome, placed), used };
  }
  const written = placed.flatMap(({ value, ...fact }, i) =>
    value === null ? [] : [{ ...fact, value, previous: outcome.previous[i] }],
  );
  assert(outcome.channelCount >= 1 || written.length === 0, "a stored fact is in use");
  if (written.length === placed.length) services.blocks.codeInBackground(caller, view);
  else services.blocks.drop(caller.account, input.userId);
  return { ...resultOf(written, outcome, placed), replayed: false, used };
}

/**
 * Does a write; where it is refused, the request may be one that was answered before: an item is not in the list any more
 * because this request has removed it, or the moment of `expires_at` has come meanwhile.
 */
export async function orAsBefore(
  services: MemoryServices,
  caller: Caller,
  input: EncodeInput,
  write: () => Promise<EncodeResult>,
): Promise<EncodeResult> {
  try {
    return await write();
  } catch (error) {
    const { idempotencyKey } = input;
    if (idempotencyKey === undefined || !isRefusal(error)) throw error;
    const view = viewOf(caller.account, input, services.clock.now());
    const { places, nowMs } = view;
    const placed = await Promise.all(
      input.facts.map(async ({ label, value, scope }) => {
        const terms = await services.labels.find(caller.account, label);
        return { label, value, channel: terms.channel, place: placeFor(scope ?? terms.scope, places) };
      }),
    ).catch(() => []);
    if (placed.length === 0) throw error;
    const fingerprinted = fingerprintOf(input, placed);
    const idempotency = services.idempotency.recordOf(idempotencyKey, { caller, nowMs, fingerprinted });
    const replay = await services.store.readReplay({ ...view, idempotency });
    if (replay === undefined) throw error;
    return { ...resultOfReplay(input, replay, placed), used: undefined };
  }
}

/** Refused for the request, or for what is there, before the store has looked for an earlier answer. */
function isRefusal(error: unknown): error is Failure {
  return error instanceof Failure && ERRORS[error.code].status < 500 && !REFUSED_BY_STORE.has(error.code);
}

const REFUSED_BY_STORE: ReadonlySet<FailureCode> = new Set([
  "revision_mismatch",
  "monthly_limit_exceeded",
  "idempotency_in_flight",
  "idempotency_mismatch",
]);

/** What the request does not say of its answer: when its facts end, or all of a fact that depends on what was there. */
function keptAnswer({ fingerprinted }: EncodeInput, placed: readonly PlacedFact[]): string | undefined {
  if (fingerprinted === undefined) {
    const ends = placed.map(({ expiresAtMs }) => expiresAtMs);
    return ends.every((end) => end === null) ? undefined : JSON.stringify(ends);
  }
  const facts = placed.filter(({ value }) => value !== null);
  return JSON.stringify(
    facts.map(({ label, channel, value, place, expiresAtMs }) => {
      return { label, channel, value, place, expiresAtMs };
    }),
  );
}

type AnsweredFact = Pick<WrittenFact, "label" | "channel" | "value" | "place">;

/** The answer of the first request. Where something was forgotten meanwhile, what this one says itself is left. */
function resultOfReplay(
  { fingerprinted }: EncodeInput,
  replay: Replay,
  placed: readonly (Omit<AnsweredFact, "value"> & { readonly value: string | null })[],
): Omit<EncodeResult, "used"> {
  const kept = replay.answer === undefined ? [] : JSON.parse(replay.answer);
  const facts: (AnsweredFact & { expiresAtMs: number | null })[] =
    fingerprinted === undefined
      ? placed.map((fact, i) => ({ ...fact, value: fact.value!, expiresAtMs: kept[i] ?? null }))
      : kept;
  const written = facts.map((fact, i) => ({ ...fact, previous: replay.previous[i] }));
  return { ...resultOf(written, replay, placed), replayed: true };
}

function resultOf(
  written: readonly Omit<WrittenFact, "revision">[],
  { revision, channelCount }: { readonly revision: number; readonly channelCount: number },
  placed: readonly { readonly channel: number }[],
) {
  const first = revision - written.length + 1;
  return {
    facts: written.map(({ label, channel, value, place, expiresAtMs, previous }, i) => ({
      label,
      channel,
      value,
      place,
      // The record of a write before the upgrade of its data folder has no revision: it is 0.
      revision: Math.max(0, first + i),
      expiresAtMs,
      previous,
    })),
    channel: placed[0].channel,
    channelCount,
  };
}

/** Labels to channels and places; values checked; in a batch the index of the fact at fault is named. */
async function placeFacts(
  services: MemoryServices,
  view: { account: string; places: readonly Place[]; nowMs: number },
  facts: readonly FactInput[],
  batch: boolean,
): Promise<PlacedFact[]> {
  const seen = new Set<string>();
  const placed: PlacedFact[] = [];
  for (const [index, fact] of facts.entries()) {
    try {
      const { label, value, ifRevision } = fact;
      const terms = await services.labels.find(view.account, label);
      checkAgainstTerms(terms, value);
      const place = placeFor(fact.scope ?? terms.scope, view.places);
      const { channel } = terms;
      if (seen.has(`${channel} ${place}`)) {
        throw new Failure("invalid_request", `The label ${label} is given twice.`, { param: "label" });
      }
      seen.add(`${channel} ${place}`);
      const expiresAtMs = lifeEnd(fact, terms, view.nowMs);
      placed.push({
        label,
        place,
        channel,
        value,
        expiresAtMs,
        ...(ifRevision === undefined ? {} : { ifRevision }),
      });
    } catch (error) {
      if (!batch || !(error instanceof Failure)) throw error;
      const param = `facts[${index}].${error.extra.param}`;
      throw new Failure(error.code, error.message, { ...error.extra, param });
    }
  }
  return placed;
}

/** What a label asks of its values. Nothing is ever cut. */
function checkAgainstTerms({ label, oneOf, maxBytes }: LabelTerms, value: string): void {
  if (oneOf !== null && !oneOf.includes(value)) {
    throw new Failure(
      "invalid_value",
      `The value of ${label} must be one of: ${oneOf.map((one) => JSON.stringify(one)).join(", ")}.`,
      {
        param: "value",
      },
    );
  }
  checkValue(value, maxBytes ?? undefined);
}

/** When a fact ends, or null. */
export function lifeEnd(
  { ttlS, expiresAt }: Pick<FactInput, "ttlS" | "expiresAt">,
  terms: LabelTerms,
  nowMs: number,
): number | null {
  if (ttlS !== undefined && expiresAt !== undefined)
    throw new Failure("invalid_request", "Give ttl_s or expires_at, not both.", { param: "ttl_s" });
  if (expiresAt !== undefined) return momentToCome(expiresAt, nowMs);
  if (ttlS !== undefined && (ttlS < 1 || ttlS > TTL_S_MAX))
    throw new Failure("invalid_request", `ttl_s must be from 1 to ${TTL_S_MAX}.`, { param: "ttl_s" });
  const lifeS = ttlS ?? terms.ttlS;
  return lifeS === null ? null : nowMs + lifeS * 1000;
}

/** A day alone is no moment here: which one it is would depend on where it is read. */
function momentToCome(text: string, nowMs: number): number {
  const ms = text.length > "YYYY-MM-DD".length ? momentOf(text) : undefined;
  if (ms === undefined)
    throw new Failure(
      "invalid_request",
      'expires_at must be a moment of RFC 3339 with its zone, such as "2026-12-01T18:00:00Z".',
      { param: "expires_at" },
    );
  if (ms <= nowMs || ms > TIME_MS_MAX)
    throw new Failure("invalid_request", "expires_at must be in the future.", { param: "expires_at" });
  return Math.floor(ms);
}

/** What tells a request from another. One without the newer fields has the digest that it always had. */
function fingerprintOf(
  input: EncodeInput,
  placed: readonly Pick<FactChange, "channel" | "value">[],
): readonly unknown[] {
  const { operation, userId, project, facts, fingerprinted } = input;
  // The facts of such a request depend on what was there, and would differ when it is repeated.
  if (fingerprinted !== undefined) return [operation, userId, fingerprinted, project ?? null];
  const values = placed.map(({ channel, value }) => [channel, value]);
  const more = facts.map(({ ttlS, expiresAt, scope, ifRevision }) => [ttlS, expiresAt, scope, ifRevision]);
  const isPlain = project === undefined && more.flat().every((field) => field === undefined);
  return [operation, userId, values, ...(isPlain ? [] : [project ?? null, more])];
}

type Stored = Extract<WriteOutcome, { channelCount: number }>;

export function refuseUnlessStored(
  outcome: WriteOutcome,
  caller: Caller,
  {
    nowMs,
    placed,
    isBatch,
  }: { nowMs: number; placed: readonly { readonly label: string }[]; isBatch?: boolean },
): asserts outcome is Stored {
  if (outcome.outcome === "limit") {
    throw new Failure(
      "monthly_limit_exceeded",
      `The ${caller.tier} tier allows ${caller.limit} encodes a month; ${outcome.used} are used.`,
      { retryAfterS: Math.ceil((quotaWindow(nowMs).endMs - nowMs) / 1000), used: outcome.used },
    );
  }
  if (outcome.outcome === "mismatch") {
    throw new Failure("idempotency_mismatch", "This Idempotency-Key was used for another request.", {
      param: "Idempotency-Key",
    });
  }
  if (outcome.outcome === "label_gone") {
    const { label } = placed[outcome.index];
    throw new Failure("unknown_label", `The label ${label} has just been removed. Nothing was written.`, {
      param: isBatch ? `facts[${outcome.index}].label` : "label",
    });
  }
  if (outcome.outcome === "conflict") {
    const param = isBatch ? `facts[${outcome.index}].if_revision` : "If-Match";
    throw revisionMismatch(placed[outcome.index].label, outcome.present, param);
  }
}

/** With the present fact, so that the caller need not ask for it. */
export function revisionMismatch(
  label: string,
  present: FactRecord | undefined,
  param = "If-Match",
): Failure {
  const found = present === undefined ? "there is no such fact" : `its revision is ${present.revision}`;
  return new Failure(
    "revision_mismatch",
    `The fact on ${label} is not as expected: ${found}. Nothing was written.`,
    {
      param,
      present: present === undefined ? null : presentFact(label, present),
    },
  );
}

function presentFact(label: string, fact: FactRecord): PresentFact {
  const { value, revision, updatedAtMs, writtenBy } = fact;
  const updated_at = new Date(updatedAtMs).toISOString();
  return { label, value, revision, updated_at, ...(writtenBy === null ? {} : { written_by: writtenBy }) };
}
