/**
 * A user's line in an export: facts of all places in the form of GET /facts, and earlier values. An import writes a
 * whole line or nothing of it (law/imports.ts), and may be repeated. A large user has several lines, in which each label at
 * a place is whole. What is shared in a project has lines of the same form, with who wrote each value. A label that the account does not have is one of the person's own, with a number of the new store's.
 */

import { setImmediate } from "node:timers/promises";
import { assert } from "../base/assert.ts";
import { LABEL_FORM } from "../base/channel-labels.ts";
import { momentOf } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { FACT_ORIGINS, type FactOrigin } from "../base/fact-origins.ts";
import { inSlices, type Sliced } from "../base/slices.ts";
import { checkAccount, checkAuthor, checkIdentifier, checkValue, isIdentifier } from "./identifiers.ts";
import { checkLabelText } from "./label-terms.ts";
import {
  type AccountLabels,
  byPlaceAndChannel,
  type Labels,
  nearLabel,
  type OnChannel,
  unknownLabel,
} from "./labels.ts";
import type { FactName } from "./law/found-user.ts";
import { nameOf } from "./law/user-memory.ts";
import { OWN_PLACE, placesOf } from "./places.ts";
import type {
  EarlierFact,
  FactRecord,
  FormerLabel,
  ImportChange,
  PastValue,
  Store,
  UserLife,
} from "./ports.ts";
import { checkProjectName } from "./project-records.ts";
import type { FreeLabel, Place } from "./records.ts";
import { projectOfUser, projectUser } from "./shared-places.ts";

/** What is the same as the default is left out: place "", since = updated_at, ordinal 1, null. */
export interface ExportedFact {
  readonly label: string;
  readonly value: string;
  readonly channel: number;
  readonly revision: number;
  readonly updated_at: string;
  readonly since?: string;
  readonly place?: Place;
  readonly ordinal?: number;
  readonly written_by?: string;
  readonly session_id?: string;
  readonly expires_at?: string;
  readonly origin?: FactOrigin;
  readonly pinned?: true;
  /** Of what is shared: who wrote it. */
  readonly user_id?: string;
}

interface ExportedEarlier extends ExportedFact {
  readonly ended: EarlierFact["ended"];
  readonly ended_at: string;
  readonly former?: FormerLabel;
  /** Of what is shared: who has forgotten or renamed it. */
  readonly ended_by?: string;
}

export interface UserLine {
  readonly kind: "user";
  readonly account: string;
  readonly user_id: string;
  readonly facts: readonly ExportedFact[];
  readonly earlier?: readonly ExportedEarlier[];
  /** What the person's own labels are for, where it is known. */
  readonly labels?: readonly DescribedLabel[];
}

/** What is shared in a project. */
export interface SharedLine extends Omit<UserLine, "kind" | "user_id"> {
  readonly kind: "shared";
  readonly project: string;
}

/** The line of a hidden user, as it is written. */
export function writtenLine(line: UserLine): UserLine | SharedLine {
  const project = projectOfUser(line.user_id);
  if (project === undefined) return line;
  const { kind: _, account, user_id: __, ...rest } = line;
  return { kind: "shared", account, project, ...rest };
}

/** What is shared, as the line of a hidden user. It has been checked. */
export function userLineOf(line: UserLine | SharedLine): UserLine {
  if (line.kind === "user") return line;
  const { project, ...rest } = line;
  return { ...rest, kind: "user", user_id: projectUser(project) };
}

interface DescribedLabel {
  readonly label: string;
  readonly description: string;
}

const ENDINGS: readonly unknown[] = ["replaced", "forgotten", "expired", "renamed"];

export async function userLine(
  account: string,
  userId: string,
  { facts, earlier }: Pick<UserLife, "facts" | "earlier">,
  labels: Labels,
  free: ReadonlyMap<string, FreeLabel> = new Map(),
): Promise<UserLine> {
  const numbered = <F extends FactName>(value: F) => ({ ...value, number: free.get(value.label)?.number });
  const inOrder = async <F extends FactName>(values: readonly F[]) =>
    (await labels.withChannels(account, values.map(numbered))).sort(byPlaceAndChannel);
  const described = [...new Set([...earlier, ...facts].map(({ label }) => label))].sort().flatMap((label) => {
    const description = free.get(label)?.description ?? null;
    return description === null ? [] : [{ label, description }];
  });
  return {
    kind: "user",
    account,
    user_id: userId,
    facts: (await inOrder(facts)).map(exportedValue),
    ...(earlier.length === 0 ? {} : { earlier: (await inOrder(earlier)).map(exportedEarlier) }),
    ...(described.length === 0 ? {} : { labels: described }),
  };
}

