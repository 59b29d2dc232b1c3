/**
 * What members of a project share, in the model: the memory of a hidden user, which each member sees as one more place, between
 * their own and the project's. Facts go there, and back, with their past. (docs/decisions/0031)
 */

import { isShared, projectOfPlace, projectUser, sharedPlace } from "../../../src/memory/shared-places.ts";
import { placesOf } from "./places.ts";
import { Refused } from "./refused.ts";
import { type Life, type Past, type Present, shownLife } from "./values.ts";

/** Who shares a project, by its name; null: all of the account. */
export type Sharings = Map<string, readonly string[] | null>;

interface Person {
  readonly user: string;
  readonly project?: string | undefined;
}

/** The places of a call, the person's own first. */
export function viewedPlaces(sharings: Sharings, { user, project }: Person): string[] {
  const [own, ...inner] = placesOf(project);
  const isSharing = inner.length > 0 && isMember(sharings, inner[0], user);
  return [own, ...(isSharing ? [sharedPlace(inner[0])] : []), ...inner];
}

function isMember(sharings: Sharings, project: string, user: string): boolean {
  const members = sharings.get(project);
  return members !== undefined && (members?.includes(user) ?? true);
}

/** Whose memory has a place, and where in it. */
export function keptAt(user: string, place: string): [owner: string, place: string] {
  const project = projectOfPlace(place);
  return project === undefined ? [user, place] : [projectUser(project), ""];
}

/** The author of a value that is written there. */
export function authorAt(user: string, place: string): string | undefined {
  return isShared(place) ? user : undefined;
}

/** A team's lives as its members see them. */
export function seenAt(place: string, lives: readonly Life[]): Life[] {
  if (!isShared(place)) return [...lives];
  return lives.map(({ label, present, past }) => ({
    label,
    place,
    present: present && { ...present, place },
    past: past.map((value) => ({ ...value, place })),
  }));
}

/** Who has forgotten or renamed the last value of a past. */
export function nameEnder(life: Life, endedBy: string | undefined): void {
  const last = life.past.at(-1);
  if (last !== undefined && endedBy !== undefined) life.past.splice(-1, 1, { ...last, endedBy });
}

/** Takes a name out; how many values had it. */
export function disown(lives: Iterable<Life>, name: string): number {
  let count = 0;
  const without = <V extends Present | Past>(value: V): V => {
    const isWriter = value.author === name;
    const isEnder = "endedBy" in value && value.endedBy === name;
    if (!isWriter && !isEnder) return value;
    count += 1;
    const written = isWriter ? { author: undefined, sessionId: null } : {};
    return { ...value, ...written, ...(isEnder && { endedBy: undefined }) };
  };
  for (const life of lives) {
    life.present = life.present && without(life.present);
    life.past = life.past.map(without);
  }
  return count;
}

/** What a life becomes at another place that has nothing on its label. @param owner whose it was; undefined: it was the team's */
export function movedLife(
  life: Life,
  { place, owner, write, nowMs, historyMax }: Moving & { readonly place: string; readonly owner?: string },
): Life {
  const { label, present, past } = shownLife(life, nowMs, historyMax);
  const at = { place, write, author: owner };
  return {
    place,
    label,
    present: present && { ...present, ...at },
    past: past.map((value) => {
      const isByOwner = value.ended === "forgotten" || value.ended === "renamed";
      return { ...value, ...at, endedBy: isByOwner ? owner : undefined };
    }),
  };
}

export interface Moving {
  readonly write: number;
  readonly nowMs: number;
  readonly historyMax: number;
}

type Users = Map<string, Map<string, Life>>;

/** All labels of a place, also of what is not to be seen any more. */
export function labelsAt(users: Users, user: string, place: string): Set<string> {
  const lives = [...(users.get(user)?.values() ?? [])];
  return new Set(lives.filter((life) => life.place === place).map(({ label }) => label));
}

interface Account {
  readonly users: Users;
  readonly sharings: Sharings;
  readonly made: { make(user: string, label: string): void; has(user: string, label: string): boolean };
}

/** Some of a person's facts, or all of a team's, to where there is nothing on their labels; the labels of the facts. */
function moveLives(
  { users, made }: Account,
  from: { readonly user: string; readonly place: string; readonly labels: ReadonlySet<string> },
  to: { readonly user: string; readonly place: string; readonly owner?: string },
  { isListed, ...moving }: Moving & { readonly isListed: (label: string) => boolean },
): string[] {
  const lives = users.get(from.user) ?? new Map<string, Life>();
  const target = users.get(to.user) ?? new Map<string, Life>();
  const moved: string[] = [];
  for (const [name, life] of [...lives]) {
    if (life.place !== from.place || !from.labels.has(life.label)) continue;
    lives.delete(name);
    const there = movedLife(life, { ...moving, ...to });
    if (there.present === undefined && there.past.length === 0) continue;
    target.set(`${life.label} ${to.place}`, there);
    users.set(to.user, target);
    // What was made stays made where it goes, also if the account has declared it since.
    if (!isListed(life.label) || made.has(from.user, life.label)) made.make(to.user, life.label);
    if (there.present !== undefined) moved.push(life.label);
  }
  return moved.sort();
}

export interface Taking {
  readonly user: string;
  readonly labels: readonly string[];
}

export function share(
  account: Account,
  {
    project,
    members,
    take,
  }: { project: string; members: readonly string[] | null; take?: Taking | undefined },
  moving: Parameters<typeof moveLives>[3],
): { members: readonly string[] | null; taken: string[] } {
  if (take !== undefined && !(members?.includes(take.user) ?? true)) throw new Refused("not_a_member");
  account.sharings.set(project, members);
  if (take === undefined) return { members, taken: [] };
  const from = { user: take.user, place: project, labels: new Set(take.labels) };
  const to = { user: projectUser(project), place: "", owner: take.user };
  return { members, taken: moveLives(account, from, to, moving) };
}

export function unshare(
  account: Account,
  { project, giveTo }: { project: string; giveTo?: string | undefined },
  moving: Parameters<typeof moveLives>[3],
): number {
  const { sharings, users } = account;
  const team = projectUser(project);
  if (!sharings.has(project)) throw new Refused("not_found");
  if (giveTo !== undefined && !isMember(sharings, project, giveTo)) throw new Refused("not_a_member");
  if (giveTo === undefined && users.has(team)) throw new Refused("project_has_facts");
  const from = { user: team, place: "", labels: labelsAt(users, team, "") };
  const given =
    giveTo === undefined ? [] : moveLives(account, from, { user: giveTo, place: project }, moving);
  sharings.delete(project);
  return given.length;
}
