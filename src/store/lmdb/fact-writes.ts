/** The writes of facts. Each runs inside a group's transaction. */

import { timingSafeEqual } from "node:crypto";
import { assert, assertInteger } from "../../base/assert.ts";
import { CHANNEL_COUNT } from "../../base/limits.ts";
import type { ComputedCode, WriteOutcome, WriteRequest } from "../../memory/ports.ts";
import {
  counterName,
  dayPrefix,
  expiryDayOf,
  factKey,
  idempotencyKey,
  USERS,
  userKey,
} from "./entry-keys.ts";
import type { Write, Writer } from "./group-commit.ts";
import {
  channelCount,
  FORGOTTEN,
  type LifeSource,
  markChannel,
  newUser,
  packFact,
  packIdempotency,
  packNumber,
  packUser,
  unpackFact,
  unpackIdempotency,
  unpackUser,
} from "./records.ts";

export function writeFacts(request: WriteRequest, lives: LifeSource): Write<WriteOutcome> {
  return (writer) => {
    const used = usedBefore(writer, request);
    const known = replay(writer, request, used);
    if (known !== undefined) return known;
    const { quota, facts } = request;
    assertInteger(facts.length, 1, CHANNEL_COUNT, "the number of facts in a write");
    if (quota?.limit != null && used + facts.length > quota.limit) return { outcome: "limit", used };

    const key = userKey(request.account, request.userId);
    const before = writer.get("facts", key);
    const user = before === undefined ? newUser(lives.next()) : unpackUser(before);
    if (before === undefined) addUsers(writer, 1);
    for (const { channel, value, updatedAtMs = request.nowMs } of facts) {
      user.revision += 1;
      markChannel(user, channel, true);
      const record = packFact({ value, revision: user.revision, updatedAtMs });
      writer.put("facts", factKey(request.account, request.userId, channel), record);
    }
    writer.put("facts", key, packUser(user));
    count(writer, request, used);
    const stored = channelCount(user);
    assert(stored >= facts.length, "a write has each channel once");
    keepReplay(writer, request, stored);
    return { outcome: "stored", channelCount: stored, used: used + (quota === undefined ? 0 : facts.length) };
  };
}

function usedBefore(writer: Writer, { quota }: WriteRequest): number {
  return quota === undefined ? 0 : writer.count(counterName(quota.keyId, quota.month));
}

function count(writer: Writer, { quota, facts }: WriteRequest, used: number): void {
  if (quota === undefined) return;
  writer.setCount(counterName(quota.keyId, quota.month), used + facts.length);
  const day = counterName(quota.keyId, quota.day);
  writer.setCount(day, writer.count(day) + facts.length);
}

/** Adds to the counts of days and their months. */
export function addUsage(keyId: string, days: readonly { day: string; count: number }[]): Write<void> {
  return (writer) => {
    for (const { day, count: added } of days) {
      assert(added > 0, "only what was used is added");
      for (const name of [counterName(keyId, day), counterName(keyId, day.slice(0, "YYYY-MM".length))]) {
        writer.setCount(name, writer.count(name) + added);
      }
    }
  };
}

function replay(
  writer: Writer,
  { idempotency, nowMs }: WriteRequest,
  used: number,
): WriteOutcome | undefined {
  if (idempotency === undefined) return undefined;
  const { keyId, key, expiresAtMs, fingerprint } = idempotency;
  // The key of a record begins with the day it expires on: for a record that is still valid, a day from today to the last one possible.
  for (let day = expiryDayOf(nowMs); day <= expiryDayOf(expiresAtMs); day++) {
    const bytes = writer.get("idempotency", idempotencyKey(day, keyId, key));
    const record = bytes && unpackIdempotency(bytes);
    if (record === undefined || record.expiresAtMs <= nowMs) continue;
    if (!timingSafeEqual(record.fingerprint, fingerprint)) return { outcome: "mismatch", used };
    return { outcome: "replayed", channelCount: record.channelCount, used };
  }
  return undefined;
}

function keepReplay(writer: Writer, { idempotency }: WriteRequest, stored: number): void {
  if (idempotency === undefined) return;
  const { keyId, key, expiresAtMs, fingerprint } = idempotency;
  const record = packIdempotency({ fingerprint, channelCount: stored, expiresAtMs });
  writer.put("idempotency", idempotencyKey(expiryDayOf(expiresAtMs), keyId, key), record);
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

export function saveCodes(account: string, userId: string, codes: readonly ComputedCode[]): Write<void> {
  return (writer) => {
    for (const { channel, revision, value, code } of codes) {
      const key = factKey(account, userId, channel);
      const bytes = writer.get("facts", key);
      if (bytes === undefined) continue;
      const fact = unpackFact(channel, bytes);
      if (fact.revision !== revision || fact.value !== value) continue;
      writer.put("facts", key, packFact({ ...fact, code }));
    }
  };
}

export function forgetFacts(
  account: string,
  userId: string,
  facts: readonly { channel: number; revision?: number }[],
  nowMs: number,
): Write<{ forgotten: number; channelCount: number }> {
  return (writer) => {
    const key = userKey(account, userId);
    const before = writer.get("facts", key);
    if (before === undefined) return { forgotten: 0, channelCount: 0 };
    const user = unpackUser(before);
    const found = facts.filter(({ channel, revision }) => {
      const fact = factKey(account, userId, channel);
      if (revision === undefined) return writer.has("facts", fact);
      const bytes = writer.get("facts", fact);
      return bytes !== undefined && unpackFact(channel, bytes).revision === revision;
    });
    if (found.length === 0) return { forgotten: 0, channelCount: channelCount(user) };
    for (const { channel } of found) {
      writer.remove("facts", factKey(account, userId, channel));
      markChannel(user, channel, false);
    }
    user.revision += 1;
    assert(found.length <= CHANNEL_COUNT, "a fact is forgotten once");
    const left = channelCount(user);
    // A user without facts is removed: nothing shows that the user ever existed.
    if (left === 0) removeUser(writer, key);
    else writer.put("facts", key, packUser(user));
    noteForgetting(writer, nowMs);
    return { forgotten: found.length, channelCount: left };
  };
}

export function forgetUser(account: string, userId: string, nowMs: number): Write<boolean> {
  return (writer) => {
    const key = userKey(account, userId);
    // All channels are tried and none is read: the user's record and the facts may be damaged.
    const facts = Array.from({ length: CHANNEL_COUNT }, (_, channel) => factKey(account, userId, channel));
    const found = facts.filter((fact) => writer.has("facts", fact));
    const known = writer.has("facts", key);
    if (found.length === 0 && !known) return false;
    for (const fact of found) writer.remove("facts", fact);
    if (known) removeUser(writer, key);
    noteForgetting(writer, nowMs);
    return true;
  };
}

function removeUser(writer: Writer, key: Buffer): void {
  writer.remove("facts", key);
  addUsers(writer, -1);
}

function addUsers(writer: Writer, change: number): void {
  writer.setCount(USERS, writer.count(USERS) + change);
}

/** Always written: a copy in progress learns from it that something was forgotten. */
export function noteForgetting(writer: Writer, nowMs: number): void {
  writer.put("meta", FORGOTTEN, writer.get("meta", FORGOTTEN) ?? packNumber(nowMs));
}
