/** What a write in a shared project needs: its user shares the project at the moment of the write, and may write there. */

import { Failure } from "../../base/errors.ts";
import type { WriteRequest } from "../ports.ts";
import type { Place, ProjectRecord } from "../records.ts";
import { isShared } from "../shared-places.ts";

type SharedRequest = Pick<WriteRequest, "userId" | "shared">;

export function requireMember({ userId, shared }: SharedRequest, sharing: ProjectRecord | undefined): void {
  if (shared === undefined) return;
  const { project } = shared;
  if (sharing === undefined)
    throw notAMember(`The project ${project} is not shared any more. Nothing was written: send it again.`);
  if (!isMember(sharing, userId))
    throw notAMember(`This user does not share the project ${project}. Nothing was written.`);
}

/** Of a place that is written: the shared one may be there to be read. */
export function requireSharedWrite(
  { shared }: SharedRequest,
  sharing: ProjectRecord | undefined,
  place: Place,
): void {
  if (shared === undefined || shared.isForAccount || sharing?.access === "write" || !isShared(place)) return;
  throw notAMember(
    `Members only read what is shared in the project ${shared.project}. Nothing was written: scope "own" keeps it for this user alone.`,
  );
}

export function isMember({ members }: Pick<ProjectRecord, "members">, userId: string): boolean {
  return members?.includes(userId) ?? true;
}

function notAMember(message: string): Failure {
  return new Failure("not_a_member", message);
}
