/**
 * The first trip of a group: what its writes name is locked (group-locks.ts), and then read. The statements are sent
 * together; nobody waits between them.
 */

import { assert, elementAt } from "../../../base/assert.ts";
import { findChannel } from "../../../base/channels.ts";
import { ALL_GROUPS } from "../../../base/groups.ts";
import { inSlices } from "../../../base/slices.ts";
import { writtenUsers } from "../../../memory/law/answers.ts";
import type { FoundFact } from "../../../memory/law/found-user.ts";
import type { WriteRequest } from "../../../memory/ports.ts";
import type { FreeLabel, ProjectRecord } from "../../../memory/records.ts";
import { isShared, projectOfUser } from "../../../memory/shared-places.ts";
import { quotaSlot } from "../cluster/placement.ts";
import { isLong } from "../write-queue.ts";
import {
  counterName,
  countersOf,
  type FoundReplay,
  type GroupUser,
  type GroupUsers,
  lockLabels,
  lockProjects,
  lockReplays,
  lockUsers,
  NAME,
  REPLAY_KEY,
  type ReplayKey,
  replayKeysOf,
  USER,
  userName,
  userSlotOf,
} from "./group-locks.ts";
import {
  COLUMNS,
  FACT,
  foundOf,
  freeLabelsOf,
  type GroupRow,
  groupedByKind,
  labelsOf,
  NO_ENDS,
  NO_FACT,
  NO_TIMES,
  withAnswers,
} from "./group-rows.ts";
import { allOf, arraysOf, columnsOf, type Part, part, type Statements } from "./statements.ts";

export interface FoundUserRow {
  readonly revision: number;
  readonly facts: number;
  readonly heads: number;
  readonly numbers: number;
  readonly named: readonly FoundFact[];
  readonly labels: readonly FreeLabel[];
}

export interface FoundGroup {
  readonly users: readonly FoundUserRow[];
  /** Of each write, as its position in the group. */
  readonly replays: ReadonlyMap<number, FoundReplay>;
  /** Of each write: how many labels have a live fact in its places. */
  readonly channelCounts: readonly number[];
  /** Of each month of a key or an account that has a counter: others may count meanwhile. */
  readonly used: ReadonlyMap<string, number>;
  /** Removed labels, by account. */
  readonly gone: ReadonlyMap<string, ReadonlySet<string>>;
  /** Of each write in a shared project: the labels with a live fact in its places, of the person and of the project. */
  readonly listed: ReadonlyMap<number, ListedLabels>;
  /** Shared projects that are named (projectName). */
  readonly projects: ReadonlyMap<string, ProjectRecord>;
  /** Accounts that somebody listens to. */
  readonly followed: ReadonlySet<string>;
}

/**
 * A plan that was made while a table was small stays in use when it has grown. A node that is stopped between the two
 * trips keeps its users locked for three seconds at most. An answer means "on disk", also where the server was told to be quick.
 * The transaction has its number before it looks who listens: who begins to listen waits for those that did not see it.
 */
const BEGIN = `
  BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
  SET LOCAL idle_in_transaction_session_timeout = '3s'; SELECT pg_current_xact_id(),
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`;

/** What becomes of many facts is decided in slices. */
const LONG_IDLE = "SET LOCAL idle_in_transaction_session_timeout = '30s'";

/** The rows of a statement are estimated as what they usually are, not looked at each time; a cluster has to. */
const ONE_PLAN = "SET LOCAL plan_cache_mode = force_generic_plan";

/** Nobody waits long for what somebody else has locked: the caller tries again with fewer users. */
const LOCK_TIMEOUT = "SET LOCAL lock_timeout = '100ms'";

/** The counters of the second trip are locked for a moment only, by one after the other. */
const NO_LOCK_TIMEOUT = "SET LOCAL lock_timeout = 0";

/**
 * Locks and reads. All statements are sent before the first answer is waited for.
 *
 * @param isAnew somebody was erased before this group had locked them
 */
