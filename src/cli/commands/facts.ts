/**
 * sideband recall, find, forget, facts, context: the memory for a person at a terminal. The commands use the memory as an
 * agent in the same folder does.
 */

import { memorySection } from "../../agent-side/memory-section.ts";
import { forgottenLine, quotedValue, readRevisions } from "../../agent-side/written-line.ts";
import type { FactsAnswer, PlaceKind, StoredFact } from "../../contract/answers.ts";
import { shellQuote } from "../../main/shell-quote.ts";
import { isSidebandError } from "../../sdk/index.ts";
import { type Command, CommandError, UsageError } from "../command.ts";
import { type MemoryCall, memoryCommand, orNoFact, WRITER } from "../memory-command.ts";
import { localTime } from "../moments.ts";
import { asked } from "../printed.ts";
import { sidebandCommand, undoHere } from "../printed-commands.ts";

export const recall: Command = memoryCommand(
  {
    name: "recall",
    summary: "print one fact",
    words: ["LABEL"],
    about: "Prints the value of one fact.",
    failures: "1 if there is no such fact",
  },
  async ({ memory, userId, project, words: [label], print }) => {
    const answer = await orNoFact(memory.decode(userId, label, { project }), userId, label);
    print(answer.value, answer);
  },
);

export const find: Command = memoryCommand(
  {
    name: "find",
    summary: "find facts by words",
    words: ["WORDS..."],
    usage: "[--everywhere] [--limit N]",
    options: `  --everywhere    in all projects; what an agent here would see comes first
  --limit N       how many facts at most, 1 to 50 (default 10)`,
    about: `Prints the facts that have these words in their label, its description or their value, the best first, as LABEL=value
lines. The order of the words, their endings, case, accents and a slip do not matter. A line # in PROJECT says where
the next fact is kept, if it is not the person's own.`,
    failures: "1 if nothing is found",
    check({ texts: { limit } }) {
      if (limit !== undefined && !(/^\d{1,2}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 50))
        throw new UsageError("--limit takes a whole number from 1 to 50");
    },
  },
  async ({ memory, userId, project, words, texts: { limit }, flags: { everywhere, json }, print }) => {
    const asked = { project, everywhere, limit: limit === undefined ? undefined : Number(limit) };
    const answer = await memory.find(userId, words.join(" "), asked);
    if (answer.facts.length === 0 && !json) {
      const elsewhere = everywhere ? "" : "; --everywhere looks in all projects";
      throw new CommandError(`${userId} has no fact with these words${elsewhere}`);
    }
    const lines = answer.facts.flatMap(({ label, value, project: place }) => [
      ...(place === undefined ? [] : [`# in ${place}`]),
      `${label}=${value}`,
    ]);
    print(lines.join("\n"), answer);
  },
);

export const forget: Command = memoryCommand(
  {
    name: "forget",
    summary: "forget one fact, or everything of a user",
    words: ["[LABEL]"],
    usage: "[--for-good | --item TEXT] [--all] [--yes]",
    options: `  --item TEXT     only this item of the list on LABEL
  --for-good      with all the values that LABEL had: nothing brings them back
  --all           everything of the user for good, in all projects; with --project NAME, what is kept for it alone. --person
                  is for LABEL, not for this
  --yes           do not ask before`,
    about: `Forgets one fact. Its values stay in the history, and the command that brings it back is printed. With --for-good they
are deleted, too. With --all everything of the user is deleted. Both ask before.`,
    failures: "1 if there is nothing to forget, or the answer was no",
    check({ words: [label], texts: { item }, flags }) {
      const { all, yes, json, person, "for-good": isForGood } = flags;
      if ((label === undefined) !== (all === true)) throw new UsageError("it takes LABEL, or --all");
      if (all && (isForGood || item !== undefined))
        throw new UsageError("--for-good and --item are for LABEL: --all keeps nothing");
      if (isForGood && item !== undefined)
        throw new UsageError("--item keeps the history, --for-good deletes it: give one of them");
      if (all && person)
        throw new UsageError(
          "--all forgets in all projects or in that of --project, not what is the person's alone: sideband forget LABEL --person forgets one such fact",
        );
      if ((all || isForGood) && !yes && (json || !process.stdin.isTTY))
        throw new UsageError(`--${all ? "all" : "for-good"} needs --yes where nobody can be asked`);
    },
  },
  async (call) => {
    const {
      memory,
      userId,
      project,
      words: [label],
      print,
      texts,
      flags,
      sameMemory,
    } = call;
    if (flags.all) return forgetAll(call);
    if (texts.item !== undefined) return forgetItem(call, label, texts.item);
    const keepHistory = flags["for-good"] !== true;
    if (!keepHistory) await confirm(call, `Forget ${label} of ${userId} with all the values that it had?`);
    const answer = await orNoFact(memory.forget(userId, label, { project, keepHistory }), userId, label);
    if (!keepHistory) return print(`${label}: forgotten for good`, answer);
    const kept = await readRevisions(memory, userId, label, { project });
    print(forgottenLine(label, kept, undoHere(sameMemory)), answer);
  },
);

