/** The second trip of a group: what the law has made of it is stored, and committed with it. */

import { elementAt } from "../../../base/assert.ts";
import { inSlices, type Sliced } from "../../../base/slices.ts";
import type { KeptAnswer } from "../../../memory/law/answers.ts";
import type { FactDifference } from "../../../memory/law/found-user.ts";
import type { UserMemory } from "../../../memory/law/user-memory.ts";
import type { EarlierFact, FactRecord, WriteRequest } from "../../../memory/ports.ts";
import type { AuditNote, FreeLabel } from "../../../memory/records.ts";
import { forgetName, storeNotes } from "./audit-queries.ts";
import { type CountedWrite, countDays, countMonths, countsOf } from "./group-counts.ts";
import { type ErasedPlace, type GroupEvent, removeEvents, storeEvents } from "./group-events.ts";
import {
  compare,
  counterName,
  type GroupUser,
  NAME,
  REPLAY,
  REPLAY_KEY,
  type ReplayKey,
  replayKeysOf,
  USER,
  userSlotOf,
} from "./group-locks.ts";
import {
  allOf,
  arraysOf,
  type Column,
  columnsIn,
  columnsOf,
  type Part,
  part,
  type Statements,
} from "./statements.ts";

/** What is stored of a group beside its users' memories. */
export interface GroupRecords {
  /** Writes with a key that are stored: their replay records, and the texts of their answers. */
  readonly kept: ReadonlyMap<WriteRequest, KeptAnswer & { readonly channelCount: number }>;
  /** Writes whose new replay records stand for nothing. */
  readonly unkept: readonly WriteRequest[];
  /** Users of whom something was forgotten for good. */
  readonly wiped: readonly { readonly account: string; readonly userId: string }[];
  /** What was forgotten as a whole: nothing is told of it again. */
  readonly erased: readonly ErasedPlace[];
  /** What the audit gets. */
  readonly notes: readonly AuditNote[];
  /** Encodes of writes with a quota. */
  readonly counted: readonly CountedWrite[];
  /** What the counters that are there had used when it was read. */
  readonly used: ReadonlyMap<string, number>;
  /** Of accounts that somebody listens to. */
  readonly events: readonly GroupEvent[];
}

const INTEGER_MAX = 2 ** 31 - 1;
/** Facts, and events, that become rows in one go. A group of others has fewer. */
const CHANGED_MAX = 128;
const EVENTS_MAX = 1_000;

/**
 * Sends all statements, and the commit behind them; throws the first failure. What many writes have in common is locked last:
 * counters of days, of months, and of events. Resolves to what the counters of months have used.
 */
export async function storeGroup(
  statements: Statements,
  users: readonly GroupUser[],
  memories: readonly UserMemory[],
  records: GroupRecords,
  turn: () => Promise<void>,
): Promise<Map<string, number>> {
  const changed = await inSlices(changesOf(users, memories), turn);
  const labels = users.flatMap((user, i) =>
    Array.from(elementAt(memories, i).labelDifferences(), ({ label, present }) => ({ user, label, present })),
  );
  const stored = users.map((user, i) => ({ user, memory: elementAt(memories, i) }));
  const { months, days } = countsOf(records);
  const sent: Promise<unknown>[] = [];
  const send = (answers: readonly Promise<unknown>[]) => {
    // Their failures show in the end.
    for (const answer of answers) answer.catch(() => {});
    sent.push(...answers);
  };
  // The facts of a large user go part by part, and what else there is with the last of them.
  let rest = changed;
  for (; rest.length > CHANGED_MAX; rest = rest.slice(CHANGED_MAX)) {
    const part = rest.slice(0, CHANGED_MAX);
    send(statements.change([...removeFacts(statements, part), ...shortenHistory(statements, part)]));
    send(statements.change([...storeFacts(statements, part), ...storeHistory(statements, part)]));
    await turn();
  }
  // What is removed may be written anew.
  send(
    statements.change([
      ...removeFacts(statements, rest),
      ...shortenHistory(statements, rest),
      ...removeFreeLabels(statements, labels),
      ...removeUsers(statements, stored),
      ...removeReplays(records),
    ]),
  );
  send(
    statements.change([
      // Made last: where a machine of a cluster hangs, whoever waits for it has not locked what others count, too.
      ...countDays(statements, days),
      ...storeFacts(statements, rest),
      ...storeHistory(statements, rest),
      ...storeFreeLabels(statements, labels),
      ...storeUsers(statements, stored),
      ...storeReplays(statements, records),
    ]),
  );
  const counted = countMonths(statements, months, records.used);
  send(counted);
  send(records.erased.map((erased) => removeEvents(statements, erased)));
  const persons = records.erased
    .filter(({ within }) => within === null)
    .sort((a, b) => compare(a.account, b.account) || compare(a.userId, b.userId));
  send(persons.map((erased) => forgetName(statements, erased)));
  send(storeNotes(statements, records.notes));
  for (let i = 0; i < records.events.length; i += EVENTS_MAX) {
    if (i > 0) await turn();
    send(storeEvents(statements, records.events.slice(i, i + EVENTS_MAX)));
  }
  await allOf<unknown>([...sent, statements.commit()]);
  const rows = (await Promise.all(counted)).flat();
  return new Map(rows.map(({ key_id: keyId, month, used }) => [counterName({ keyId, month }), used]));
}