function exportedEarlier(fact: OnChannel<EarlierFact>): ExportedEarlier {
  const { ended, endedAtMs, former, endedBy } = fact;
  const by = { ...(former && { former }), ...(endedBy && { ended_by: endedBy }) };
  return { ...exportedValue(fact), ended, ended_at: isoTime(endedAtMs), ...by };
}

function exportedValue(fact: OnChannel<FactRecord | EarlierFact>): ExportedFact {
  return {
    label: fact.label,
    value: fact.value,
    channel: fact.channel,
    revision: fact.revision,
    updated_at: isoTime(fact.updatedAtMs),
    ...(fact.sinceMs === fact.updatedAtMs ? {} : { since: isoTime(fact.sinceMs) }),
    ...(fact.place === OWN_PLACE ? {} : { place: fact.place }),
    ...(fact.ordinal === 1 ? {} : { ordinal: fact.ordinal }),
    ...(fact.writtenBy === null ? {} : { written_by: fact.writtenBy }),
    ...(fact.sessionId === null ? {} : { session_id: fact.sessionId }),
    ...(fact.expiresAtMs === null ? {} : { expires_at: isoTime(fact.expiresAtMs) }),
    ...(fact.origin === undefined ? {} : { origin: fact.origin }),
    ...(fact.pinned && { pinned: fact.pinned }),
    ...(fact.author === undefined ? {} : { user_id: fact.author }),
  };
}

/** Writes a line's facts, all or none; how many were written. The line has been checked. */
export async function importUserLine(
  store: Store,
  line: UserLine,
  options: { readonly labels: AccountLabels; readonly nowMs: number; readonly turn?: () => Promise<unknown> },
): Promise<number> {
  const { labels, nowMs, turn = () => setImmediate() } = options;
  const { account, user_id: userId } = line;
  const lives = await inSlices(livesIn(line, labels), turn);
  if (lives.length === 0) return 0;
  const changes = [{ kind: "import", lives } as const];
  const outcome = await store.write({ account, userId, changes, places: [], nowMs });
  if (outcome.outcome === "label_gone")
    throw new Failure(
      "unknown_label",
      `The label ${outcome.label} has just been removed. Import the line again.`,
    );
  assert(outcome.outcome === "stored" && outcome.report?.imported !== undefined, "an import is reported");
  return outcome.report.imported;
}

function* livesIn(line: UserLine, labels: AccountLabels): Sliced<ImportChange["lives"]> {
  const { facts, earlier = [] } = line;
  const descriptions = new Map(line.labels?.map(({ label, description }) => [label, description]));
  const freeTerms = (label: string) =>
    labels.find(label) === undefined ? { make: true, description: descriptions.get(label) } : undefined;
  const lives = new Map<string, ImportChange["lives"][number] & { values: PastValue[] }>();
  const oldestFirst = [...earlier].sort((a, b) => (a.ordinal ?? 1) - (b.ordinal ?? 1));
  for (const fact of [...oldestFirst, ...facts]) {
    yield;
    const { place = OWN_PLACE, label } = fact;
    const name = nameOf({ place, label });
    const known = lives.get(name) ?? { place, label, values: [], free: freeTerms(label) };
    known.values.push(pastValue(fact));
    lives.set(name, known);
  }
  return [...lives.values()];
}

function pastValue(fact: ExportedFact & Partial<ExportedEarlier>): PastValue {
  const { value, revision, ordinal = 1, updated_at, since = updated_at, ended, ended_at, expires_at } = fact;
  return {
    value,
    revision,
    ordinal,
    updatedAtMs: Date.parse(updated_at),
    sinceMs: Date.parse(since),
    writtenBy: fact.written_by ?? null,
    sessionId: fact.session_id ?? null,
    ...(expires_at === undefined ? {} : { expiresAtMs: Date.parse(expires_at) }),
    ...(ended === undefined || ended_at === undefined ? {} : { ended, endedAtMs: Date.parse(ended_at) }),
    ...(fact.former && { former: fact.former }),
    origin: fact.origin,
    pinned: fact.pinned,
    author: fact.user_id,
    endedBy: fact.ended_by,
  };
}

/**
 * Throws unless a line can be imported into an account with these labels.
 * @param isStrict whether no others come in
 */
