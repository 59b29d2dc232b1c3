/**
 * Turns writes into one call of the batch function: arrays in, a row out for each change. Every text is a bind
 * parameter, never part of the statement.
 */

import { assert, assertInteger } from "../../../base/assert.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../../../base/limits.ts";
import type { FactChange, PreviousFact, Replay, WriteOutcome, WriteRequest } from "../../../memory/ports.ts";
import { quotaSlot, replaySlot, userSlot } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, type Ticketed } from "../connection/tickets.ts";
import { type FactRow, factOf } from "./fact-rows.ts";

interface WriteRow {
  readonly ticket: number;
  readonly write: number;
  /** Where a label is gone, the call fails (group-commit.ts). */
  readonly outcome: Exclude<WriteOutcome["outcome"], "label_gone">;
  readonly channel_count: number;
  readonly quota_used: number;
  readonly user_revision: number;
  readonly forgotten: number;
  readonly conflict: number;
  readonly answer: string | null;
}

/** With the fact that was there before a change; its columns are null where there was none. */
type ChangeRow = WriteRow & (FactRow | { readonly revision: null });

/**
 * @param requests at least one; an idempotency key at most once
 * @param historyMax how many earlier values of a fact are kept
 */
export function callOf(requests: readonly WriteRequest[], historyMax: number): Query<WriteOutcome[]> {
  assert(requests.length >= 1, "a call has a write");
  const users = new Numbered<{ slot: number; account: string; userId: string }>();
  const facts = new Numbered<{ user: number; place: string; channel: number }>();
  const writes = requests.map((request) => {
    const { account, userId, changes } = request;
    const user = users.number(`${account}\0${userId}`, () => ({
      slot: userSlot(account, userId),
      account,
      userId,
    }));
    const counted = changes.filter(({ value }) => value !== null).length;
    return { request, user, counted, isPlain: changes.length > 0 && changes.every(isPlain) };
  });
  const changes = writes.flatMap(({ request, user }, i) =>
    request.changes.map((change) => {
      const { place, channel } = change;
      const fact = facts.number(`${user} ${channel} ${place}`, () => ({ user, place, channel }));
      return { change, fact, write: i + 1, updatedAtMs: change.updatedAtMs ?? request.nowMs };
    }),
  );
  const labelled = changes.filter(({ change }) => change.value !== null && change.channel >= CHANNEL_COUNT);
  const quotas = requests.map(({ quota }) => quota);
  const replays = requests.map(({ idempotency }) => idempotency);
  // A key without a limit counts in the slot of the user.
  const quotaSlots = writes.map(
    ({ request: { quota }, user }) =>
      quota && (quota.limit === null ? users.all[user - 1].slot : quotaSlot(quota.keyId)),
  );
  return async (sql: Sql) => {
    const rows = await answerOf(
      (ticket) => sql<ChangeRow[]>`
      SELECT ticket, write, outcome, channel_count, quota_used, user_revision, forgotten, conflict,
        place, channel, ordinal, revision, updated_at_ms, since_ms, expires_at_ms, value, written_by, session_id, answer
      FROM sideband.write_recorded(
        ${users.all.map(({ slot }) => slot)}::integer[], ${users.all.map(({ account }) => account)}::text[],
        ${users.all.map(({ userId }) => userId)}::text[],
        ${facts.all.map(({ user }) => user)}::integer[], ${facts.all.map(({ place }) => place)}::text[],
        ${facts.all.map(({ channel }) => channel)}::integer[],
        ${writes.map(({ user }) => user)}::integer[], ${requests.map(({ changes }) => changes.length)}::integer[],
        ${writes.map(({ counted }) => counted)}::integer[], ${writes.map(({ isPlain }) => Number(isPlain))}::integer[],
        ${orNull(requests.map(({ places }) => (places.length === 0 ? null : places.join("\n"))))}::text[],
        ${requests.map(({ nowMs }) => nowMs)}::bigint[], ${orNull(requests.map(({ writtenBy }) => writtenBy))}::text[],
        ${orNull(requests.map(({ sessionId }) => sessionId))}::text[],
        ${orNull(quotaSlots)}::integer[], ${orNull(quotas.map((quota) => quota?.keyId))}::text[],
        ${orNull(quotas.map((quota) => quota?.month))}::text[],
        ${orNull(quotas.map((quota) => quota?.day))}::text[],
        ${orNull(quotas.map((quota) => quota?.limit))}::bigint[],
        ${orNull(replays.map((replay) => replay && replaySlot(replay.keyId, replay.key)))}::integer[],
        ${orNull(replays.map((replay) => replay?.keyId))}::text[],
        ${orNull(replays.map((replay) => replay?.key))}::text[],
        ${orNull(replays.map((replay) => replay && hexOf(replay.fingerprint)))}::text[]::bytea[],
        ${orNull(replays.map((replay) => replay?.expiresAtMs))}::bigint[],
        ${orNull(replays.map((replay) => replay?.answer))}::text[],
        ${changes.map(({ write }) => write)}::integer[], ${changes.map(({ fact }) => fact)}::integer[],
        ${changes.map(({ change }) => change.value)}::text[],
        ${changes.map(({ updatedAtMs }) => updatedAtMs)}::bigint[],
        ${changes.map(({ change: { ordinal = 1 } }) => ordinal)}::integer[],
        ${orNull(changes.map(({ change }) => change.expiresAtMs))}::bigint[],
        ${changes.map(({ change: { keepHistory = false } }) => Number(keepHistory))}::integer[],
        ${orNull(changes.map(({ change }) => change.ifRevision))}::bigint[],
        ${historyMax}::integer, sideband.hold_labels(
          ${labelled.map(({ write }) => requests[write - 1].account)}::text[],
          ${labelled.map(({ change }) => change.channel)}::integer[], ${ticket}::bigint)
      )`,
    );
    return outcomesOf(rows, requests);
  };
}

