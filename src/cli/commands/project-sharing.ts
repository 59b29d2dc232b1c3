/**
 * sideband project share, members, unshare and erase: what a team knows together in a project. Nothing becomes shared by
 * itself: a person's own facts go along only where that is asked for, and are listed before.
 */

import { quotedValue } from "../../agent-side/written-line.ts";
import type { ProjectAnswer, SharedProjectAnswer, TakenFact } from "../../contract/answers.ts";
import { quotedOption, shellQuote } from "../../main/shell-quote.ts";
import { type Call, type Command, CommandError, UsageError } from "../command.ts";
import { labelForm, type MemoryCall, memoryCommand } from "../memory-command.ts";
import { ask, counted } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";
import {
  accessText,
  asAccount,
  membersText,
  projectName,
  sharingNeeded,
  sharingOf,
  sharingText,
} from "../project-call.ts";
import { repeatedOptions } from "../shared-options.ts";

const WHO =
  "It needs the account's own key, or a data folder: there, all --user of the folder are users of one account.";
const YES_HELP = "  --yes           do not ask before";

export const projectShare: Command = memoryCommand(
  {
    name: "project share",
    summary: "share this project: its facts are then a team's",
    words: ["[LABEL]..."],
    usage: "[--with USER,USER | --all] [--read-only | --read-write] [--take [LABEL]...] [--yes]",
    options: `  --with LIST     share it with these users and --user (grace,linus), and with nobody else
  --all           share it with all users of the account (the default of a project that is not shared yet)
  --read-only     they only read what is shared; the account's own key writes
  --read-write    they read and write it (the default of a project that is not shared yet)
  --take          your own facts in the project become shared, with their history: all but those of a worktree (TASK,
                  PROJ.branch), or only LABEL
${YES_HELP}`,
    about: `From then on facts with the scope project (PROJ) that a member, or a member's agent, writes in this project are all
members' facts; what was written before, and TASK, USER, PREF and other facts, stays each person's own. Before anything is shared
your facts that would go along are listed, and you are asked. Of a shared project it changes who shares it. Prints the
command that undoes it. ${WHO}`,
    failures: "1 if it failed, or the answer was no",
    check({ words, flags, texts }) {
      if (words.length > 0 && !flags.take) throw new UsageError("a LABEL is for --take");
      if (flags.all && texts.with !== undefined)
        throw new UsageError("--with names users and --all means every one: give one of them");
      if (flags["read-only"] && flags["read-write"])
        throw new UsageError("--read-only and --read-write: give one of them");
      if (texts.with !== undefined) usersIn(texts.with);
      requireYes({ flags });
    },
  },
  async (call) => {
    const { memory, userId, words, flags } = call;
    const project = projectName(call);
    const before = await sharingOf(call, project);
    const terms = { members: membersFor(call), access: accessOf(flags) };
    const plan = (take?: { userId: string; labels?: readonly string[] | undefined }) =>
      asAccount(memory.shareProject(project, { ...terms, take, dryRun: true }));
    const members = terms.members === undefined ? before?.members : terms.members;
    const isMember = members?.includes(userId) ?? true;
    const named = words.length === 0 ? undefined : words;
    let planned = await plan(flags.take || isMember ? { userId, labels: named } : undefined);
    let takes = flags.take === true;
    if (!flags.yes) {
      printLines(takenLines(planned.taken, userId, takes));
      const chosen = takes || planned.taken.length === 0 ? undefined : await chosenLabels();
      if (chosen !== undefined) {
        planned = await plan({ userId, labels: chosen.length === 0 ? undefined : chosen });
        takes = true;
      }
      const along = takes ? planned.taken.length : 0;
      const who = `${membersText(planned.members)}, who ${accessText(planned.access)}`;
      await confirm(
        `Share ${project} with ${who}, and ${counted(along, "fact")} of yours? Type yes: `,
        "nothing was shared",
      );
    }
    // By name: what was written since was in no list.
    const labels = takes ? planned.taken.map(({ label }) => label) : [];
    const take = labels.length === 0 ? undefined : { userId, labels };
    const answer = await asAccount(memory.shareProject(project, { ...terms, take }));
    call.print([sharingText(answer), ...sharedLines(answer, userId)].join("\n"), answer);
    printLines(shareUndo(call, before, answer), flags);
  },
);