async function forgetItem(call: MemoryCall, label: string, item: string): Promise<void> {
  const { memory, userId, project, sameMemory, print } = call;
  const removed = memory.remove(userId, label, item, { project, writtenBy: WRITER }).catch((error) => {
    if (!isSidebandError(error, "fact_not_found") || error.param !== "item") throw error;
    throw new CommandError(`the list on ${label} has no item "${item}"`);
  });
  const answer = await orNoFact(removed, userId, label);
  const kept = await readRevisions(memory, userId, label, { project });
  const was = kept?.find(({ ended }) => ended !== undefined);
  const undo =
    was === undefined
      ? "no undo: the list as it was is not kept"
      : `undo: ${sidebandCommand()} restore ${shellQuote(label)} ${was.revision}${sameMemory}`;
  print(`${label}: forgot ${quotedValue(item)}; ${undo}`, answer);
}

/** A project must be named: in a repository, "all" would be less than it says. */
async function forgetAll(call: MemoryCall): Promise<void> {
  const { memory, userId, texts, print } = call;
  const { project } = texts;
  const what = project === undefined ? `${userId}, in all projects` : `${userId} in ${project}`;
  await confirm(call, `Forget everything of ${what} for good?`);
  try {
    print(`forgot everything of ${what}`, await memory.forgetUser(userId, { project }));
  } catch (error) {
    if (!isSidebandError(error, "not_found")) throw error;
    throw new CommandError(`there is nothing of ${what}`);
  }
}

/** Throws unless the person says yes. */
async function confirm({ flags }: MemoryCall, question: string): Promise<void> {
  if (flags.yes) return;
  if ((await asked(`${question} Type yes: `)) !== "yes") throw new CommandError("nothing was forgotten");
}

export const facts: Command = memoryCommand(
  {
    name: "facts",
    summary: "print all facts of a user",
    words: [],
    about:
      "Prints all facts as LABEL=value lines, as an agent here sees them. Where some are a project's, a line with # says whose they are. A line\n# until TIME says when the next fact ends. Characters that nobody sees, or that turn text around, are printed as \\u and a number; --json is exact.",
    failures: "1 if it failed",
  },
  async ({ memory, userId, project, print }) => {
    const answer = await memory.facts(userId, { project });
    if (answer.facts.length === 0) console.error(`${userId} has no facts`);
    print(factLines(answer, project), answer);
  },
);

function factLines({ user_id, facts: all }: FactsAnswer, project: string | undefined): string {
  const lines = (some: readonly StoredFact[]) =>
    some.flatMap(({ label, value, expires_at: until }) => [
      ...(until === undefined ? [] : [`# until ${localTime(until)}`]),
      `${label}=${value}`,
    ]);
  if (project === undefined || all.every(({ place }) => place === "person")) return lines(all).join("\n");
  const places: [PlaceKind, string][] = [
    ["person", user_id],
    ["project", `${user_id} in ${project.split("/")[0]}`],
    ["worktree", `${user_id} in ${project}`],
  ];
  return places
    .flatMap(([kind, heading]) => {
      const some = all.filter(({ place }) => place === kind);
      return some.length === 0 ? [] : [`# ${heading}`, ...lines(some)];
    })
    .join("\n");
}

export const context: Command = memoryCommand(
  {
    name: "context",
    summary: "print the section for an agent's prompt",
    words: [],
    about: `Prints the memory as an agent here gets it in its prompt: the facts in plain text; with SIDEBAND_INCLUDE=both the
sealed block, too, and with block that alone.`,
    failures: "1 if it failed",
  },
  async ({ memory, userId, config: { include }, project, print }) => {
    const answer = await memory.context(userId, { project, include });
    if (answer.channel_count === 0) console.error(`${userId} has no facts`);
    print(memorySection(answer, include), answer);
  },
);
