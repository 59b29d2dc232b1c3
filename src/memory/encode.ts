/**
 * encode: one fact, or up to 40 of one user, all or none. What is written, and what is refused for what is there, the law
 * decides under the user's lock (law/law.ts); the answer comes after the data is on disk. Code bits follow when there is
 * time. Lists and restored values go the same way.
 */

import { assert } from "../base/assert.ts";
import { momentOf } from "../base/clock.ts";
import { Failure, type PresentFact } from "../base/errors.ts";
import type { FactOrigin } from "../base/fact-origins.ts";
import { TIME_MS_MAX, TTL_S_MAX } from "../base/limits.ts";
import type { Caller } from "./authentication.ts";
import { type MakeLabel, nothingRemembered, unknownTo, writtenLabel } from "./free-labels.ts";
import { checkAuthor, checkValue } from "./identifiers.ts";
import type { LabelTerms } from "./labels.ts";
import { nameOf } from "./law/user-memory.ts";
import { type Person, placeFor } from "./places.ts";
import type {
  Change,
  FactChange,
  FactRecord,
  PreviousFact,
  ReplayedChange,
  View,
  WriteOutcome,
  WriteRequest,
} from "./ports.ts";
import { dayOf, quotaWindow } from "./quota.ts";
import type { Place, WriteScope } from "./records.ts";
import type { MemoryServices } from "./services.ts";
import { type OwnMark, ownMark } from "./shared-places.ts";
import { viewFor } from "./shared-projects.ts";

export interface FactInput {
  readonly label: string;
  readonly value: string;
  /** How long it lives, or until when; its label's default life where both are absent. */
  readonly ttlS?: number | undefined;
  readonly expiresAt?: string | undefined;
  /** Makes a label that is unknown, one of the person's own, with a description where there is one. */
  readonly newLabel?: MakeLabel | undefined;
  readonly description?: string | undefined;
  /** Where it goes, whatever its label says. */
  readonly scope?: WriteScope | undefined;
  /** The revision that the fact must have now; 0: there must be none. */
  readonly ifRevision?: number | undefined;
  readonly origin?: FactOrigin | undefined;
  readonly pinned?: boolean | undefined;
}

