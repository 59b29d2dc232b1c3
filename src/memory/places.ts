/**
 * Places: where a person's facts are kept. A person has a place of their own; a project is a place inside it, and a
 * worktree one inside the project. A call names the innermost place by its field `project`. What is written goes where
 * its label's scope says; what is read is merged, and the innermost place counts. Where the project is shared, and the person
 * shares it, what all its members have is a place between the person's own and the project's (shared-places.ts).
 */

import { elementAt } from "../base/assert.ts";
import { Failure } from "../base/errors.ts";
import { PROJECT_SEGMENT_LENGTH_MAX } from "../base/limits.ts";
import { checkIdentifier, identifierFault } from "./identifiers.ts";
import type { View } from "./ports.ts";
import type { Place, WriteScope } from "./records.ts";
import { isShared, sharedPlace } from "./shared-places.ts";

/** The person's own. */
export const OWN_PLACE: Place = "";

const OWN_PLACES: readonly Place[] = [OWN_PLACE];

/** Whose facts a call is about. */
export interface Person {
  readonly userId: string;
  readonly project?: string | undefined;
}

/** The view of a call, once its user and project have been checked. */
export function viewOf(account: string, { userId, project }: Person, nowMs: number): View {
  checkIdentifier(userId, "user_id");
  return { account, userId, places: placesOf(project), nowMs };
}

/** The places that a call sees, the person's own first. */
export function placesOf(project: string | undefined): readonly Place[] {
  if (project === undefined) return OWN_PLACES;
  checkProject(project);
  const slash = project.indexOf("/");
  return slash < 0 ? [OWN_PLACE, project] : [OWN_PLACE, project.slice(0, slash), project];
}

/** The places of a call whose project is shared. */
export function withShared(places: readonly Place[], project: string): readonly Place[] {
  return [elementAt(places, 0), sharedPlace(project), ...places.slice(1)];
}

/** The place among those of a call that a scope means. */
export function placeFor(scope: WriteScope, places: readonly Place[]): Place {
  switch (scope) {
    case "person":
      return OWN_PLACE;
    case "project":
      return places[1] ?? OWN_PLACE;
    case "worktree":
      return innermost(places);
    case "own":
      return places.slice(1).find((place) => !isShared(place)) ?? OWN_PLACE;
    case "shared":
      return places.find(isShared) ?? refuseUnshared();
  }
}

/** Whoever means what is shared does not mean the person's own. */
function refuseUnshared(): never {
  throw new Failure(
    "not_a_member",
    'The call names no project that is shared with this user. Nothing was written: scope "own" is the user\'s own place.',
    { param: "scope" },
  );
}

/** Neither the person's own, nor a worktree's. */
export function isProject(place: Place): boolean {
  return place !== OWN_PLACE && !place.includes("/");
}

/** Whether a place is another, or inside it. */
export function isInside(place: Place, outer: Place): boolean {
  return place === outer || place.startsWith(`${outer}/`);
}

export function innermost(places: readonly Place[]): Place {
  return elementAt(places, places.length - 1);
}

/** Whom a block is sealed for. No user_id holds U+0000, so none names the place of another. */
export function sealOwner({ userId, places }: Pick<View, "userId" | "places">): string {
  const place = innermost(places);
  return place === OWN_PLACE ? userId : `${userId}\0${place}`;
}

function checkProject(project: string): void {
  const segments = project.split("/");
  const isSound =
    segments.length <= 2 &&
    segments.every(
      (segment) =>
        identifierFault(segment) === undefined && [...segment].length <= PROJECT_SEGMENT_LENGTH_MAX,
    );
  if (isSound) return;
  throw new Failure(
    "invalid_request",
    `project must be a project, or a project and a worktree with a slash between, each 1 to ${PROJECT_SEGMENT_LENGTH_MAX} characters without control characters.`,
    { param: "project" },
  );
}