interface ChangedFact {
  readonly user: GroupUser;
  readonly fact: FactDifference;
}

function* changesOf(users: readonly GroupUser[], memories: readonly UserMemory[]): Sliced<ChangedFact[]> {
  const changed: ChangedFact[] = [];
  for (const [i, user] of users.entries()) {
    for (const fact of elementAt(memories, i).differences()) {
      yield;
      changed.push({ user, fact });
    }
  }
  return changed;
}

function removeFacts(statements: Statements, changed: readonly ChangedFact[]): Part[] {
  const gone = changed.filter(({ fact: { before, present } }) => before && !present);
  return statements.parts(gone).map(
    (rows) => part`
      DELETE FROM sideband.facts AS f USING (${arraysOf(NAME, rows)}) AS t (slot, account, user_id, place, label)
      WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
        AND f.label = t.label ${statements.slotsOf(rows, userSlotOf)}`,
  );
}

const VALUE: readonly Column<Omit<FactRecord, "code">>[] = [
  ...columnsOf<Omit<FactRecord, "code">>({
    ordinal: "integer",
    revision: "bigint",
    updatedAtMs: "bigint",
    sinceMs: "bigint",
    value: "text",
    writtenBy: "text",
    sessionId: "text",
    origin: "text",
    expiresAtMs: "bigint",
  }),
  ["boolean", ({ pinned }) => (pinned ? "true" : null)],
  ...columnsOf<FactRecord>({ author: "text" }),
];

const PRESENT = [...NAME, ...columnsIn("fact", [...VALUE, ...columnsOf<FactRecord>({ number: "integer" })])];

const ENDED: readonly Column<EarlierFact>[] = [
  ...columnsOf<EarlierFact>({ ended: "text", endedAtMs: "bigint" }),
  ["text", ({ former, endedBy }) => ((former ?? endedBy) ? JSON.stringify({ former, endedBy }) : null)],
];
const EARLIER = [...NAME, ...columnsIn("fact", [...VALUE, ...ENDED])];

const DROPPED: readonly Column<ChangedFact>[] = [
  ...NAME,
  ["integer", ({ fact }) => Math.min(fact.dropBelow, INTEGER_MAX)],
];

