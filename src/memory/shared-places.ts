/**
 * Where the facts of a shared project are. They are the memory of a hidden user of the account, at that user's own place:
 * so locks, the law, ends, erasures, exports and moves to another store treat it as any user. For a member it is one more
 * place of a view, whose name begins with a mark. No text from outside holds the mark (identifiers.ts): nobody can name
 * such a user, or such a place.
 */

import type { Place } from "./records.ts";

const MARK = "\u0001";
const USER_PREFIX = `${MARK}project${MARK}`;

/** Behind the ids of all projects' hidden users, and before those of all persons. */
export const AFTER_PROJECTS = "\u0002";

/** Numbers of free labels, in a project's memory, come after it: a view merges them with those of a person. */
export const PROJECT_NUMBERS = 2 ** 24;

/** The hidden user who has what is shared in a project. */
export function projectUser(project: string): string {
  return USER_PREFIX + project;
}

/** The project whose hidden user it is; undefined of a person. */
export function projectOfUser(userId: string): string | undefined {
  return userId.startsWith(USER_PREFIX) ? userId.slice(USER_PREFIX.length) : undefined;
}

/** In a member's view: what is shared in a project. */
export function sharedPlace(project: string): Place {
  return MARK + project;
}

export function isShared(place: Place): boolean {
  return place.startsWith(MARK);
}

/** The project of a shared place. */
export function projectOfPlace(place: Place): string | undefined {
  return isShared(place) ? place.slice(MARK.length) : undefined;
}

/** The project that is shared in a view, or a write. */
export function sharedIn(places: readonly Place[]): string | undefined {
  const place = places.find(isShared);
  return place && projectOfPlace(place);
}

/** Of a place that is the person's own in a project that is shared: nothing else tells it from what is shared there. */
export interface OwnMark {
  readonly isOwn?: true;
}

export function ownMark(
  { shared }: { readonly shared?: { readonly project: string } | undefined },
  place: Place,
): OwnMark {
  return shared?.project === place ? { isOwn: true } : {};
}

/** Whom an event is told of, and where: nobody has written what happens to a hidden user as a whole. */
export function eventUser(userId: string, place: Place): { readonly userId: string; readonly place: Place } {
  const project = projectOfUser(userId);
  return project === undefined ? { userId, place } : { userId: "", place: sharedPlace(project) };
}
