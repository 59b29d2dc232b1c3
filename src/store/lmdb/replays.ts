/**
 * Records of Idempotency-Keys. Each has a digest of the request and the numbers of its answer. What else was answered,
 * values among it, lies with the history of its user. It goes when something of the user is forgotten; once its record has
 * expired nobody finds it, and the user's next answer or a compaction removes it.
 */

import { timingSafeEqual } from "node:crypto";
import { assert } from "../../base/assert.ts";
import type { FactRecord, PreviousFact, Replay, WriteRequest } from "../../memory/ports.ts";
import { answerKey, answersOf, dayPrefix, expiryDayOf, idempotencyKey } from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import type { Write, Writer } from "./group-commit.ts";
import { packIdempotency, packJson, unpackIdempotency, unpackJson } from "./records.ts";

/** "mismatch": the key was used for another request. */
export function findReplay(
  reader: Pick<Environment, "get">,
  { account, userId, idempotency, nowMs }: Pick<WriteRequest, "account" | "userId" | "idempotency" | "nowMs">,
): Replay | "mismatch" | undefined {
  if (idempotency === undefined) return undefined;
  const { keyId, key, expiresAtMs, fingerprint } = idempotency;
  // The key of a record begins with the day it expires on: for a record that is still valid, a day from today to the last one possible.
  for (let day = expiryDayOf(nowMs); day <= expiryDayOf(expiresAtMs); day++) {
    const name = idempotencyKey(day, keyId, key);
    const bytes = reader.get("idempotency", name);
    const record = bytes && unpackIdempotency(bytes);
    if (record === undefined || record.expiresAtMs <= nowMs) continue;
    if (!timingSafeEqual(record.fingerprint, fingerprint)) return "mismatch";
    const { channelCount, revision } = record;
    const kept = reader.get("history", answerKey(account, userId, name));
    return { channelCount, revision, ...(kept === undefined ? { previous: [] } : storedAnswer(kept)) };
  }
  return undefined;
}

interface AnswerRecord {
  readonly answer?: string;
  readonly previous: readonly (PreviousFact | null)[];
}

function storedAnswer(bytes: Buffer): Pick<Replay, "answer" | "previous"> {
  const { previous, ...rest } = unpackJson<AnswerRecord>(bytes);
  return { ...rest, previous: previous.map((fact) => fact ?? undefined) };
}

/** Only one of this many writes looks for old answers of its user: looking takes longer than keeping one. */
const REMOVING = 16;
/** How many it removes at most, so that a group stays short. */
const OLD_MAX = 64;

/** Keeps the numbers of an answer; its text only where the request and the numbers do not say all of it. */
export function keepReplay(
  writer: Writer,
  { account, userId, idempotency, changes, nowMs }: WriteRequest,
  outcome: {
    readonly channelCount: number;
    readonly revision: number;
    readonly previous: readonly (FactRecord | undefined)[];
  },
): void {
  if (idempotency === undefined) return;
  const { keyId, key, expiresAtMs, fingerprint, answer } = idempotency;
  const { channelCount, revision } = outcome;
  const previous = outcome.previous.map((fact, i) =>
    fact === undefined || changes[i].value === null ? null : previousOf(fact),
  );
  const isKept = answer !== undefined || previous.some((fact) => fact !== null);
  const name = idempotencyKey(expiryDayOf(expiresAtMs), keyId, key);
  const numbers = { fingerprint, expiresAtMs, channelCount, revision };
  writer.put("idempotency", name, packIdempotency(numbers));
  if (!isKept) return;
  if (fingerprint[0] % REMOVING === 0) removeOldAnswers(writer, account, userId, nowMs);
  const kept: AnswerRecord = { previous, ...(answer === undefined ? {} : { answer }) };
  writer.put("history", answerKey(account, userId, name), packJson(kept));
}

/** Those of days ago. */
function removeOldAnswers(writer: Writer, account: string, userId: string, nowMs: number): void {
  const { start } = answersOf(account, userId);
  const end = answerKey(account, userId, dayPrefix(expiryDayOf(nowMs)));
  const old = writer.environment.keys("history", { start, end, limit: OLD_MAX });
  for (const key of old) writer.remove("history", key);
}

function previousOf({ value, revision, updatedAtMs, writtenBy }: FactRecord): PreviousFact {
  return { value, revision, updatedAtMs, writtenBy };
}

/** What was answered to requests of a user: there may be values in it. */
export function forgetAnswers(writer: Writer, account: string, userId: string): void {
  for (const key of writer.keys("history", answersOf(account, userId))) writer.remove("history", key);
}

/**
 * Removes idempotency records whose day of expiry is over, at most `countMax`, so that a group stays short. Returns
 * their number.
 */
export function sweepExpired(nowMs: number, countMax: number): Write<number> {
  return (writer) => {
    const end = dayPrefix(expiryDayOf(nowMs));
    const expired = writer.environment.keys("idempotency", { end, limit: countMax });
    assert(expired.length <= countMax, "a sweep stays within its limit");
    for (const key of expired) writer.remove("idempotency", key);
    return expired.length;
  };
}
