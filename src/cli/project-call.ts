/** What the commands about a shared project have in common: its name, who shares it, and what a key may not. */

import type { ProjectAnswer } from "../contract/answers.ts";
import { isSidebandError } from "../sdk/index.ts";
import { CommandError } from "./command.ts";
import type { MemoryCall } from "./memory-command.ts";
import { localTime } from "./moments.ts";
import { counted } from "./printed.ts";

export const NO_PROJECT_TEXT = "this is no project: projects are off here";

/** The project of a call, without its worktree: that is what people share. */
export function projectName({ project }: Pick<MemoryCall, "project">): string {
  if (project === undefined) throw new CommandError(NO_PROJECT_TEXT);
  return project.split("/")[0];
}

/** The shared project; undefined where it is not shared, or not with the user of a bound key. */
export async function sharingOf(
  { memory }: Pick<MemoryCall, "memory">,
  project: string,
): Promise<ProjectAnswer | undefined> {
  try {
    return await memory.project(project);
  } catch (error) {
    if (isSidebandError(error, "not_found")) return undefined;
    throw error;
  }
}

/** The same; an error where it is not shared. */
export async function sharingNeeded(call: MemoryCall, project: string): Promise<ProjectAnswer> {
  const sharing = await sharingOf(call, project);
  if (sharing === undefined) throw new CommandError(`${project} is not shared with ${call.userId}`);
  return sharing;
}

/** "loom-1a2b: shared by ada and grace, who read and write; 4 facts; since …" */
export function sharingText({ project, members, access, facts, created_at: since }: ProjectAnswer): string {
  const from = since === undefined ? "" : `; since ${localTime(since)}`;
  return `${project}: shared by ${membersText(members)}, who ${accessText(access)}; ${counted(facts, "fact")}${from}`;
}

/** @param members null: all of the account; undefined: a bound key is not told */
export function membersText(members: ProjectAnswer["members"]): string {
  if (members === undefined) return "its members";
  if (members === null) return "all users of the account";
  if (members.length === 0) return "nobody";
  return members.length === 1
    ? `${members[0]} alone`
    : `${members.slice(0, -1).join(", ")} and ${members.at(-1)}`;
}

export function accessText(access: ProjectAnswer["access"]): string {
  return access === "read" ? "only read" : "read and write";
}

/** A key of one user does not say who shares what. */
export async function asAccount<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isSidebandError(error, "user_not_allowed") && error.param === undefined)
      throw new CommandError(
        "this key is for one user: whoever has the account's own key changes who shares a project, here or in the console",
      );
    if (isSidebandError(error, "not_a_member") && error.param !== undefined)
      throw new CommandError(error.message);
    throw error;
  }
}