/** Who writes, and once. */
export interface WriteInput extends Person {
  readonly writtenBy?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface EncodeInput extends WriteInput {
  readonly facts: readonly FactInput[];
  readonly operation: "encode" | "encode/batch";
}

/** A write that is answered with the facts that it has written. */
interface FactsWrite {
  readonly changes: readonly Change[];
  /** That of the first fact. */
  readonly label: string;
  /** False where it does not count against the monthly limit. */
  readonly isCounted?: boolean;
  /** What tells the request from another. */
  readonly fingerprinted: readonly unknown[];
}

/** A fact that was written. */
export interface WrittenFact extends OwnMark {
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
  const view = await viewFor(services, caller.account, input);
  const changes = await placeFacts(services, view, facts, operation === "encode/batch");
  const fingerprinted = fingerprintOf(input, changes);
  return writeFacts(services, caller, input, view, { changes, label: facts[0].label, fingerprinted });
}

/** Writes facts once under the Idempotency-Key of their request. */
export async function writeFacts(
  services: MemoryServices,
  caller: Caller,
  input: WriteInput,
  view: View,
  { changes, label, isCounted = true, fingerprinted }: FactsWrite,
): Promise<EncodeResult> {
  const { writtenBy = null, sessionId = null, idempotencyKey } = input;
  const { nowMs } = view;
  checkAuthor(input);
  const write = (idempotency?: WriteRequest["idempotency"]) =>
    services.store.write({
      ...view,
      changes,
      writtenBy,
      sessionId,
      ...(isCounted ? { quota: quotaOf(caller, nowMs) } : {}),
      idempotency,
    });
  const outcome =
    idempotencyKey === undefined
      ? await write()
      : await services.idempotency.run(idempotencyKey, { caller, nowMs, fingerprinted }, write);
  if (outcome.outcome === "label_unknown") {
    const isNew = changes.some(({ kind }) => kind === undefined || kind === "append");
    throw isNew
      ? await unknownTo(services, view, outcome.label, outcome.param)
      : await nothingRemembered(services, view, outcome.label);
  }
  requireStored(outcome, caller, nowMs);
  const { channelCount } = outcome;
  const used = isCounted ? outcome.used : undefined;
  const replayed = outcome.outcome === "replayed";
  assert(
    !replayed || idempotencyKey !== undefined,
    "only a request with an Idempotency-Key gets an earlier answer",
  );
  const made = replayed
    ? (outcome.changes ?? asRequested(changes, outcome.revision))
    : outcome.changes.map(({ before, found: _, ...change }) => ({ ...change, previous: before ?? null }));
  const onChannels = await services.labels.withChannels(caller.account, made);
  const facts = onChannels.flatMap(({ value, previous, ...fact }) =>
    value === null ? [] : [{ ...fact, value, ...ownMark(view, fact.place), previous: previous ?? undefined }],
  );
  const [{ channel }] =
    onChannels.length > 0 ? onChannels : await services.labels.withChannels(caller.account, [{ label }]);
  if (!replayed) {
    assert(channelCount >= 1 || facts.length === 0, "a stored fact is in use");
    if (facts.length === made.length) services.blocks.codeInBackground(caller, view);
    else services.blocks.drop(caller.account, input.userId);
  }
  return { facts, channel, channelCount, replayed, used };
}

/** What a request says itself of the facts that it has written. */
function asRequested(changes: readonly Change[], revision: number): ReplayedChange[] {
  const facts = changes.filter((change) => change.kind === undefined);
  return facts.map(({ place, label, value }, i) => {
    const ofFact = revision - facts.length + 1 + i;
    return { place, label, value, revision: ofFact, expiresAtMs: null, previous: null };
  });
}

export function quotaOf(
  { keyId, limit, counter }: Caller,
  nowMs: number,
): NonNullable<WriteRequest["quota"]> {
  const quota = { keyId, month: quotaWindow(nowMs).month, day: dayOf(nowMs), limit };
  return counter === undefined ? quota : { ...quota, counter };
}

/** Labels to places; values checked; in a batch the index of the fact at fault is named. */
async function placeFacts(
  services: MemoryServices,
  view: View,
  facts: readonly FactInput[],
  batch: boolean,
): Promise<FactChange[]> {
  const seen = new Set<string>();
  const placed: FactChange[] = [];
  for (const [index, fact] of facts.entries()) {
    try {
      const { label, value, ifRevision, origin, pinned } = fact;
      const { terms, free } = await writtenLabel(services, view, fact);
      checkValue(value);
      const place = placeFor(fact.scope ?? terms.scope, view.places);
      if (seen.has(nameOf({ place, label }))) {
        throw new Failure("invalid_request", `The label ${label} is given twice.`, { param: "label" });
      }
      seen.add(nameOf({ place, label }));
      const expiresAtMs = lifeEnd(fact, terms, view.nowMs);
      placed.push({
        place,
        label,
        value,
        expiresAtMs,
        terms,
        free,
        ...(batch ? { param: `facts[${index}].` } : {}),
        ...(ifRevision === undefined ? {} : { ifRevision }),
        origin,
        pinned,
      });
    } catch (error) {
      if (!batch || !(error instanceof Failure)) throw error;
      const param = `facts[${index}].${error.extra.param}`;
      throw new Failure(error.code, error.message, { ...error.extra, param });
    }
  }
  return placed;
}

/** When a fact ends, or null. */
export function lifeEnd(
  { ttlS, expiresAt }: Pick<FactInput, "ttlS" | "expiresAt">,
  terms: LabelTerms,
  nowMs: number,
): number | null {
  if (ttlS !== undefined && expiresAt !== undefined)
    throw new Failure("invalid_request", "Give ttl_s or expires_at, not both.", { param: "ttl_s" });
  if (expiresAt !== undefined) return endOf(expiresAt);
  if (ttlS !== undefined && (ttlS < 1 || ttlS > TTL_S_MAX))
    throw new Failure("invalid_request", `ttl_s must be from 1 to ${TTL_S_MAX}.`, { param: "ttl_s" });
  const lifeS = ttlS ?? terms.ttlS;
  return lifeS === null ? null : nowMs + lifeS * 1000;
}

/** A day alone is no moment here: which one it is would depend on where it is read. */
function endOf(text: string): number {
  const ms = text.length > "YYYY-MM-DD".length ? momentOf(text) : undefined;
  if (ms === undefined)
    throw new Failure(
      "invalid_request",
      'expires_at must be a moment of RFC 3339 with its zone, such as "2026-12-01T18:00:00Z".',
      { param: "expires_at" },
    );
  if (ms < 0 || ms > TIME_MS_MAX)
    throw new Failure("invalid_request", "expires_at must be in the future.", { param: "expires_at" });
  return Math.floor(ms);
}

/** What tells a request from another. */
function fingerprintOf({ operation, userId, project, facts }: EncodeInput, changes: readonly FactChange[]) {
  const values = changes.map(({ label, value }) => [label, value]);
  const more = facts.map(({ ttlS, expiresAt, scope, ifRevision, description, origin, pinned }) => {
    const terms = [ttlS, expiresAt, scope, ifRevision];
    const later = [description, origin, ...(pinned === undefined ? [] : [pinned])];
    return later.every((term) => term === undefined) ? terms : [...terms, ...later];
  });
  return [operation, userId, project ?? null, values, more];
}

type Stored = Extract<WriteOutcome, { channelCount: number }>;

export function requireStored(
  outcome: Exclude<WriteOutcome, { outcome: "label_unknown" }>,
  caller: Caller,
  nowMs: number,
): asserts outcome is Stored {
  if (outcome.outcome === "limit") {
    throw new Failure(
      "monthly_limit_exceeded",
      `The ${caller.counter === undefined ? `${caller.tier} tier` : "account"} allows ${caller.limit} encodes a month; ${outcome.used} are used.`,
      { retryAfterS: Math.ceil((quotaWindow(nowMs).endMs - nowMs) / 1000), used: outcome.used },
    );
  }
  if (outcome.outcome === "mismatch") {
    throw new Failure("idempotency_mismatch", "This Idempotency-Key was used for another request.", {
      param: "Idempotency-Key",
    });
  }
  if (outcome.outcome === "label_gone") {
    throw new Failure(
      "unknown_label",
      `The label ${outcome.label} has just been removed. Nothing was written.`,
      {
        param: `${outcome.param}label`,
      },
    );
  }
  if (outcome.outcome === "conflict") throw revisionMismatch(outcome);
}

/** With the present fact, so that the caller need not ask for it. */
export function revisionMismatch({
  label,
  present,
  param,
  ifRevision,
}: Extract<WriteOutcome, { outcome: "conflict" }>): Failure {
  const header = ifRevision === 0 ? "If-None-Match" : "If-Match";
  const by = present?.author === undefined ? "" : `, and ${present.author} wrote it`;
  const found = present === undefined ? "there is no such fact" : `its revision is ${present.revision}${by}`;
  return new Failure(
    "revision_mismatch",
    `The fact on ${label} is not as expected: ${found}. Nothing was written.`,
    {
      param: param === "" ? header : `${param}if_revision`,
      present: present === undefined ? null : presentFact(label, present),
    },
  );
}

function presentFact(label: string, fact: FactRecord): PresentFact {
  const { value, revision, updatedAtMs, writtenBy, author } = fact;
  return {
    ...{ label, value, revision, updated_at: new Date(updatedAtMs).toISOString() },
    ...(writtenBy === null ? {} : { written_by: writtenBy }),
    ...(author === undefined ? {} : { user_id: author }),
  };
}
