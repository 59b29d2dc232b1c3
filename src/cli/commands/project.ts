/**
 * sideband project: whether it is shared, and with whom; and project groups: the groups of labels, beside the standard
 * ones, that coding agents get in it.
 */

import { PROJECT_GROUPS_LABEL } from "../../agent-side/host-groups.ts";
import { parseGroups } from "../../base/groups.ts";
import { isSidebandError } from "../../sdk/errors.ts";
import { type Command, CommandError, UsageError } from "../command.ts";
import { type MemoryCall, memoryCommand, WRITER, withNotFoundText } from "../memory-command.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { NO_PROJECT_TEXT, projectName, sharingOf, sharingText } from "../project-call.ts";

export const project: Command = memoryCommand(
  {
    name: "project",
    summary: "print who shares this project",
    words: [],
    about: `Prints the name of the project, who shares it, whether they write or only read, and how many facts they share.
"sideband project share" shares it, and "sideband facts" prints the facts.`,
    failures: "1 if it failed",
  },
  async (call) => {
    const name = projectName(call);
    const sharing = await sharingOf(call, name);
    if (sharing !== undefined) return call.print(sharingText(sharing), sharing);
    const how = `${sidebandCommand()} project share${call.sameMemory}`;
    call.print(`${name}: not shared with ${call.userId}; to share it: ${how}`, {
      project: name,
      shared: false,
    });
  },
);

export const projectGroups: Command = memoryCommand(
  {
    name: "project groups",
    summary: "the groups of labels that coding agents get in this project",
    words: ["[add|remove]", "[GROUP]"],
    about: `In a host for code a prompt gets the facts of USER, PREF, TASK and PROJ, or of SIDEBAND_GROUPS, and of the groups that
the project names here. Other facts are found with find and recall. Without a word, the groups are printed. They are a
fact of the project (${PROJECT_GROUPS_LABEL}), the same on all machines.`,
    failures: "1 if it failed",
    check({ words: [action, group] }) {
      if ((action === "add" || action === "remove") !== (group !== undefined))
        throw new UsageError("write: sideband project groups, or sideband project groups add|remove GROUP");
      if (group !== undefined) parseGroups(group.toUpperCase(), "GROUP");
    },
  },
  async (call) => {
    const { memory, userId, project, words, print } = call;
    if (project === undefined) throw new CommandError(NO_PROJECT_TEXT);
    const [action, typed] = words;
    const group = typed?.toUpperCase();
    const options = { project, scope: "project", writtenBy: WRITER } as const;
    if (action === "add")
      await memory.append(userId, PROJECT_GROUPS_LABEL, group, { ...options, newLabel: "certain" });
    if (action === "remove")
      await withNotFoundText(
        memory.remove(userId, PROJECT_GROUPS_LABEL, group, options),
        userId,
        PROJECT_GROUPS_LABEL,
      );
    const groups = await groupsOf(call);
    print(groups.length === 0 ? "none beside the standard groups" : groups.join("\n"), { groups });
  },
);

async function groupsOf({ memory, userId, project }: MemoryCall): Promise<string[]> {
  try {
    return (await memory.decode(userId, PROJECT_GROUPS_LABEL, { project })).value.split("; ");
  } catch (error) {
    if (isSidebandError(error, "unknown_label") || isSidebandError(error, "fact_not_found")) return [];
    throw error;
  }
}
