/**
 * What becomes of the record of a shared project, which each store asks where nobody else can change it meanwhile; and the rules of
 * its name and its members.
 */

import { Failure, invalidRequest } from "../base/errors.ts";
import { PROJECT_MEMBERS_MAX, SHARED_PROJECTS_MAX, withThousands } from "../base/limits.ts";
import { checkIdentifier } from "./identifiers.ts";
import { placesOf } from "./places.ts";
import type { ProjectChange, ProjectRecord } from "./records.ts";

/**
 * A new one is shared by the whole account, to read and write, unless the change says otherwise; undefined where there is no
 * room for it, and where who leaves is no member. The last who leaves leaves nobody.
 * @param count how many the account has
 */
export function changedProject(
  known: ProjectRecord | undefined,
  { project, createdAtMs, members, access, onlyNew, leaver }: ProjectChange,
  count: number,
): ProjectRecord | undefined {
  if (leaver !== undefined) {
    if (!known?.members?.includes(leaver)) return undefined;
    return { ...known, members: known.members.filter((member) => member !== leaver) };
  }
  if (known !== undefined && onlyNew) return known;
  if (known === undefined && count >= SHARED_PROJECTS_MAX) return undefined;
  const before = known ?? { project, members: null, access: "write" as const, createdAtMs };
  return {
    ...before,
    ...(members === undefined ? {} : { members: members && [...members].sort() }),
    ...(access === undefined ? {} : { access }),
  };
}

export function checkProjectName(project: string): void {
  if (project.includes("/"))
    throw invalidRequest("project", "project must be a project, without a worktree.");
  placesOf(project);
}

export function checkMembers(members: readonly string[]): void {
  if (members.length > PROJECT_MEMBERS_MAX || new Set(members).size < members.length)
    throw invalidRequest(
      "members",
      `members are at most ${withThousands(PROJECT_MEMBERS_MAX)} user_ids, each once, or null for all of the account.`,
    );
  for (const userId of members) {
    try {
      checkIdentifier(userId, "user_id");
    } catch (error) {
      throw error instanceof Failure ? invalidRequest("members", `A member's ${error.message}`) : error;
    }
  }
}
