/** The writes of facts. Each runs inside a group's transaction. */

import { assert, elementAt } from "../../base/assert.ts";
import { findChannel } from "../../base/channels.ts";
import { atOnce, type Sliced } from "../../base/slices.ts";
import { hasWritten } from "../../memory/audit.ts";
import { writtenUsers } from "../../memory/law/answers.ts";
import { JointMemory } from "../../memory/law/joint-memory.ts";
import { applyLaw, type Decision, isWhole, readingOf, readingsOf } from "../../memory/law/law.ts";
import type { PlacedCode, PlacedVector, WriteOutcome, WriteRequest } from "../../memory/ports.ts";
import { accountCounter } from "../../memory/quota.ts";
import type { EndedFact, ProjectRecord } from "../../memory/records.ts";
import { projectUser, sharedPlace } from "../../memory/shared-places.ts";
import { forgetNames, keepNote } from "./audit.ts";
import {
  counterName,
  factKey,
  factOfEndKey,
  goneLabelKey,
  momentOfEndKey,
  momentPrefix,
  projectKey,
  splitFactKey,
  userKey,
} from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import type { LongWrite } from "./long-writes.ts";
import { packFact, unpackFact, unpackJson, unpackUser, unpackVector } from "./records.ts";
import { findReplay, forgetAnswers, keepReplay } from "./replays.ts";
import { UserWrites } from "./user-facts.ts";
import { noteForgetting, type Write, type Writer } from "./writer.ts";

/** Facts of a user, or values of an import, that are read and changed in one go. */
const LONG_FACTS = 64;

/** Locks by its turn, or while it is prepared: what the law reads, and what becomes of it, is of one transaction. */
export function writeFacts(request: WriteRequest, historyMax: number): LongWrite<WriteOutcome> {
  const { account } = request;
  return {
    account,
    users: writtenUsers(request).map((user) => userName(account, user)),
    isLong: (writer) => isLong(writer, request),
    prepare: (writer) => prepare(writer, request, historyMax),
  };
}

export function userName(account: string, userId: string): string {
  return `${account}\0${userId}`;
}

function isLong(writer: Writer, request: WriteRequest): boolean {
  const { account, changes } = request;
  const [first] = changes;
  if (first?.kind === "import") return first.lives.length > LONG_FACTS;
  if (!isWhole(request)) return false;
  try {
    return writtenUsers(request).some((user) => {
      const bytes = writer.get("facts", userKey(account, user));
      const { facts, heads } = bytes === undefined ? { facts: 0, heads: 0 } : unpackUser(bytes);
      return facts + heads > LONG_FACTS;
    });
  } catch {
    return true;
  }
}

function* prepare(writer: Writer, request: WriteRequest, historyMax: number): Sliced<WriteOutcome> {
  const { account, userId, nowMs, changes, shared } = request;
  if (shared !== undefined) return yield* prepareShared(writer, request, shared.project, historyMax);
  const isErasing = changes[0]?.kind === "erase";
  const replay = findReplay(writer, request);
  const used = usedBefore(writer, request);
  const user = new UserWrites(writer, account, userId, isErasing);
  const memory = yield* user.read(readingOf(request), historyMax);
  const others = user.countOthers(request, memory);
  const gone = goneLabels(writer, request);
  const decision = yield* applyLaw(memory, request, { replay, used, others, gone });
  const { outcome } = decision;
  if (outcome.outcome !== "stored") return outcome;
  yield* user.save(memory, nowMs);
  count(writer, request, decision.counted);
  noteWrite(writer, request, outcome);
  if (changes[0]?.kind === "import") writer.atCommit((at) => goneLabels(at, request).size === gone.size);
  if (outcome.report?.disowned) noteForgetting(writer, nowMs);
  yield* storeAnswer(writer, request, outcome, decision);
  return outcome;
}

/** The same of a person and a project together, which is shared until the commit. */
function* prepareShared(
  writer: Writer,
  request: WriteRequest,
  project: string,
  historyMax: number,
): Sliced<WriteOutcome> {
  const { account, userId, nowMs, places, groups } = request;
  const key = projectKey(account, project);
  const bytes = writer.get("projects", key);
  const sharing = bytes && unpackJson<ProjectRecord>(bytes);
  const replay = findReplay(writer, request);
  const used = usedBefore(writer, request);
  const place = sharedPlace(project);
  const [own, team] = [userId, projectUser(project)].map((user) => new UserWrites(writer, account, user));
  const readings = readingsOf(request);
  const ownMemory = yield* own!.read(readings.own, historyMax);
  const teamMemory = yield* team!.read(readings.shared, historyMax);
  const live = new Set([
    ...own!.liveLabels(
      places.filter((at) => at !== place),
      nowMs,
      groups,
    ),
    ...(places.includes(place) ? team!.liveLabels([""], nowMs, groups) : []),
  ]);
  for (const { label } of readingOf(request).names) live.delete(label);
  const gone = goneLabels(writer, request);
  const memory = new JointMemory(ownMemory, teamMemory, place);
  const found = { replay, used, others: live.size, gone, sharing };
  const decision = yield* applyLaw(memory, request, found);
  const { outcome } = decision;
  if (outcome.outcome !== "stored") return outcome;
  yield* own!.save(ownMemory, nowMs);
  yield* team!.save(teamMemory, nowMs);
  count(writer, request, decision.counted);
  noteWrite(writer, request, outcome);
  writer.atCommit((at) => isSameRecord(at.get("projects", key), bytes));
  yield* storeAnswer(writer, request, outcome, decision);
  return outcome;
}