export async function readGroup(
  statements: Statements,
  requests: readonly WriteRequest[],
  group: GroupUsers,
  turn: () => Promise<void>,
  isAnew: boolean,
): Promise<FoundGroup> {
  const { users } = group;
  const { views, viewOf, sharedViewOf } = viewsOf(requests, group);
  const counters = countersIn(requests);
  const queries = [
    ...namedParts(statements, users),
    ...insideParts(statements, users),
    ...labelParts(statements, users),
    ...viewParts(statements, users, views),
    ...answerParts(statements, requests),
    ...usedParts(statements, counters),
    followedPart(users),
  ];
  const hasKeys = requests.some(({ idempotency }) => idempotency !== undefined);
  const settings = [...(statements.isCluster ? [] : [ONE_PLAN]), ...(hasKeys ? [] : [LOCK_TIMEOUT])];
  if (requests.some(isLong)) settings.push(LONG_IDLE);
  const begun = statements.run([BEGIN, ...settings].join("; "));
  const replays = lockReplays(statements, requests);
  const limited = hasKeys ? statements.run(LOCK_TIMEOUT) : begun;
  const gone = lockLabels(statements, users);
  const shared = lockProjects(statements, requests);
  const locked = lockUsers(statements, users, isAnew || statements.isCluster);
  const found = statements.read<GroupRow>(COLUMNS, queries);
  const unlimited = statements.run(NO_LOCK_TIMEOUT);
  await allOf<unknown>([begun, replays, limited, gone, shared, locked, found, unlimited]);
  const byKind = await inSlices(groupedByKind(await found), turn);
  const counts = await locked;
  assert(counts.size === users.length, "every user of a group is locked");
  const named = await inSlices(foundOf(users, byKind), turn);
  const labels = freeLabelsOf(users, byKind.get("label") ?? []);
  const inViews = new Map(byKind.get("view")?.map((row) => [row.number, row]));
  const labelsIn = (view: number, nowMs: number) => labelsOf(inViews.get(view), nowMs);
  return {
    users: users.map((user, i) => {
      const { revision, facts, heads, numbers } = counts.get(userName(user))!;
      return {
        revision: firstRevision(user, revision),
        facts,
        heads,
        numbers,
        named: elementAt(named, i),
        labels: elementAt(labels, i),
      };
    }),
    replays: withAnswers(await replays, byKind.get("answer") ?? []),
    used: new Map(
      byKind.get("used")?.map(({ number, revision }) => [counterName(elementAt(counters, number)), revision]),
    ),
    channelCounts: requests.map(({ nowMs, shared }, i) =>
      shared === undefined ? channelCountOf(inViews.get(elementAt(viewOf, i)), nowMs) : 0,
    ),
    listed: new Map(
      requests.flatMap(({ nowMs }, i) => {
        const view = sharedViewOf.get(i);
        if (view === undefined) return [];
        return [[i, { own: labelsIn(elementAt(viewOf, i), nowMs), shared: labelsIn(view, nowMs) }]];
      }),
    ),
    projects: await shared,
    gone: await gone,
    followed: new Set(byKind.get("followed")?.map(({ place }) => place)),
  };
}

/** The facts of a view that do not end, and those whose end is to come. */
function channelCountOf(row: GroupRow | undefined, nowMs: number): number {
  if (row === undefined) return 0;
  const ends = row.value === null ? [] : row.value.split(",");
  return row.ordinal + ends.filter((end) => Number(end) > nowMs).length;
}

/** Revisions of what is shared are none of a member's own, since they are shown together. */
const PROJECT_REVISION = 2 ** 52;

function firstRevision({ userId }: GroupUser, revision: number): number {
  const isNew = projectOfUser(userId) !== undefined && revision < PROJECT_REVISION;
  return isNew ? PROJECT_REVISION + revision : revision;
}

export interface ListedLabels {
  readonly own: readonly string[];
  readonly shared: readonly string[];
}

interface Numbered {
  readonly number: number;
}

const NUMBER = columnsOf<Numbered>({ number: "integer" });
const NUMBERED_NAME = [...NAME, ...NUMBER];
const NUMBERED_USER = [...USER, ...NUMBER];

/** Of labels that have no fact any more the history tells which value was the last. */
function namedParts(statements: Statements, users: readonly GroupUser[]): Part[] {
  const named = users.flatMap((user, number) =>
    user.inside.length > 0 ? [] : user.names.map((fact) => ({ user, fact, number })),
  );
  const withHistory = named.filter(({ user }) => user.history);
  const namesOf = (rows: typeof named) => part`
    (${arraysOf(NUMBERED_NAME, rows)}) AS t (slot, account, user_id, place, label, number)`;
  const joinOf = (rows: typeof named) => part`
    f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place AND f.label = t.label
    ${statements.slotsOf(rows, userSlotOf)}`;
  const parts: Part[] = [];
  if (named.length > 0) {
    const [names, join] = [namesOf(named), joinOf(named)];
    parts.push(
      part`
        SELECT 'fact', t.number, ${FACT}, NULL::text, NULL::bigint, f.number, NULL::text
        FROM ${names} JOIN sideband.facts AS f ON ${join}`,
      part`
        SELECT 'last', t.number, f.place, f.label, max(f.ordinal), NULL::text, ${NO_FACT}
        FROM ${names}
        JOIN sideband.users AS u ON u.slot = t.slot AND u.account = t.account AND u.user_id = t.user_id AND u.heads > 0
          ${statements.slotsOf(named, userSlotOf, "u")}
        JOIN sideband.history AS f ON f.slot = u.slot AND ${join}
        GROUP BY f.slot, t.number, f.place, f.label`,
    );
  }
  if (withHistory.length > 0)
    parts.push(part`
      SELECT 'earlier', t.number, ${FACT}, f.ended, f.ended_at_ms, NULL::integer, f.ending
      FROM ${namesOf(withHistory)} JOIN sideband.history AS f ON ${joinOf(withHistory)}`);
  return parts;
}