function storeFacts(statements: Statements, changed: readonly ChangedFact[]): Part[] {
  const put = changed.flatMap(({ user, fact: { present } }) =>
    present === undefined ? [] : [{ user, fact: present }],
  );
  return statements.parts(put).map(
    (rows) => part`
      INSERT INTO sideband.facts AS f (slot, account, user_id, place, label, ordinal, revision, updated_at_ms,
        since_ms, value, written_by, session_id, origin, expires_at_ms, pinned, author, number)
      ${statements.rows(PRESENT, rows)}
      ON CONFLICT (slot, account, user_id, place, label) DO UPDATE SET ordinal = excluded.ordinal, revision = excluded.revision,
        updated_at_ms = excluded.updated_at_ms, since_ms = excluded.since_ms, value = excluded.value, written_by = excluded.written_by,
        session_id = excluded.session_id, origin = excluded.origin, expires_at_ms = excluded.expires_at_ms, pinned = excluded.pinned, author = excluded.author,
        number = excluded.number, vector = NULL, codebook_version = NULL, code_length = NULL, code_bytes = NULL`,
  );
}

function shortenHistory(statements: Statements, changed: readonly ChangedFact[]): Part[] {
  const dropped = changed.filter(({ fact: { dropBelow, lastBefore } }) => dropBelow > 1 && lastBefore > 0);
  return statements.parts(dropped).map(
    (rows) => part`
      DELETE FROM sideband.history AS f USING (${arraysOf(DROPPED, rows)}) AS t (slot, account, user_id, place, label, below)
      WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
        AND f.label = t.label AND f.ordinal < t.below ${statements.slotsOf(rows, userSlotOf)}`,
  );
}

function storeHistory(statements: Statements, changed: readonly ChangedFact[]): Part[] {
  const added = changed.flatMap(({ user, fact }) => fact.added.map((earlier) => ({ user, fact: earlier })));
  return statements.parts(added).map(
    (rows) => part`
      INSERT INTO sideband.history AS f (slot, account, user_id, place, label, ordinal, revision, updated_at_ms, since_ms,
        value, written_by, session_id, origin, expires_at_ms, pinned, author, ended, ended_at_ms, ending) ${statements.rows(EARLIER, rows)}
      ON CONFLICT (slot, account, user_id, place, label, ordinal) DO UPDATE SET revision = excluded.revision, since_ms = excluded.since_ms,
        updated_at_ms = excluded.updated_at_ms, expires_at_ms = excluded.expires_at_ms, ended_at_ms = excluded.ended_at_ms, author = excluded.author,
        session_id = excluded.session_id, ending = excluded.ending`,
  );
}

interface ChangedLabel {
  readonly user: GroupUser;
  readonly label: string;
  readonly present: FreeLabel | undefined;
}

const LABEL = [...USER, ...columnsOf<ChangedLabel>({ label: "text" })];

const TERMS = columnsOf<FreeLabel>({ number: "integer", uses: "integer", description: "text" });
const PRESENT_LABEL: readonly Column<ChangedLabel>[] = [
  ...LABEL,
  ...columnsIn("present", TERMS as Column<FreeLabel | undefined>[]),
];

function removeFreeLabels(statements: Statements, labels: readonly ChangedLabel[]): Part[] {
  const gone = labels.filter(({ present }) => present === undefined);
  return statements.parts(gone).map(
    (rows) => part`
      DELETE FROM sideband.free_labels AS f USING (${arraysOf(LABEL, rows)}) AS t (slot, account, user_id, label)
      WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.label = t.label
        ${statements.slotsOf(rows, userSlotOf)}`,
  );
}

function storeFreeLabels(statements: Statements, labels: readonly ChangedLabel[]): Part[] {
  const put = labels.filter(({ present }) => present !== undefined);
  return statements.parts(put).map(
    (rows) => part`
      INSERT INTO sideband.free_labels AS f (slot, account, user_id, label, number, uses, description)
      ${statements.rows(PRESENT_LABEL, rows)}
      ON CONFLICT (slot, account, user_id, label) DO UPDATE SET number = excluded.number, uses = excluded.uses,
        description = excluded.description`,
  );
}

interface StoredUser {
  readonly user: GroupUser;
  readonly memory: UserMemory;
}

const COUNTS = columnsOf<UserMemory>({
  revision: "bigint",
  facts: "integer",
  heads: "integer",
  numbers: "integer",
});
const STORED_USER = [...USER, ...columnsIn("memory", COUNTS)];