/** Certain to change its fact, whatever is there. */
function isPlain({ value, ifRevision }: FactChange): boolean {
  return value !== null && ifRevision === undefined;
}

/** Things in the order of their first use, each once; PostgreSQL counts from one. */
class Numbered<T> {
  readonly all: T[] = [];
  readonly #numbers = new Map<string, number>();

  number(name: string, make: () => T): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.all.push(make());
      this.#numbers.set(name, number);
    }
    return number;
  }
}

/** A write has a row for each of its changes, in order, or a single one. */
function outcomesOf(rows: readonly ChangeRow[], requests: readonly WriteRequest[]): WriteOutcome[] {
  const byWrite = requests.map((): ChangeRow[] => []);
  for (const row of rows) {
    assertInteger(row.write, 1, requests.length, "the write of an answer");
    byWrite[row.write - 1].push(row);
  }
  return requests.map(({ changes }, i) => {
    assert(byWrite[i].length === Math.max(1, changes.length), "the batch function answers every write");
    return outcomeOf(byWrite[i], changes.length);
  });
}

function outcomeOf(rows: readonly ChangeRow[], changes: number): WriteOutcome {
  const { outcome, channel_count: channelCount, quota_used: used, user_revision: revision } = rows[0];
  const previous = rows.slice(0, changes).map((row) => (row.revision === null ? undefined : factOf(row)));
  const { forgotten, conflict: index } = rows[0];
  assert(used >= 0, "a key has not used less than nothing");
  assertInteger(channelCount, 0, CHANNEL_COUNT_MAX, "the channel count of an answer");
  assertInteger(forgotten, 0, changes, "the number of forgotten facts");
  if (outcome === "stored") return { outcome, channelCount, used, revision, previous, forgotten };
  if (outcome === "replayed") return { outcome, channelCount, used, revision, ...keptAnswer(rows[0].answer) };
  if (outcome === "conflict") return { outcome, used, index, present: previous[index] };
  return { outcome, used };
}

/** What was kept of an answer, if it is still there. */
function keptAnswer(text: string | null): Pick<Replay, "answer" | "previous"> {
  if (text === null) return { previous: [] };
  const { answer, previous } = JSON.parse(text) as {
    readonly answer: string | null;
    readonly previous: readonly (PreviousFact | null)[];
  };
  return { ...(answer === null ? {} : { answer }), previous: previous.map((fact) => fact ?? undefined) };
}

/** What the batch function would replay. */
export function readReplay({
  idempotency,
  nowMs,
}: {
  readonly idempotency: NonNullable<WriteRequest["idempotency"]>;
  readonly nowMs: number;
}): Query<Replay | undefined> {
  const { keyId, key, fingerprint } = idempotency;
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<
        (Ticketed & { channelCount: number | null; revision: number; answer: string | null })[]
      >`
        SELECT t.ticket, r.channel_count AS "channelCount", r.revision, a.answer
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.replays AS r ON r.slot = ${replaySlot(keyId, key)} AND r.key_id = ${keyId}
          AND r.idempotency_key = ${key} AND r.expires_at_ms > ${nowMs} AND r.fingerprint = ${hexOf(fingerprint)}::text::bytea
        LEFT JOIN sideband.answers AS a ON a.slot = r.slot AND a.key_id = r.key_id
          AND a.idempotency_key = r.idempotency_key AND a.revision = r.revision`,
    );
    const { channelCount, revision, answer } = row;
    return channelCount === null ? undefined : { channelCount, revision, ...keptAnswer(answer) };
  };
}

/** An array of nothing is NULL, which costs nothing: few writes have an end, a condition or an idempotency key. */
function orNull<T>(values: readonly (T | null | undefined)[]): (T | null)[] | null {
  return values.some((value) => value != null) ? values.map((value) => value ?? null) : null;
}

/** Bytes as the text form of bytea. */
export function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}
