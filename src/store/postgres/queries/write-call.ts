/**
 * Turns writes into one call of the batch function: arrays in, one row out for each write. Every text is a bind
 * parameter, never part of the statement.
 */

import { assert, assertInteger } from "../../../base/assert.ts";
import { CHANNEL_COUNT } from "../../../base/limits.ts";
import type { WriteOutcome, WriteRequest } from "../../../memory/ports.ts";
import { quotaSlot, replaySlot, userSlot } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf } from "../connection/tickets.ts";

interface OutcomeRow {
  readonly ticket: number;
  readonly outcome: WriteOutcome["outcome"];
  readonly channel_count: number;
  readonly quota_used: number;
}

/** @param requests at least one; an idempotency key at most once */
export function callOf(requests: readonly WriteRequest[]): Query<WriteOutcome[]> {
  assert(requests.length >= 1, "a call has a write");
  const { users, places } = usersOf(requests);
  const facts = requests.flatMap((request, place) =>
    request.facts.map(({ channel, value, updatedAtMs = request.nowMs }) => ({
      place: place + 1,
      channel,
      value,
      updatedAtMs,
    })),
  );
  const quotas = requests.map(({ quota }) => quota);
  const replays = requests.map(({ idempotency }) => idempotency);
  // A key without a limit counts in the slot of the user.
  const quotaSlots = quotas.map(
    (quota, i) => quota && (quota.limit === null ? users[places[i] - 1].slot : quotaSlot(quota.keyId)),
  );
  return async (sql: Sql) => {
    const rows = await answerOf(
      (ticket) => sql<OutcomeRow[]>`
      SELECT ticket, outcome, channel_count, quota_used FROM sideband.write_facts(
        ${users.map(({ slot }) => slot)}::integer[], ${users.map(({ account }) => account)}::text[],
        ${users.map(({ userId }) => userId)}::text[],
        ${places}::integer[], ${requests.map((request) => request.facts.length)}::integer[],
        ${requests.map(maskOf)}::bigint[], ${requests.map(({ nowMs }) => nowMs)}::bigint[],
        ${orNull(quotaSlots)}::integer[], ${orNull(quotas.map((quota) => quota?.keyId))}::text[],
        ${orNull(quotas.map((quota) => quota?.month))}::text[],
        ${orNull(quotas.map((quota) => quota?.day))}::text[],
        ${orNull(quotas.map((quota) => quota?.limit))}::bigint[],
        ${orNull(replays.map((replay) => replay && replaySlot(replay.keyId, replay.key)))}::integer[],
        ${orNull(replays.map((replay) => replay?.keyId))}::text[],
        ${orNull(replays.map((replay) => replay?.key))}::text[],
        ${orNull(replays.map((replay) => replay && hexOf(replay.fingerprint)))}::text[]::bytea[],
        ${orNull(replays.map((replay) => replay?.expiresAtMs))}::bigint[],
        ${facts.map(({ place }) => place)}::integer[], ${facts.map(({ channel }) => channel)}::integer[],
        ${facts.map(({ value }) => value)}::text[], ${facts.map(({ updatedAtMs }) => updatedAtMs)}::bigint[],
        ${ticket}::bigint
      ) ORDER BY ordinal`,
    );
    assert(rows.length === requests.length, "the batch function answers every write");
    return rows.map(outcomeOf);
  };
}

interface PlacedUser {
  readonly slot: number;
  readonly account: string;
  readonly userId: string;
}

/** Each user once, and each write's place among them; PostgreSQL counts from one. */
function usersOf(requests: readonly WriteRequest[]): { users: PlacedUser[]; places: number[] } {
  const users: PlacedUser[] = [];
  const known = new Map<string, number>();
  const places = requests.map(({ account, userId }) => {
    const name = `${account}\0${userId}`;
    let place = known.get(name);
    if (place === undefined) {
      place = users.push({ slot: userSlot(account, userId), account, userId });
      known.set(name, place);
    }
    return place;
  });
  return { users, places };
}

/** The channels of a write as bits. A number holds 40 bits exactly, but JavaScript's bit operators take only 32. */
function maskOf({ facts }: WriteRequest): number {
  return facts.reduce((mask, { channel }) => mask + 2 ** channel, 0);
}

function outcomeOf({ outcome, channel_count: channelCount, quota_used: used }: OutcomeRow): WriteOutcome {
  assert(used >= 0, "a key has not used less than nothing");
  if (outcome === "stored" || outcome === "replayed") {
    assertInteger(channelCount, 1, CHANNEL_COUNT, "the channel count of an answer");
    return { outcome, channelCount, used };
  }
  return { outcome, used };
}

function orNull<T>(values: readonly (T | null | undefined)[]): (T | null)[] {
  return values.map((value) => value ?? null);
}

/** Bytes as the text form of bytea. */
export function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}