function* storeAnswer(
  writer: Writer,
  request: WriteRequest,
  { channelCount }: { readonly channelCount: number },
  { isWiped, answer }: Decision,
): Sliced<void> {
  if (isWiped) for (const user of writtenUsers(request)) yield* forgetAnswers(writer, request.account, user);
  if (answer !== undefined) keepReplay(writer, request, channelCount, answer);
}

/** Whoever is erased loses the name in the audit too: at the commit, since others may have named them meanwhile. */
function noteWrite(writer: Writer, request: WriteRequest, outcome: WriteOutcome): void {
  const {
    account,
    userId,
    changes: [first],
    audit,
  } = request;
  if (first?.kind === "erase" && first.within === null)
    writer.atCommit((at) => forgetNames(at, account, userId));
  if (audit !== undefined && hasWritten(request, outcome)) writer.atCommit((at) => keepNote(at, audit));
}

function isSameRecord(now: Buffer | undefined, before: Buffer | undefined): boolean {
  return now === undefined || before === undefined ? now === before : now.equals(before);
}

/** Removed labels among those that are named. */
function goneLabels(writer: Writer, request: WriteRequest): ReadonlySet<string> {
  const gone = new Set<string>();
  for (const { label } of readingOf(request).names)
    if (findChannel(label) === undefined && writer.has("labels", goneLabelKey(request.account, label)))
      gone.add(label);
  return gone;
}

function usedBefore(writer: Writer, { quota }: WriteRequest): number {
  return quota === undefined ? 0 : writer.count(counterName(quota.counter ?? quota.keyId, quota.month));
}

/** Where others have counted meanwhile, and there is no room left, the law decides again. */
function count(writer: Writer, { account, quota }: WriteRequest, counted: number): void {
  if (quota === undefined || counted === 0) return;
  const { keyId, limit, counter = keyId } = quota;
  const [month, day] = [counterName(keyId, quota.month), counterName(keyId, quota.day)];
  const whole = counterName(accountCounter(account), quota.month);
  writer.atCommit((at) => {
    const used = at.count(counterName(counter, quota.month)) + counted;
    if (limit !== null && used > limit) return false;
    // Also where the account has no limit now: it may get one, and what its keys have used then counts.
    at.setCount(whole, at.count(whole) + counted);
    at.setCount(month, at.count(month) + counted);
    at.setCount(day, at.count(day) + counted);
    return true;
  });
}

/** Facts that expire, as many entries of the list of ends as are asked for. */
interface DueFact extends Omit<EndedFact, "revision"> {
  readonly key: Buffer;
}

/** What has expired, of each user. */
export function dueFacts(environment: Environment, nowMs: number, countMax: number): DueFact[][] {
  const byUser = new Map<string, DueFact[]>();
  for (const key of environment.keys("ends", { end: momentPrefix(nowMs + 1), limit: countMax })) {
    const name = splitFactKey(factOfEndKey(key));
    const user = userName(name.account, name.userId);
    const due = { ...name, key, endedAtMs: momentOfEndKey(key) };
    byUser.set(user, [...(byUser.get(user) ?? []), due]);
  }
  return [...byUser.values()];
}

/** Moves facts of one user that have expired to the history. */
export function endFacts(due: readonly DueFact[], nowMs: number, historyMax: number): Write<EndedFact[]> {
  return (writer) => {
    const { account, userId } = elementAt(due, 0);
    assert(
      due.every(({ endedAtMs }) => endedAtMs <= nowMs),
      "what ends has expired",
    );
    const changes = due.map(({ place, label }) => ({ kind: "expire", place, label }) as const);
    const outcome = atOnce(prepare(writer, { account, userId, changes, places: [], nowMs }, historyMax));
    // An entry whose fact is gone, or expires later, cannot be left: it would be found for ever.
    for (const { key } of due) writer.remove("ends", key);
    assert(outcome.outcome === "stored", "an end has no condition and no limit");
    return due.flatMap(({ key: _, ...fact }) => {
      const ended = outcome.events.find((e) => e.place === fact.place && e.label === fact.label);
      return ended === undefined ? [] : [{ ...fact, revision: ended.revision }];
    });
  };
}

export function saveCodes(account: string, userId: string, codes: readonly PlacedCode[]): Write<void> {
  return (writer) => {
    for (const { place, label, revision, value, code } of codes) {
      const key = factKey(account, userId, { place, label });
      const bytes = writer.get("facts", key);
      if (bytes === undefined) continue;
      const fact = unpackFact(place, label, bytes);
      if (fact.revision !== revision || fact.value !== value) continue;
      writer.put("facts", key, packFact({ ...fact, code }, unpackVector(bytes)));
    }
  };
}

/** With the same revision a fact has the same value. */
export function saveVectors(account: string, userId: string, vectors: readonly PlacedVector[]): Write<void> {
  return (writer) => {
    for (const { place, label, revision, vector } of vectors) {
      const key = factKey(account, userId, { place, label });
      const bytes = writer.get("facts", key);
      const fact = bytes && unpackFact(place, label, bytes);
      if (fact?.revision === revision) writer.put("facts", key, packFact(fact, vector));
    }
  };
}