const OUTSIDE = columnsOf<Numbered & { readonly outside: string }>({ number: "integer", outside: "text" });

/** The users of whom more is asked than names. */
function wholeOf(users: readonly GroupUser[]) {
  return users.flatMap((user, number) => (user.inside.length === 0 ? [] : [{ user, number }]));
}

/** Everything at places of users and inside them. */
function insideParts(statements: Statements, users: readonly GroupUser[]): Part[] {
  const whole = wholeOf(users);
  if (whole.length === 0) return [];
  const outsides = whole.flatMap(({ user, number }) => user.inside.map((outside) => ({ number, outside })));
  const ofUsers = part`(${arraysOf(NUMBERED_USER, whole)}) AS t (slot, account, user_id, number)`;
  const isInside = part`
    f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id ${statements.slotsOf(whole, userSlotOf)}
    AND EXISTS (
      SELECT FROM (${arraysOf(OUTSIDE, outsides)}) AS o (number, outside) WHERE o.number = t.number
        AND (o.outside = '' OR f.place = o.outside OR starts_with(f.place, o.outside || '/')))`;
  return [
    part`
      SELECT 'fact', t.number, ${FACT}, NULL::text, NULL::bigint, f.number, NULL::text
      FROM ${ofUsers} JOIN sideband.facts AS f ON ${isInside}`,
    part`
      SELECT 'earlier', t.number, ${FACT}, f.ended, f.ended_at_ms, NULL::integer, f.ending
      FROM ${ofUsers} JOIN sideband.history AS f ON ${isInside}`,
  ];
}

interface NamedLabel extends Numbered {
  readonly user: GroupUser;
  readonly label: string | null;
}

const LABEL = [...NUMBERED_USER, ...columnsOf<NamedLabel>({ label: "text" })];

/** The free labels that are named, and all of a user of whom more is asked than names. */
function labelParts(statements: Statements, users: readonly GroupUser[]): Part[] {
  const partOf = (rows: readonly NamedLabel[], isWanted: Part) => {
    if (rows.length === 0) return [];
    return [
      part`
        SELECT 'label', t.number, NULL::text, f.label, f.uses, f.description, NULL::bigint, ${NO_ENDS}, f.number, NULL::text
        FROM (${arraysOf(LABEL, rows)}) AS t (slot, account, user_id, number, label)
        JOIN sideband.free_labels AS f ON f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id
          ${isWanted} ${statements.slotsOf(rows, userSlotOf)}`,
    ];
  };
  const named = users.flatMap((user, number): NamedLabel[] => {
    if (user.inside.length > 0) return [];
    const free = user.names.filter(({ label }) => !findChannel(label));
    return [...new Set(free.map(({ label }) => label))].map((label) => ({ user, label, number }));
  });
  const whole = wholeOf(users).map((row) => ({ ...row, label: null }));
  return [...partOf(named, part`AND f.label = t.label`), ...partOf(whole, part``)];
}

/** Places of a user whose labels a write counts. */
interface GroupView {
  readonly user: number;
  readonly places: readonly string[];
  /** Whose labels count: Groups.text, "" for all. */
  readonly groups: string;
  /** The labels are listed: of a person and of a shared project, they are merged. */
  readonly isListed: boolean;
}

