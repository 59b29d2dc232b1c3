/**
 * Sharing a project, changing who shares it, ending that, and erasing what was shared. The record comes first, and goes
 * last: whoever writes meanwhile comes before that, or is refused (law/sharing.ts). So a call that was cut off is
 * repeated.
 */

import { assert } from "../base/assert.ts";
import { scopeOfLabel } from "../base/channel-labels.ts";
import { Failure } from "../base/errors.ts";
import { SHARED_PROJECTS_MAX, withThousands } from "../base/limits.ts";
import { checkIdentifier } from "./identifiers.ts";
import { isMember } from "./law/sharing.ts";
import { isNamed } from "./law/user-memory.ts";
import { OWN_PLACE } from "./places.ts";
import type { EarlierFact, FactRecord, MoveChange, SharedProject } from "./ports.ts";
import { checkMembers, checkProjectName } from "./project-records.ts";
import type { KeyAccess, ProjectRecord } from "./records.ts";
import type { MemoryServices } from "./services.ts";
import { projectUser, sharedPlace } from "./shared-places.ts";

interface Taking {
  readonly userId: string;
  /** undefined: all but those of a worktree. */
  readonly labels?: readonly string[] | undefined;
}

interface SharingInput {
  readonly project: string;
  readonly members?: readonly string[] | null | undefined;
  readonly access?: KeyAccess | undefined;
  readonly take?: Taking | undefined;
  readonly dryRun?: boolean | undefined;
}

type TakenFact = Readonly<Record<"label" | "value", string>>;

/** How much is shared in a project. */
export interface SharedFacts {
  readonly count: number;
  /** When a fact was last written; null where there is none. */
  readonly updatedAtMs: number | null;
}

interface SharingResult {
  readonly record: ProjectRecord;
  readonly shared: SharedFacts;
  readonly taken: readonly TakenFact[];
}

/** How often what was written meanwhile is given, or erased, too. */
const ATTEMPTS_MAX = 10;

/** Shares a project, or changes who shares it. */
export async function shareProject(
  services: MemoryServices,
  account: string,
  input: SharingInput,
): Promise<SharingResult> {
  const { project, members, access, take, dryRun = false } = input;
  const { store, clock, projects } = services;
  checkProjectName(project);
  if (members != null) checkMembers(members);
  if (take !== undefined) checkIdentifier(take.userId, "user_id");
  const change = { project, createdAtMs: clock.now(), members, access };
  const known = (await projects.of(account, true)).get(project);
  const planned: ProjectRecord = {
    ...(known ?? { ...change, members: null, access: "write" }),
    ...(members === undefined ? {} : { members }),
    ...(access === undefined ? {} : { access }),
  };
  if (take !== undefined && !isMember(planned, take.userId)) throw notAMember("take.user_id", take.userId);
  if (dryRun) {
    const taken = take === undefined ? [] : await takenFacts(services, account, project, take);
    return { record: planned, shared: await describeShared(services, account, project), taken };
  }
  const record = await store.changeProject(account, given(change));
  if (record === undefined)
    throw new Failure(
      "projects_full",
      `An account shares at most ${withThousands(SHARED_PROJECTS_MAX)} projects. End the sharing of one first.`,
    );
  const taken = take === undefined ? [] : await takeFacts(services, account, project, take);
  return { record, shared: await describeShared(services, account, project), taken };
}

/** Ends the sharing; how many facts a member has got. */
export async function unshareProject(
  services: MemoryServices,
  account: string,
  { project, giveTo }: { readonly project: string; readonly giveTo?: string | undefined },
): Promise<number> {
  const record = await knownProject(services, account, project);
  if (giveTo !== undefined) {
    checkIdentifier(giveTo, "user_id");
    if (!isMember(record, giveTo)) throw notAMember("give_to", giveTo);
  }
  let given = 0;
  for (let i = 0; i < ATTEMPTS_MAX; i++) {
    if (giveTo !== undefined) {
      const change = { kind: "move", from: sharedPlace(project), to: project } as const;
      given += (await move(services, account, giveTo, project, change)).moved;
    }
    const outcome = await services.store.removeProject(account, project);
    if (outcome !== "in_use") return given;
    if (giveTo === undefined) break;
  }
  throw new Failure(
    "project_has_facts",
    `The project ${project} has shared facts, or earlier values. give_to names the member who gets them; DELETE erases them for all.`,
    { param: "give_to" },
  );
}

