/**
 * A group of writes as one transaction of two trips: what the writes name is locked and read (queries/group-reads), the
 * law decides them one after the other (memory/law), and what has become of the users is stored and committed
 * (queries/group-writes). Nothing that is read before the lock is written after it.
 */

import { assert, elementAt } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import type { FairTurns } from "../../base/fair-turns.ts";
import { inSlices, type Sliced } from "../../base/slices.ts";
import { hasWritten } from "../../memory/audit.ts";
import { type KeptAnswer, writtenUsers } from "../../memory/law/answers.ts";
import type { PlaceCounts } from "../../memory/law/found-user.ts";
import { JointMemory } from "../../memory/law/joint-memory.ts";
import { applyLaw, type Decision, readingOf } from "../../memory/law/law.ts";
import { type Memory, UserMemory } from "../../memory/law/user-memory.ts";
import type { WriteOutcome, WriteRequest } from "../../memory/ports.ts";
import type { AuditNote, Place } from "../../memory/records.ts";
import { eventUser, isShared, projectOfUser, sharedPlace } from "../../memory/shared-places.ts";
import type { Transaction } from "./connection/database.ts";
import { ConflictError } from "./connection/database-failure.ts";
import { counterName, countersOf, type GroupUser, projectName, usersOf } from "./queries/group-locks.ts";
import { type FoundGroup, type ListedLabels, readGroup } from "./queries/group-reads.ts";
import { type GroupRecords, storeGroup } from "./queries/group-writes.ts";
import { countPlaces, mayBecomeFull } from "./queries/place-counts.ts";
import { Statements } from "./queries/statements.ts";

export interface GroupOptions {
  /** How many earlier values of a fact are kept. */
  readonly historyMax: number;
  /** The tables are distributed. */
  readonly isCluster: boolean;
  /** Shares the event loop between accounts. */
  readonly turns: FairTurns;
  /** Everything is done but the commit. */
  readonly isTrial?: boolean;
}

/** What a write is answered, or why the law refuses it. */
type WriteResult = WriteOutcome | Failure;

/** @param requests at least one; an idempotency key at most once, and work on a whole user alone with its user */
export function groupTransaction(
  requests: readonly WriteRequest[],
  { historyMax, isCluster, turns, isTrial }: GroupOptions,
): Transaction<WriteResult[]> {
  const { account } = elementAt(requests, 0);
  const group = usersOf(requests);
  const { users, userOf, projectOf } = group;
  const turn = () => turns.next(account);
  let isAnew = false;
  return async (sql, onSend) => {
    const statements = new Statements(sql, isCluster, isTrial);
    try {
      const found = await readGroup(statements, requests, group, turn, isAnew);
      const counts = new Map<number, PlaceCounts>();
      for (const [i, user] of found.users.entries())
        if (mayBecomeFull(user)) counts.set(i, await countPlaces(statements, elementAt(users, i), user));
      const memories = await inSlices(memoriesOf(users, found, counts, historyMax), turn);
      const memoriesFor = (i: number): WriteMemories => {
        const project = projectOf.get(i);
        const own = elementAt(memories, elementAt(userOf, i));
        return { own, shared: project === undefined ? undefined : elementAt(memories, project) };
      };
      const deciding = decide(requests, memoriesFor, found);
      const decisions = await inSlices(deciding, turn);
      const isLater = (memory: UserMemory, i: number) =>
        memory.revision >= elementAt(found.users, i).revision;
      assert(memories.every(isLater), "a revision is not used twice");
      const ofUser = (i: number) => elementAt(users, elementAt(userOf, i));
      const records = recordsOf(requests, decisions, ofUser, found);
      const isChanged = decisions.some(
        (decision) => !(decision instanceof Failure) && decision.outcome.outcome === "stored",
      );
      let used: ReadonlyMap<string, number> = new Map();
      if (isChanged) {
        onSend();
        used = await storeGroup(statements, users, memories, records, turn);
      } else await statements.run("ROLLBACK");
      return resultsOf(requests, decisions, found.used, used);
    } catch (error) {
      await statements.run("ROLLBACK").catch(() => {});
      isAnew ||= error instanceof ConflictError;
      throw error;
    }
  };
}

function* memoriesOf(
  users: readonly GroupUser[],
  found: FoundGroup,
  counts: ReadonlyMap<number, PlaceCounts>,
  historyMax: number,
): Sliced<UserMemory[]> {
  const memories: UserMemory[] = [];
  for (const [i, { revision, facts, heads, numbers, labels, named }] of found.users.entries()) {
    const { userId, inside } = elementAt(users, i);
    const isWhole = inside.length > 0;
    const isOfProject = projectOfUser(userId) !== undefined;
    const user = { revision, facts, heads, numbers, labels, named: [], isWhole, counts: counts.get(i) };
    const memory = new UserMemory({ ...user, isOfProject }, historyMax);
    for (const fact of named) {
      yield;
      memory.add(fact);
    }
    memories.push(memory);
  }
  return memories;
}

const NONE: ReadonlySet<string> = new Set();

/** That of a write's person, and of the project that is shared. */
interface WriteMemories {
  readonly own: UserMemory;
  readonly shared: UserMemory | undefined;
}

