/**
 * Records of Idempotency-Keys. Each has a digest of the request and the numbers of its answer. What else was answered,
 * values among it, lies with the history of whose values they are (law/answers.ts), and goes with them; once its record has
 * expired nobody finds it, and that user's next answer or a compaction removes it.
 */

import { timingSafeEqual } from "node:crypto";
import { assert } from "../../base/assert.ts";
import type { Sliced } from "../../base/slices.ts";
import { type KeptAnswer, replayedChanges, writtenUsers } from "../../memory/law/answers.ts";
import type { Replay, WriteRequest } from "../../memory/ports.ts";
import { answerKey, answersOf, dayPrefix, expiryDayOf, idempotencyKey } from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import { packIdempotency, unpackIdempotency } from "./records.ts";
import type { Write, Writer } from "./writer.ts";

/** "mismatch": the key was used for another request. */
export function findReplay(
  reader: Pick<Environment, "get">,
  request: Pick<WriteRequest, "account" | "userId" | "shared" | "idempotency" | "nowMs">,
): Replay | "mismatch" | undefined {
  const { account, idempotency, nowMs } = request;
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
    const texts = writtenUsers(request).flatMap(
      (user) => reader.get("history", answerKey(account, user, name))?.toString() ?? [],
    );
    const changes = replayedChanges(texts);
    return { channelCount, revision, ...(changes && { changes }) };
  }
  return undefined;
}

/** Only one of this many writes looks for old answers of its user: looking takes longer than keeping one. */
const REMOVING = 16;
/** How many it removes at most, so that a group stays short. */
const OLD_MAX = 64;

/** Keeps the numbers of an answer, and its texts where there are any. */
export function keepReplay(
  writer: Writer,
  { account, idempotency, nowMs }: WriteRequest,
  channelCount: number,
  { revision, texts }: KeptAnswer,
): void {
  assert(idempotency !== undefined, "an answer is kept for a request with a key");
  const { keyId, key, expiresAtMs, fingerprint } = idempotency;
  const name = idempotencyKey(expiryDayOf(expiresAtMs), keyId, key);
  const numbers = { fingerprint, expiresAtMs, channelCount, revision };
  writer.put("idempotency", name, packIdempotency(numbers));
  for (const { userId, text } of texts) {
    if (fingerprint[0]! % REMOVING === 0) removeOldAnswers(writer, account, userId, nowMs);
    writer.put("history", answerKey(account, userId, name), Buffer.from(text));
  }
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