/** Erases what is shared, for all, and ends the sharing; how many facts there were. */
export async function eraseProject(
  services: MemoryServices,
  account: string,
  project: string,
): Promise<number> {
  await knownProject(services, account, project);
  let erased = 0;
  for (let i = 0; i < ATTEMPTS_MAX; i++) {
    erased += (await services.store.forgetUser(account, projectUser(project)))?.facts ?? 0;
    if ((await services.store.removeProject(account, project)) !== "in_use") return erased;
  }
  throw new Failure("overloaded", "Members write faster than it can be erased: remove them first.", {
    retryAfterS: 1,
  });
}

/** Takes the name of a user out of what is shared in the account; how many values had it, by project. */
export async function disown(
  { store, clock, projects }: Pick<MemoryServices, "store" | "clock" | "projects">,
  account: string,
  author: string,
): Promise<Map<string, number>> {
  const values = new Map<string, number>();
  for (const project of (await projects.of(account, true)).keys()) {
    const userId = projectUser(project);
    // Most projects do not have the name: they need not be locked.
    const life = await store.readLife(account, userId, { nowMs: clock.now(), place: OWN_PLACE });
    const isOfAuthor = (fact: FactRecord | EarlierFact) => isNamed(fact, author);
    if (!life?.facts.some(isOfAuthor) && !life?.earlier.some(isOfAuthor)) continue;
    const changes = [{ kind: "disown", author } as const];
    const outcome = await store.write({ account, userId, changes, places: [], nowMs: clock.now() });
    assert(outcome.outcome === "stored" && outcome.report?.disowned !== undefined, "it is reported");
    if (outcome.report.disowned > 0) values.set(project, outcome.report.disowned);
  }
  return values;
}

export async function describeShared(
  { store, clock }: MemoryServices,
  account: string,
  project: string,
): Promise<SharedFacts> {
  const described = await store.describeUser(account, projectUser(project), clock.now());
  return { count: described?.facts.get(OWN_PLACE) ?? 0, updatedAtMs: described?.updatedAtMs ?? null };
}

export async function knownProject(
  { projects }: Pick<MemoryServices, "projects">,
  account: string,
  project: string,
): Promise<ProjectRecord> {
  checkProjectName(project);
  const record = (await projects.of(account, true)).get(project);
  if (record === undefined) throw unknownProject(project);
  return record;
}

export function unknownProject(project: string): Failure {
  return new Failure("not_found", `The account shares no project ${project}.`, { param: "project" });
}

function notAMember(param: string, userId: string): Failure {
  return new Failure("not_a_member", `${userId} does not share the project. Nothing was changed.`, { param });
}

/** What is moved of a person's own: not what belongs to the main worktree, whose place is that of the project. */
async function meantBy(
  { labels }: Pick<MemoryServices, "labels">,
  account: string,
  { labels: named }: Taking,
): Promise<NonNullable<MoveChange["only"]>> {
  const wanted = named && new Set(named);
  if (wanted !== undefined) return { isMeant: (label) => wanted.has(label), named: [...wanted] };
  const known = await labels.of(account, true);
  const isMeant = (label: string) => (known.find(label)?.scope ?? scopeOfLabel(label)) !== "worktree";
  return { isMeant, named: [] };
}

async function takenFacts(
  services: MemoryServices,
  account: string,
  project: string,
  take: Taking,
): Promise<TakenFact[]> {
  const { isMeant, named } = await meantBy(services, account, take);
  const query = { nowMs: services.clock.now(), place: project, isPresent: true };
  const facts = (await services.store.readLife(account, take.userId, query))?.facts ?? [];
  const taken = facts.flatMap(({ label, value }) => (isMeant(label) ? [{ label, value }] : []));
  const there = new Set(taken.map(({ label }) => label));
  const missing = named.find((label) => !there.has(label));
  if (missing === undefined) return taken;
  throw new Failure("fact_not_found", `The user has no fact on ${missing} in the project.`, {
    param: "take.labels",
  });
}

async function takeFacts(
  services: MemoryServices,
  account: string,
  project: string,
  take: Taking,
): Promise<readonly TakenFact[]> {
  const only = await meantBy(services, account, take);
  const change = { kind: "move", from: project, to: sharedPlace(project), only } as const;
  return (await move(services, account, take.userId, project, change)).movedFacts ?? [];
}

/** Between a person's own place in the project and what is shared, all or none. */
async function move(
  { store, clock, blocks }: MemoryServices,
  account: string,
  userId: string,
  project: string,
  change: MoveChange,
) {
  const shared: SharedProject = { project, isForAccount: true };
  const write = { account, userId, shared, changes: [change], places: [], nowMs: clock.now() };
  const outcome = await store.write(write);
  assert(outcome.outcome === "stored" && outcome.report?.moved !== undefined, "a move is reported");
  blocks.drop(account, userId);
  return { moved: outcome.report.moved, movedFacts: outcome.report.movedFacts };
}

/** Without what was not sent. */
function given<T extends object>(fields: T) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
