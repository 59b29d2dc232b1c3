/** What becomes of the record of a shared project. Each store calls this where nobody else can change it meanwhile. */

import { SHARED_PROJECTS_MAX } from "../base/limits.ts";
import type { ProjectChange, ProjectRecord } from "./records.ts";

/**
 * A new one is shared by the whole account, to read and write, unless the change says otherwise; undefined where there is no
 * room for it.
 * @param count how many the account has
 */
export function changedProject(
  known: ProjectRecord | undefined,
  { project, createdAtMs, members, access }: ProjectChange,
  count: number,
): ProjectRecord | undefined {
  if (known === undefined && count >= SHARED_PROJECTS_MAX) return undefined;
  const before = known ?? { project, members: null, access: "write" as const, createdAtMs };
  return {
    ...before,
    ...(members === undefined ? {} : { members: members && [...members].sort() }),
    ...(access === undefined ? {} : { access }),
  };
}
