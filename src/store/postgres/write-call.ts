/**
 * Writes as one call of the batch function: arrays in, one row out for each write. Every text travels as a
 * parameter, never as part of the statement.
 */

import { assert } from "../../base/assert.ts";
import type { WriteOutcome, WriteRequest } from "../../memory/ports.ts";
import type { Query, Sql } from "./database.ts";
import { quotaSlot, replaySlot, userSlot } from "./placement.ts";

interface OutcomeRow {
  readonly outcome: WriteOutcome["outcome"];
  readonly channel_count: number;
  readonly quota_used: number;
}

/** @param requests at least one; an idempotency key at most once */
export function callOf(requests: readonly WriteRequest[]): Query<WriteOutcome[]> {
  const slots = requests.map(({ account, userId }) => userSlot(account, userId));
  const counts = requests.map(({ facts }) => facts.length);
  const facts = requests.flatMap((request) =>
    request.facts.map(({ channel, value, updatedAtMs = request.nowMs }) => ({ channel, value, updatedAtMs })),
  );
  const quotas = requests.map(({ quota }) => quota);
  const replays = requests.map(({ idempotency }) => idempotency);
  // A key without a limit counts where its user is.
  const quotaSlots = quotas.map(
    (quota, i) => quota && (quota.limit === null ? slots[i] : quotaSlot(quota.keyId)),
  );
  return async (sql: Sql) => {
    const rows = await sql<OutcomeRow[]>`
      SELECT outcome, channel_count, quota_used FROM sideband.write_facts(
        ${slots[0]}::integer,
        ${slots}::integer[], ${requests.map(({ account }) => account)}::text[],
        ${requests.map(({ userId }) => userId)}::text[],
        ${firstsOf(counts)}::integer[], ${counts}::integer[], ${requests.map(({ nowMs }) => nowMs)}::bigint[],
        ${facts.map(({ channel }) => channel)}::integer[], ${facts.map(({ value }) => value)}::text[],
        ${facts.map(({ updatedAtMs }) => updatedAtMs)}::bigint[],
        ${orNull(quotaSlots)}::integer[], ${orNull(quotas.map((quota) => quota?.keyId))}::text[],
        ${orNull(quotas.map((quota) => quota?.month))}::text[], ${orNull(quotas.map((quota) => quota?.day))}::text[],
        ${orNull(quotas.map((quota) => quota?.limit))}::bigint[],
        ${orNull(replays.map((replay) => replay && replaySlot(replay.keyId, replay.key)))}::integer[],
        ${orNull(replays.map((replay) => replay?.keyId))}::text[], ${orNull(replays.map((replay) => replay?.key))}::text[],
        ${orNull(replays.map((replay) => replay && hexOf(replay.fingerprint)))}::text[]::bytea[],
        ${orNull(replays.map((replay) => replay?.expiresAtMs))}::bigint[]
      ) ORDER BY ordinal`;
    assert(rows.length === requests.length, "the batch function answers every write");
    return rows.map(outcomeOf);
  };
}

function outcomeOf({ outcome, channel_count: channelCount, quota_used: used }: OutcomeRow): WriteOutcome {
  if (outcome === "stored" || outcome === "replayed") return { outcome, channelCount, used };
  return { outcome, used };
}

/** Where each write's facts begin in the flat arrays; PostgreSQL counts from one. */
function firstsOf(counts: readonly number[]): number[] {
  let next = 1;
  return counts.map((count) => {
    next += count;
    return next - count;
  });
}

function orNull<T>(values: readonly (T | null | undefined)[]): (T | null)[] {
  return values.map((value) => value ?? null);
}

/** The input form of bytea. */
export function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}