export const projectMembers: Command = memoryCommand(
  {
    name: "project members",
    summary: "print, add and remove who shares this project",
    words: ["[add|remove]", "[USER]..."],
    about: `Prints who shares this project, or adds or removes users. Who is removed reads and writes nothing of it from the next
request on; what they have written stays, and their own facts are theirs. ${WHO}`,
    failures: "1 if it failed",
    check({ words: [action, ...users] }) {
      if (action === undefined) return;
      if ((action !== "add" && action !== "remove") || users.length === 0)
        throw new UsageError(
          "write: sideband project members, or sideband project members add|remove USER …",
        );
    },
  },
  async (call) => {
    const { memory, words, flags } = call;
    const [action, ...users] = words;
    const project = projectName(call);
    const before = await sharingNeeded(call, project);
    const present = before.members;
    if (action === undefined) {
      if (present === undefined)
        throw new CommandError("this key is for one user, and is not told who else shares the project");
      return call.print(present === null ? membersText(null) : present.join("\n"), {
        project,
        members: present,
      });
    }
    if (present === null)
      throw new CommandError(
        `all users of the account share ${project}; to share it with some alone: ${command(call, "share", " --with USER,USER")}`,
      );
    const wanted =
      action === "add"
        ? [...new Set([...(present ?? []), ...users])]
        : (present ?? []).filter((user) => !users.includes(user));
    const strangers = action === "remove" && present ? users.filter((user) => !present.includes(user)) : [];
    if (strangers.length > 0)
      throw new CommandError(`${strangers.join(", ")} does not share ${project}: ${membersText(present)} do`);
    const answer = await asAccount(memory.shareProject(project, { members: wanted }));
    call.print(sharingText(answer), answer);
    const changed = users.filter((user) => present?.includes(user) !== (action === "add"));
    const back = action === "add" ? "remove" : "add";
    const undo = changed.map((user) => ` ${shellQuote(user)}`).join("");
    if (changed.length > 0) printLines([`undo: ${command(call, `members ${back}`, undo)}`], flags);
  },
);

export const projectUnshare: Command = memoryCommand(
  {
    name: "project unshare",
    summary: "end the sharing of this project",
    words: [],
    usage: "[--give-to USER] [--yes]",
    options: `  --give-to USER  the member who gets what is shared as facts of their own, with its history
${YES_HELP}`,
    about: `Ends the sharing of this project. Facts that are shared must have an owner: --give-to names the member who gets them,
and it asks before. "sideband project erase" erases them instead. ${WHO}`,
    failures: "1 if it failed, the answer was no, or facts are shared and --give-to names nobody",
    check({ texts, flags }) {
      if (texts["give-to"] !== undefined) requireYes({ flags });
    },
  },
  async (call) => {
    const { memory, texts, flags } = call;
    const project = projectName(call);
    const before = await sharingNeeded(call, project);
    const giveTo = texts["give-to"];
    if (giveTo !== undefined && !flags.yes) {
      const what = `Take ${counted(before.facts, "shared fact")} of ${project} from ${membersText(before.members)}, and give them to ${giveTo}?`;
      await confirm(`${what} Type yes: `, "nothing was changed");
    }
    const labels = giveTo === undefined ? [] : await sharedLabels(call, giveTo);
    const answer = await asAccount(memory.unshareProject(project, { giveTo })).catch((error) => {
      throw error.code === "project_has_facts"
        ? new CommandError(
            `${project} has shared facts, or earlier values of some: --give-to USER names the member who gets them; to erase them for all: ${command(call, "erase")}`,
          )
        : error;
    });
    const given = answer.given ? `; ${giveTo} has got ${counted(answer.given, "fact")}` : "";
    call.print(`${project}: not shared any more${given}`, answer);
    const named = labels.length > NAMED_MAX ? "" : `${labels.map((label) => ` ${label}`).join("")} --yes`;
    const take = answer.given ? ` --take${named}` : " --yes";
    const as = giveTo === undefined ? call : { ...call, texts: { ...texts, user: giveTo } };
    printLines([`undo: ${command(as, "share", termsText(before) + take)}`], flags);
  },
);

