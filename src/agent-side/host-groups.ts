/**
 * The groups of labels that go into the prompts of a host for code: the four standard ones, or those of SIDEBAND_GROUPS,
 * and those that the project names. The project's are a fact of the project, so that they are the same on all machines. The
 * tools reach every group that the key is for.
 */

import { parseGroups } from "../base/groups.ts";
import type { AgentCallOptions, AgentMemory } from "./agent-memory.ts";

/** A list of groups, on a label of the project. */
export const PROJECT_GROUPS_LABEL = "PROJ.memory_groups";

/** @param groups those of the settings; undefined: all */
export async function hostGroups(
  memory: Pick<AgentMemory, "decode">,
  userId: string,
  groups: string | undefined,
  options: AgentCallOptions,
): Promise<string | undefined> {
  if (groups === undefined || groups.startsWith("-") || options.project === undefined) return groups;
  try {
    const { value } = await memory.decode(userId, PROJECT_GROUPS_LABEL, options);
    return withProjectGroups(groups, value);
  } catch {
    // Without such a fact, and while memory is away.
    return groups;
  }
}

/** Named groups, and those that a project names; without these where its text names no groups. */
export function withProjectGroups(groups: string, named: string): string {
  try {
    return parseGroups([groups, ...named.split("; ")].join(",")).text;
  } catch {
    return groups;
  }
}