/** A user without facts and history is removed: nothing shows that the user ever existed. */
function removeUsers(statements: Statements, users: readonly StoredUser[]): Part[] {
  const empty = users.filter(({ memory: { facts, heads } }) => facts + heads === 0);
  return statements.parts(empty).map(
    (rows) => part`
      DELETE FROM sideband.users AS f USING (${arraysOf(USER, rows)}) AS t (slot, account, user_id)
      WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id
        ${statements.slotsOf(rows, userSlotOf)}`,
  );
}

function storeUsers(statements: Statements, users: readonly StoredUser[]): Part[] {
  const used = users.filter(({ memory: { facts, heads } }) => facts + heads > 0);
  return statements.parts(used).map(
    (rows) => part`
      INSERT INTO sideband.users AS u (slot, account, user_id, revision, facts, heads, numbers)
      ${statements.rows(STORED_USER, rows)}
      ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = excluded.revision, facts = excluded.facts,
        heads = excluded.heads, numbers = excluded.numbers`,
  );
}

type UserName = Pick<WriteRequest, "account" | "userId">;

const USER_NAME = columnsOf<UserName>({ account: "text", userId: "text" });

function removeReplays({ unkept, wiped }: GroupRecords): Part[] {
  const changes: Part[] = [];
  if (unkept.length > 0)
    changes.push(part`
      DELETE FROM sideband.replays AS r USING (${arraysOf(REPLAY_KEY, replayKeysOf(unkept))}) AS t (slot, key_id, key)
      WHERE r.slot = t.slot AND r.key_id = t.key_id AND r.idempotency_key = t.key`);
  if (wiped.length > 0)
    changes.push(part`
      DELETE FROM sideband.answers AS a USING (${arraysOf(USER_NAME, wiped)}) AS t (account, user_id)
      WHERE a.account = t.account AND a.user_id = t.user_id`);
  return changes;
}

interface KeptReplay extends ReplayKey {
  readonly channelCount: number;
  readonly revision: number;
}

interface KeptText extends KeptReplay, UserName {
  readonly text: string;
}

const KEPT_REPLAY = [...REPLAY, ...columnsOf<KeptReplay>({ channelCount: "integer", revision: "bigint" })];

const KEPT_ANSWER = [
  ...REPLAY_KEY,
  ...columnsOf<KeptText>({ revision: "bigint", expiresAtMs: "bigint" }),
  ...USER_NAME,
  ...columnsOf<KeptText>({ text: "text" }),
];

function storeReplays(statements: Statements, { kept }: GroupRecords): Part[] {
  const requests = [...kept.keys()];
  const keys = replayKeysOf(requests);
  const keptOf = ({ write }: ReplayKey) => kept.get(elementAt(requests, write))!;
  const all = keys.map((key): KeptReplay => {
    const { channelCount, revision } = keptOf(key);
    return { ...key, channelCount, revision };
  });
  const answers = all.flatMap((replay): KeptText[] => {
    const { account } = elementAt(requests, replay.write);
    return keptOf(replay).texts.map((text) => ({ ...replay, account, ...text }));
  });
  return [
    ...statements.parts(all).map(
      (rows) => part`
        INSERT INTO sideband.replays AS r
          (slot, key_id, idempotency_key, fingerprint, expires_at_ms, channel_count, revision)
        ${statements.rows(KEPT_REPLAY, rows)}
        ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint,
          expires_at_ms = excluded.expires_at_ms, channel_count = excluded.channel_count, revision = excluded.revision`,
    ),
    ...statements.parts(answers).map(
      (rows) => part`
        INSERT INTO sideband.answers AS a
          (slot, key_id, idempotency_key, revision, expires_at_ms, account, user_id, answer)
        ${statements.rows(KEPT_ANSWER, rows)}
        ON CONFLICT (slot, key_id, idempotency_key, user_id) DO UPDATE SET revision = excluded.revision,
          expires_at_ms = excluded.expires_at_ms, account = excluded.account, answer = excluded.answer`,
    ),
  ];
}