export function* checkUserLine(line: UserLine, labels: AccountLabels, isStrict: boolean): Sliced<void> {
  const { facts, earlier = [], labels: described = [] } = line;
  if (!Array.isArray(facts) || !Array.isArray(earlier))
    throw invalidLine("the facts of a user must be a list");
  if (!Array.isArray(described) || !described.every(isDescribed))
    throw invalidLine("the labels of a user must be a list of labels and descriptions");
  for (const { description } of described) checkLabelText("description", description);
  for (const fact of facts) {
    yield;
    checkExported(fact, labels, isStrict);
  }
  for (const fact of earlier) {
    yield;
    checkExported(fact, labels, isStrict);
    if (!ENDINGS.includes(fact.ended) || !isTime(fact.ended_at))
      throw invalidLine("an earlier value has no end");
    const { ended_by: by } = fact;
    if (by !== undefined && (typeof by !== "string" || !isIdentifier(by)))
      throw invalidLine("ended_by must be a user_id");
    checkFormer(fact);
  }
  const names = facts.map(({ label, place = OWN_PLACE }) => nameOf({ place, label }));
  if (new Set(names).size < names.length) throw invalidLine("a label is given twice");
}

/** What must hold before anything else is asked of a line. */
export function checkUserName(line: UserLine): void {
  if (typeof line.account !== "string" || typeof line.user_id !== "string")
    throw invalidLine("account and user_id must be texts");
  checkAccount(line.account);
  checkIdentifier(line.user_id, "user_id");
}

/** The same of what is shared. */
export function checkSharedName(line: SharedLine): void {
  if (typeof line.account !== "string" || typeof line.project !== "string")
    throw invalidLine("account and project must be texts");
  checkAccount(line.account);
  checkProjectName(line.project);
}

function checkExported(fact: ExportedFact, labels: AccountLabels, isStrict: boolean): void {
  const { label, value, revision, updated_at, since = updated_at, place = OWN_PLACE } = fact ?? {};
  const {
    ordinal = 1,
    written_by: writtenBy,
    session_id: sessionId,
    expires_at,
    origin,
    pinned,
    user_id: author,
  } = fact ?? {};
  if (typeof label !== "string" || typeof value !== "string")
    throw invalidLine("labels and values must be texts");
  if (labels.find(label) === undefined && (isStrict || !LABEL_FORM.test(label)))
    throw unknownLabel(nearLabel(label, labels), isStrict);
  checkValue(value);
  if (typeof place !== "string") throw invalidLine("a place must be a text");
  if (place !== OWN_PLACE) placesOf(place);
  const isText = (text: unknown) => text === undefined || text === null || typeof text === "string";
  if (!isText(writtenBy) || !isText(sessionId)) throw invalidLine("written_by and session_id must be texts");
  checkAuthor({ writtenBy: writtenBy ?? undefined, sessionId: sessionId ?? undefined });
  if (!Number.isInteger(revision) || !isTime(updated_at) || !isTime(since) || !isOrdinal(ordinal))
    throw invalidLine("a fact has no revision or time");
  if (expires_at !== undefined && !isTime(expires_at)) throw invalidLine("a fact has no sound expires_at");
  if (origin !== undefined && !FACT_ORIGINS.includes(origin))
    throw invalidLine(`an origin is one of ${FACT_ORIGINS.join(", ")}`);
  if (!isText(author)) throw invalidLine("a user_id must be a text");
  if (author != null) checkIdentifier(author, "user_id");
  if (pinned !== undefined && pinned !== true) throw invalidLine("pinned is true where it is there");
}

/** The label that an earlier value had, as a person's own and the account's are written. */
function checkFormer({ ended, former }: ExportedEarlier): void {
  if (former === undefined && ended !== "renamed") return;
  const { label, description } = former ?? {};
  const isText = description === null || typeof description === "string";
  if (typeof label !== "string" || !LABEL_FORM.test(label) || !isText)
    throw invalidLine("an earlier value has no former label");
  if (description !== null) checkLabelText("description", description);
}

function isDescribed(described: Partial<DescribedLabel> | null): boolean {
  return typeof described?.label === "string" && typeof described.description === "string";
}

/** One that all stores can hold, and go on from. */
function isOrdinal(number: unknown): boolean {
  return Number.isInteger(number) && (number as number) >= 1 && (number as number) < 2 ** 30;
}

/** Stores hold times from 1970 on. */
function isTime(text: unknown): boolean {
  return typeof text === "string" && (momentOf(text) ?? -1) >= 0;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function invalidLine(reason: string): Failure {
  return new Failure("invalid_request", `This line cannot be imported: ${reason}.`);
}