function* decide(
  requests: readonly WriteRequest[],
  memoriesFor: (write: number) => WriteMemories,
  { replays, used, channelCounts, gone, listed, projects }: FoundGroup,
): Sliced<(Decision | Failure)[]> {
  const counts = new Map(used);
  const others = requests.map(
    ({ places, nowMs }, i) => elementAt(channelCounts, i) - memoriesFor(i).own.countLive(places, nowMs),
  );
  const decisions: (Decision | Failure)[] = [];
  for (const [i, request] of requests.entries()) {
    const { quota } = request;
    const counter = quota === undefined || quota.limit === null ? undefined : counterName(quota);
    const { account, shared } = request;
    const memories = memoriesFor(i);
    const memory = jointMemory(request, memories);
    const found = {
      replay: replays.get(i)?.replay,
      used: counter === undefined ? 0 : (counts.get(counter) ?? 0),
      others: shared === undefined ? elementAt(others, i) : countOthers(request, memories, listed.get(i)),
      gone: gone.get(account) ?? NONE,
      sharing: shared && projects.get(projectName(account, shared.project)),
    };
    try {
      const decision = yield* memory.attempt(applyLaw(memory, request, found));
      for (const name of countersOfMonth(request))
        if (name === counter || counts.has(name))
          counts.set(name, (counts.get(name) ?? 0) + decision.counted);
      decisions.push(decision);
    } catch (error) {
      // A damaged row, or an error of the programmer: then each write is tried by itself (group-commit.ts).
      if (!(error instanceof Failure)) throw error;
      decisions.push(error);
    }
  }
  return decisions;
}

function countersOfMonth(request: WriteRequest): string[] {
  const month = request.quota?.month ?? "";
  return countersOf(request).map((keyId) => counterName({ keyId, month }));
}

function jointMemory({ shared: named }: WriteRequest, { own, shared }: WriteMemories): Memory {
  return named && shared ? new JointMemory(own, shared, sharedPlace(named.project)) : own;
}

/** Labels with a live fact in the places of the person and of the project, but for those that the write names. */
function countOthers(
  request: WriteRequest,
  { own, shared }: WriteMemories,
  listed: ListedLabels = { own: [], shared: [] },
): number {
  const { places, nowMs, groups } = request;
  const live = new Set<string>();
  // Of what the group has named, the memories know more than what was read before.
  const add = (memory: UserMemory, at: readonly string[], labels: readonly string[]) => {
    const asked = memory.askedLabels;
    for (const label of labels) if (!asked.has(label)) live.add(label);
    for (const label of memory.liveLabels(at, nowMs)) live.add(label);
  };
  add(
    own,
    places.filter((place) => !isShared(place)),
    listed.own,
  );
  if (shared !== undefined) add(shared, places.some(isShared) ? [""] : [], listed.shared);
  for (const { label } of readingOf(request).names) live.delete(label);
  return [...live].filter((label) => groups?.has(label) ?? true).length;
}

/** As the counters are now: others may have counted since they were read. */
function resultsOf(
  requests: readonly WriteRequest[],
  decisions: readonly (Decision | Failure)[],
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): WriteResult[] {
  const byOthers = new Map([...after].map(([name, used]) => [name, used - (before.get(name) ?? 0)]));
  for (const [i, decision] of decisions.entries()) {
    if (decision instanceof Failure) continue;
    for (const name of countersOfMonth(elementAt(requests, i))) {
      const more = byOthers.get(name);
      if (more !== undefined) byOthers.set(name, more - decision.counted);
    }
  }
  return decisions.map((decision, i) => {
    if (decision instanceof Failure) return decision;
    const { outcome } = decision;
    const { quota } = elementAt(requests, i);
    const more = quota === undefined || quota.limit === null ? 0 : (byOthers.get(counterName(quota)) ?? 0);
    return more === 0 ? outcome : { ...outcome, used: outcome.used + more };
  });
}

function recordsOf(
  requests: readonly WriteRequest[],
  decisions: readonly (Decision | Failure)[],
  userOf: (write: number) => GroupUser,
  { replays, followed, used }: FoundGroup,
): GroupRecords {
  const kept = new Map<WriteRequest, KeptAnswer & { readonly channelCount: number }>();
  const unkept: WriteRequest[] = [];
  const wiped: GroupRecords["wiped"][number][] = [];
  const counted: GroupRecords["counted"][number][] = [];
  const events: GroupRecords["events"][number][] = [];
  const erased: GroupRecords["erased"][number][] = [];
  const notes: AuditNote[] = [];
  for (const [i, decision] of decisions.entries()) {
    const request = elementAt(requests, i);
    const { account, userId } = request;
    if (decision instanceof Failure || decision.outcome.outcome !== "stored") {
      if (replays.get(i)?.isNew) unkept.push(request);
      continue;
    }
    const { outcome, answer, isWiped, counted: count } = decision;
    if (isWiped) {
      const users = writtenUsers(request);
      wiped.push(...users.map((user) => ({ account, userId: user })));
      for (const [other, { texts, ...numbers }] of kept)
        if (other.account === account)
          kept.set(other, { ...numbers, texts: texts.filter((text) => !users.includes(text.userId)) });
    }
    const { channelCount } = outcome;
    if (answer !== undefined) kept.set(request, { channelCount, ...answer });
    if (request.quota !== undefined && count > 0)
      counted.push({ quota: request.quota, user: userOf(i), count });
    const isTold = outcome.events.length > 0;
    for (const change of request.changes)
      if (change.kind === "erase")
        erased.push({ account, nowMs: request.nowMs, isTold, ...erasedAt(userId, change.within) });
    if (request.audit !== undefined && hasWritten(request, outcome)) notes.push(request.audit);
    if (followed.has(account))
      events.push(
        ...outcome.events.map((event) => ({ ...event, account, ...eventUser(userId, event.place) })),
      );
  }
  return { kept, unkept, wiped, erased, notes, counted, used, events };
}

function erasedAt(userId: string, within: Place | null) {
  const told = eventUser(userId, within ?? "");
  return { userId: told.userId, within: told.userId === userId ? within : told.place };
}