/** The views of a group, each once, and the number of each write's; where a project is shared, also that of the project. */
function viewsOf(requests: readonly WriteRequest[], { userOf, projectOf }: GroupUsers) {
  const views: GroupView[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (view: GroupView) => {
    // No place, and the person's own, are two views.
    const name = [view.user, view.groups, view.isListed, ...view.places].join("\n");
    const number = numbers.get(name) ?? views.push(view) - 1;
    numbers.set(name, number);
    return number;
  };
  const sharedViewOf = new Map<number, number>();
  const viewOf = requests.map(({ places, groups: { text: groups } = ALL_GROUPS }, i) => {
    const [user, project] = [elementAt(userOf, i), projectOf.get(i)];
    if (project === undefined) return numberOf({ user, places, groups, isListed: false });
    const own = places.filter((place) => !isShared(place));
    const listed = { groups: "", isListed: true };
    if (own.length < places.length) sharedViewOf.set(i, numberOf({ user: project, places: [""], ...listed }));
    return numberOf({ user, places: own, ...listed });
  });
  return { views, viewOf, sharedViewOf };
}

const VIEW = [
  ...NUMBERED_USER,
  ...columnsOf<{ readonly place: string; readonly groups: string }>({ place: "text", groups: "text" }),
];

/** A minus stands before each group whose labels do not count. */
const IN_GROUPS = part`
  AND starts_with(t.groups, '-') <> (split_part(f.label, '.', 1) = ANY(string_to_array(replace(t.groups, '-', ''), ',')))`;

/** In several places a label may have several facts, and counts until the last of them ends. */
function viewParts(statements: Statements, users: readonly GroupUser[], views: readonly GroupView[]): Part[] {
  const partOf = (isWanted: (view: GroupView) => boolean, until: Part, grouping: Part) => {
    const rows = views.flatMap((view, number) => {
      const { groups, places } = view;
      const user = elementAt(users, view.user);
      return isWanted(view) ? places.map((place) => ({ user, place, groups, number })) : [];
    });
    if (rows.length === 0) return [];
    return [
      part`
        SELECT 'view', c.number, NULL::text, NULL::text, (count(*) - count(c.until))::integer,
          string_agg(c.until::text, ','), ${NO_FACT}
        FROM (
          SELECT f.slot, t.number, ${until} AS until
          FROM (${arraysOf(VIEW, rows)}) AS t (slot, account, user_id, number, place, groups)
          JOIN sideband.facts AS f ON f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id
            AND f.place = t.place ${statements.slotsOf(rows, userSlotOf)} ${grouping}) AS c
        GROUP BY c.slot, c.number`,
    ];
  };
  const last = part`CASE WHEN bool_and(f.expires_at_ms IS NOT NULL) THEN max(f.expires_at_ms) END`;
  const byLabel = part`GROUP BY f.slot, t.number, f.label`;
  const isCounted = ({ isListed, groups }: GroupView) => !isListed && groups === "";
  return [
    ...partOf((view) => isCounted(view) && view.places.length === 1, part`f.expires_at_ms`, part``),
    ...partOf((view) => isCounted(view) && view.places.length > 1, last, byLabel),
    ...partOf(({ groups }) => groups !== "", last, part`${IN_GROUPS} ${byLabel}`),
    ...partOf(({ isListed }) => isListed, part`f.label || ' ' || coalesce((${last})::text, '')`, byLabel),
  ];
}

type TextKey = ReplayKey & { readonly userId: string };

const TEXT_KEY = [...REPLAY_KEY, ...columnsOf<TextKey>({ userId: "text", write: "integer" })];

function answerParts(statements: Statements, requests: readonly WriteRequest[]): Part[] {
  const keys = replayKeysOf(requests).flatMap((key): TextKey[] =>
    writtenUsers(elementAt(requests, key.write)).map((userId) => ({ ...key, userId })),
  );
  if (keys.length === 0) return [];
  return [
    part`
      SELECT 'answer', t.write, NULL::text, NULL::text, NULL::integer, a.answer, a.revision, ${NO_TIMES}
      FROM (${arraysOf(TEXT_KEY, keys)}) AS t (slot, key_id, key, user_id, write)
      JOIN sideband.answers AS a ON a.slot = t.slot AND a.key_id = t.key_id AND a.idempotency_key = t.key
        AND a.user_id = t.user_id ${statements.slotsOf(keys, ({ slot }) => slot, "a")}`,
  ];
}

/** The counters of months of a group, each once. */
function countersIn(requests: readonly WriteRequest[]) {
  const counters = new Map<string, { readonly keyId: string; readonly month: string }>();
  for (const request of requests) {
    const month = request.quota?.month ?? "";
    for (const keyId of countersOf(request)) counters.set(counterName({ keyId, month }), { keyId, month });
  }
  return [...counters.values()];
}

function usedParts(statements: Statements, counters: ReturnType<typeof countersIn>): Part[] {
  const rows = counters.map(({ keyId, month: key }, number) => {
    return { slot: quotaSlot(keyId), keyId, key, number };
  });
  if (rows.length === 0) return [];
  return [
    part`
      SELECT 'used', t.number, NULL::text, NULL::text, NULL::integer, NULL::text, c.used, ${NO_TIMES}
      FROM (${arraysOf([...REPLAY_KEY, ...NUMBER], rows)}) AS t (slot, key_id, month, number)
      JOIN sideband.month_counters AS c ON c.slot = t.slot AND c.key_id = t.key_id AND c.month = t.month
        ${statements.slotsOf(rows, ({ slot }) => slot, "c")}`,
  ];
}

function followedPart(users: readonly GroupUser[]): Part {
  const accounts = [...new Set(users.map(({ account }) => account))];
  return part`
    SELECT 'followed', 0, account, NULL::text, NULL::integer, NULL::text, ${NO_FACT}
    FROM sideband.event_logs WHERE slot = 0 AND account = ANY(${accounts}::text[])`;
}
