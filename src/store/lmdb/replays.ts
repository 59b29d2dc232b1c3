/**
 * Records of Idempotency-Keys. Each has a digest of the request and the numbers of its answer. What else was answered,
 * values among it, lies with the history of its user. It goes when something of the user is forgotten; once its record has
 * expired nobody finds it, and the user's next answer or a compaction removes it.
 */

import { timingSafeEqual } from "node:crypto";
import { assert } from "../../base/assert.ts";
import type { Sliced } from "../../base/slices.ts";
import type { Replay, ReplayedChange, WriteRequest } from "../../memory/ports.ts";
import { answerKey, answersOf, dayPrefix, expiryDayOf, idempotencyKey } from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import { packIdempotency, unpackIdempotency, unpackJson } from "./records.ts";
import type { Write, Writer } from "./writer.ts";

/** "mismatch": the key was used for another request. */
export function findReplay(
  reader: Pick<Environment, "get">,
  { account, userId, idempotency, nowMs }: Pick<WriteRequest, "account" | "userId" | "idempotency" | "nowMs">,
): Replay | "mismatch" | undefined {
  if (idempotency === undefined) return undefined;
  const { keyId, key, expiresAtMs, fingerprint, otherFingerprints = [] } = idempotency;
  // The key of a record begins with the day it expires on: for a record that is still valid, a day from today to the last one possible.
  for (let day = expiryDayOf(nowMs); day <= expiryDayOf(expiresAtMs); day++) {
    const name = idempotencyKey(day, keyId, key);
    const bytes = reader.get("idempotency", name);
    const record = bytes && unpackIdempotency(bytes);
    if (record === undefined || record.expiresAtMs <= nowMs) continue;
    if (![fingerprint, ...otherFingerprints].some((one) => timingSafeEqual(record.fingerprint, one)))
      return "mismatch";
    const { channelCount, revision } = record;
    const kept = reader.get("history", answerKey(account, userId, name));
    return {
      channelCount,
      revision,
      ...(kept === undefined ? {} : { changes: unpackJson<ReplayedChange[]>(kept) }),
    };
  }
  return undefined;
}

/** Only one of this many writes looks for old answers of its user: looking takes longer than keeping one. */
const REMOVING = 16;
/** How many it removes at most, so that a group stays short. */
const OLD_MAX = 64;

/** Keeps the numbers of an answer, and its text where there is one. */
export function keepReplay(
  writer: Writer,
  { account, userId, idempotency, nowMs }: WriteRequest,
  { channelCount, revision }: { readonly channelCount: number; readonly revision: number },
  answer: string | null,
): void {
  if (idempotency === undefined) return;
  const { keyId, key, expiresAtMs, fingerprint } = idempotency;
  const name = idempotencyKey(expiryDayOf(expiresAtMs), keyId, key);
  const numbers = { fingerprint, expiresAtMs, channelCount, revision };
  writer.put("idempotency", name, packIdempotency(numbers));
  if (answer === null) return;
  if (fingerprint[0]! % REMOVING === 0) removeOldAnswers(writer, account, userId, nowMs);
  writer.put("history", answerKey(account, userId, name), Buffer.from(answer));
}

/** Those of days ago. */
function removeOldAnswers(writer: Writer, account: string, userId: string, nowMs: number): void {
  const { start } = answersOf(account, userId);
  const end = answerKey(account, userId, dayPrefix(expiryDayOf(nowMs)));
  const old = writer.environment.keys("history", { start, end, limit: OLD_MAX });
  for (const key of old) writer.remove("history", key);
}

/** What was answered to requests of a user: there may be values in it. */
export function* forgetAnswers(writer: Writer, account: string, userId: string): Sliced<void> {
  for (const page of writer.keyPages("history", answersOf(account, userId))) {
    yield;
    for (const key of page) writer.remove("history", key);
  }
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