export const projectErase: Command = memoryCommand(
  {
    name: "project erase",
    summary: "erase what is shared in this project, for all",
    words: [],
    usage: "[--yes]",
    options: YES_HELP,
    about: `Erases what is shared in this project, with its history, for all, and ends the sharing. What each person has for
themselves stays. Nothing brings it back, so it asks. ${WHO}`,
    failures: "1 if it failed, or the answer was no",
    check: requireYes,
  },
  async (call) => {
    const project = projectName(call);
    const { facts, members } = await sharingNeeded(call, project);
    if (!call.flags.yes) {
      const what = `Erase ${counted(facts, "shared fact")} of ${project} for ${membersText(members)}, for good?`;
      await confirm(`${what} Type yes: `, "nothing was erased");
    }
    const answer = await asAccount(call.memory.eraseProject(project));
    call.print(`${project}: erased ${counted(answer.erased, "shared fact")} for good`, answer);
  },
);

/** More would hide the command: without them it asks which. */
const NAMED_MAX = 40;

/** What is shared and counts for a member. */
async function sharedLabels({ memory, project }: MemoryCall, userId: string): Promise<string[]> {
  const { facts } = await memory.facts(userId, { project });
  return facts.filter(({ place }) => place === "shared").map(({ label }) => label);
}

function requireYes({ flags }: Pick<Call, "flags">): void {
  if (!flags.yes && (flags.json || !process.stdin.isTTY))
    throw new UsageError("it needs --yes where nobody can be asked");
}

async function confirm(question: string, otherwise: string): Promise<void> {
  if ((await ask(question)) !== "yes") throw new CommandError(`${otherwise}: only yes, in full, does`);
}

/** Not on standard output, which has the answer. */
function printLines(lines: readonly string[], flags: Call["flags"] = {}): void {
  if (!flags.json) for (const line of lines) console.error(line);
}

function usersIn(list: string): string[] {
  const users = list.split(",").map((user) => user.trim());
  if (users.includes("")) throw new UsageError("--with takes users with commas between, such as grace,linus");
  return users;
}

/** undefined: as it is, and all of the account where the project is not shared yet. */
function membersFor({ userId, texts, flags }: MemoryCall): readonly string[] | null | undefined {
  if (texts.with !== undefined) return [...new Set([userId, ...usersIn(texts.with)])];
  return flags.all ? null : undefined;
}

function accessOf(flags: Call["flags"]): "read" | "write" | undefined {
  if (flags["read-only"]) return "read";
  return flags["read-write"] ? "write" : undefined;
}

/** The labels that a person names, none for all; undefined where nothing is to go along. */
async function chosenLabels(): Promise<string[] | undefined> {
  const answer = await ask("Take them along? [y/N, or some LABELs] ");
  if (answer === "" || answer === "n" || answer === "no") return undefined;
  return answer === "y" || answer === "yes" ? [] : answer.split(/[\s,]+/).map(labelForm);
}

function takenLines(taken: readonly TakenFact[], userId: string, isMeant: boolean): string[] {
  if (taken.length === 0) return [`${userId} has no facts of the project to take along`];
  const heading = isMeant
    ? "these facts would be shared:"
    : "these facts stay your own unless you take them along:";
  return [`of ${userId}, ${heading}`, ...taken.map(({ label, value }) => `  ${label}=${quotedValue(value)}`)];
}

function sharedLines({ taken }: SharedProjectAnswer, userId: string): string[] {
  if (taken.length === 0) return [];
  return [`shared of ${userId}: ${taken.map(({ label }) => label).join(", ")}`];
}

/** What says again who shared a project, and how. */
function termsText({ members, access }: Pick<ProjectAnswer, "members" | "access">): string {
  const who = members == null ? " --all" : ` ${quotedOption("with", members.join(","))}`;
  return who + (access === "read" ? " --read-only" : " --read-write");
}

/** Who shares it is as before. What was taken along to what others have, too, cannot be told apart again. */
function shareUndo(
  call: MemoryCall,
  before: ProjectAnswer | undefined,
  answer: SharedProjectAnswer,
): readonly string[] {
  if (before === undefined)
    return [`undo: ${command(call, "unshare", ` ${quotedOption("give-to", call.userId)} --yes`)}`];
  const isChanged = termsText(before) !== termsText(answer);
  const forget = `${sidebandCommand()} forget LABEL --shared`;
  return [
    ...(answer.taken.length === 0 ? [] : [`no undo for the facts: ${forget} takes one away from all`]),
    ...(isChanged ? [`undo: ${command(call, "share", `${termsText(before)} --yes`)}`] : []),
  ];
}

/** A command about the same project, from any folder. */
function command(call: MemoryCall, name: string, options = ""): string {
  const same = repeatedOptions({ texts: { ...call.texts, project: projectName(call) } });
  return `${sidebandCommand()} project ${name}${options}${same}`;
}
