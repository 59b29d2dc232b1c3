/**
 * sideband recall, find, forget, facts, context: the memory for a person at a terminal. The commands use the memory as an
 * agent in the same folder does.
 */

import { FACT_PLACES } from "../../agent-side/agent-memory.ts";
import { contextFor, memorySection } from "../../agent-side/memory-section.ts";
import {
  forgottenLine,
  placeOfFact,
  placeOption,
  quotedValue,
  readRevisions,
} from "../../agent-side/written-line.ts";
import { groupOf } from "../../base/channel-labels.ts";
import { parseGroups } from "../../base/groups.ts";
import { contextTokens } from "../../config.ts";
import type { FactRevision, FindAnswer, PlaceKind, StoredFact } from "../../contract/answers.ts";
import { shellQuote } from "../../main/shell-quote.ts";
import { isSidebandError } from "../../sdk/index.ts";
import { type Command, CommandError, UsageError } from "../command.ts";
import {
  GROUPS_HELP,
  type MemoryCall,
  memoryCommand,
  printOtherFacts,
  shownGroups,
  WRITER,
  withNotFoundText,
} from "../memory-command.ts";
import { localTime } from "../moments.ts";
import { placeText } from "../named-project.ts";
import { ask, counted } from "../printed.ts";
import { sidebandCommand, undoOf } from "../printed-commands.ts";
import { parsed, scopeOf, TEAM_HELP } from "../shared-options.ts";

export const recall: Command = memoryCommand(
  {
    name: "recall",
    summary: "print one fact",
    words: ["LABEL"],
    about: "Prints the value of one fact.",
    failures: "1 if there is no such fact",
  },
  async (call) => {
    const { memory, userId, project, words, flags, print } = call;
    const [label] = words;
    const answer = await memory.decode(userId, label, { project }).catch(async (error: unknown) => {
      if (!isSidebandError(error, "fact_not_found")) throw error;
      throw new CommandError(`${userId} has no fact ${label}${await missingFactText(call, label)}`);
    });
    print(answer.value, answer);
    if (answer.expires_at !== undefined && !flags.json)
      console.error(`until ${localTime(answer.expires_at)}`);
  },
);

async function missingFactText(call: MemoryCall, label: string): Promise<string> {
  const { memory, userId, project } = call;
  const { revisions, place } = await withNotFoundText(
    memory.history(userId, label, { project }),
    userId,
    label,
  );
  const [{ revision, ended, ended_at: endedAt } = {} as FactRevision] = revisions;
  if (endedAt === undefined) return "";
  const how = ended === "expired" ? "ended" : "was forgotten";
  const { program, options } = undoOf(call, place, project);
  const back = `${program} restore ${shellQuote(label)} ${revision}${placeOption(place)}${options}`;
  return `: it ${how} ${localTime(endedAt)}\nto get it back: ${back}`;
}

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
the next fact is kept, if it is not the person's own, and # until TIME when it ends; # perhaps stands before a guess: the fact has only a word that is like
one of these, or half of them or fewer, and none in the name of its label.`,
    failures: "1 if nothing is found",
    check({ texts: { limit } }) {
      if (limit !== undefined && !(/^\d{1,2}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 50))
        throw new UsageError("--limit takes a whole number from 1 to 50");
    },
  },
  async ({ memory, userId, project, words, texts: { limit }, flags: { everywhere, json }, print }) => {
    const asked = { project, limit: limit === undefined ? undefined : Number(limit) };
    const look = (isEverywhere: boolean | undefined) =>
      memory.find(userId, words.join(" "), { ...asked, everywhere: isEverywhere });
    const answer = await look(everywhere);
    const isSure = ({ facts }: FindAnswer) => facts.some(({ guess }) => !guess);
    const isElsewhere = !everywhere && !json && !isSure(answer) && isSure(await look(true));
    const advice = isElsewhere ? ["another project has one: --everywhere looks in all projects"] : [];
    if (answer.facts.length === 0 && !json)
      throw new CommandError([`${userId} has no fact with these words`, ...advice].join("; "));
    const lines = answer.facts.flatMap(({ label, value, project: place, guess, expires_at: until }) => {
      const about = [
        ...(guess ? ["perhaps"] : []),
        ...(place === undefined ? [] : [`in ${place}`]),
        ...(until === undefined ? [] : [`until ${localTime(until)}`]),
      ];
      return [...(about.length === 0 ? [] : [`# ${about.join(", ")}`]), `${label}=${value}`];
    });
    print([...lines, ...advice.map((text) => `# ${text}`)].join("\n"), answer);
  },
);

export const forget: Command = memoryCommand(
  {
    name: "forget",
    summary: "forget one fact, or everything of a user",
    words: ["[LABEL]"],
    usage: "[--for-good | --item TEXT] [--shared | --own] [--all] [--yes]",
    options: `  --item TEXT     only this item of the list on LABEL
  --for-good      with all the values that LABEL had: nothing brings them back
${TEAM_HELP}
  --all           everything of the user for good, in all projects; with --project NAME, what is kept for it alone. --person
                  is for LABEL, not for this
  --yes           do not ask before`,
    about: `Forgets one fact. Its values stay in the history, and the command that brings it back is printed. With --for-good they
are deleted, too. With --all everything of the user is deleted. Both ask before.`,
    failures: "1 if there is nothing to forget, or the answer was no",
    check({ words: [label], texts: { item }, flags }) {
      const { all, yes, json, person, "for-good": isForGood } = flags;
      if ((label === undefined) !== (all === true)) throw new UsageError("it takes LABEL, or --all");
      if (scopeOf({ flags }) !== undefined && all)
        throw new UsageError(
          "--shared and --own are for LABEL; sideband project erase erases what is shared",
        );
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
    } = call;
    if (flags.all) return forgetAll(call);
    if (texts.item !== undefined) return forgetItem(call, label, texts.item);
    const keepHistory = flags["for-good"] !== true;
    if (!keepHistory) await confirm(call, `Forget ${label} of ${userId} with all the values that it had?`);
    const scope = await scopeMeant(call, label);
    const answer = await withNotFoundText(
      memory.forget(userId, label, { project, keepHistory, scope }),
      userId,
      label,
    );
    if (!keepHistory) return print(`${label}: forgotten for good`, answer);
    const kept = await readRevisions(memory, userId, label, { project, scope });
    print(forgottenLine(label, kept, undoOf(call, scope, project), scope), answer);
  },
);

/** The place that is said, or else that of the fact which counts: what is printed to undo it must mean that one. */
async function scopeMeant(call: MemoryCall, label: string): Promise<PlaceKind | undefined> {
  const { memory, userId, project } = call;
  return scopeOf(call) ?? placeOfFact(memory, userId, label, { project });
}

async function forgetItem(call: MemoryCall, label: string, item: string): Promise<void> {
  const { memory, userId, project, print } = call;
  const scope = await scopeMeant(call, label);
  const remove = (one: string) => memory.remove(userId, label, one, { project, scope, writtenBy: WRITER });
  const removed = remove(item).catch(async (error) => {
    if (!isSidebandError(error, "fact_not_found") || error.param !== "item") throw error;
    const items = error.items ?? [];
    const alike = items.filter((one) => one.toLowerCase() === item.toLowerCase());
    if (alike.length === 1) return remove(alike[0]!);
    throw new CommandError(
      `the list on ${label} has no item "${item}"; it has: ${items.map((one) => quotedValue(one)).join(", ")}`,
    );
  });
  const answer = await withNotFoundText(removed, userId, label);
  const kept = await readRevisions(memory, userId, label, { project, scope });
  const was = kept?.find(({ ended }) => ended !== undefined);
  const undo =
    was === undefined
      ? "no undo: the list as it was is not kept"
      : `undo: ${sidebandCommand()} restore ${shellQuote(label)} ${was.revision}${placeOption(scope)}${undoOf(call, scope, project).options}`;
  const gone = was?.value.split("; ").find((one) => one.toLowerCase() === item.toLowerCase()) ?? item;
  print(`${label}: forgot ${quotedValue(gone)}; ${undo}`, answer);
}

/** A project must be named: in a repository, "all" would be less than it says. */
async function forgetAll(call: MemoryCall): Promise<void> {
  const { memory, userId, texts, print } = call;
  const { project } = texts;
  const what = project === undefined ? `${userId}, in all projects` : `${userId} in ${project}`;
  await confirm(call, `Forget everything of ${what} for good?`);
  try {
    const answer = await memory.forgetUser(userId, { project });
    const left = (answer.left ?? []).map(({ project: shared, values }) => {
      return `\n${counted(values, "value")} of ${shared} ${values === 1 ? "stays" : "stay"} without the name of ${userId}: the shared project has what its members wrote`;
    });
    print(`forgot everything of ${what}${left.join("")}`, answer);
  } catch (error) {
    if (!isSidebandError(error, "not_found")) throw error;
    throw new CommandError(`there is nothing of ${what}`);
  }
}

/** Throws unless the person says yes. */
async function confirm({ flags }: MemoryCall, question: string): Promise<void> {
  if (flags.yes) return;
  if ((await ask(`${question} Type yes: `)) !== "yes")
    throw new CommandError("nothing was forgotten: only yes, in full, forgets");
}

export const facts: Command = memoryCommand(
  {
    name: "facts",
    summary: "print all facts of a user",
    words: ["[GROUP]"],
    usage: "[--ending] [--groups LIST]",
    options: `  --ending        those that end, the next one first
  --groups LIST   only these groups (USER,PREF), or all but those: --groups=-HEALTH,-HOME`,
    about: `Prints all facts as LABEL=value lines, as an agent here sees them, or those of one group: sideband facts FAMILY. Where
some are a project's, a line with # says whose they are, and of shared ones who wrote them; # hides says what a fact of
one's own hides. A line # until TIME says when the next fact ends. Characters that nobody sees, or that turn text around, are printed as \\u and a number; --json is exact.`,
    failures: "1 if it failed",
  },
  async ({ memory, userId, project, config, words: [group], texts, flags: { ending }, print }) => {
    const answer = await memory.facts(userId, { project, groups: texts.groups });
    const end = ({ expires_at: until = "" }: StoredFact) => until;
    const some = answer.facts
      .filter(({ label }) => group === undefined || groupOf(label) === group.toUpperCase())
      .filter((fact) => !ending || end(fact) !== "");
    const facts = ending ? some.sort((a, b) => (end(a) < end(b) ? -1 : 1)) : some;
    const wanted = `${group === undefined ? "" : ` in ${group.toUpperCase()}`}${ending ? " that end" : ""}`;
    if (facts.length === 0) console.error(`${userId} has no facts${wanted}`);
    const nameOf = (place: PlaceKind | undefined) => placeText(place, project, config);
    const lines = ending ? factLines(facts, nameOf) : placedLines(facts, userId, nameOf);
    print(lines.join("\n"), { ...answer, facts });
  },
);

/** @param nameOf whose the facts of a place are, where a line is to say it */
function factLines(
  facts: readonly StoredFact[],
  nameOf: (place: PlaceKind | undefined) => string | undefined = () => undefined,
): string[] {
  return facts.flatMap(({ label, value, place, expires_at: until, hides }) => {
    const owner = nameOf(place);
    return [
      ...(owner === undefined ? [] : [`# for ${owner}`]),
      ...(hides === undefined ? [] : [`# hides what is shared${byText(hides)}: ${quotedValue(hides.value)}`]),
      ...(until === undefined ? [] : [`# until ${localTime(until)}`]),
      `${label}=${value}`,
    ];
  });
}

/** Who wrote what is shared, and with what. */
function byText({ user_id: user, written_by: writer }: Pick<StoredFact, "user_id" | "written_by">): string {
  const names = [user, writer].filter((name) => name !== undefined);
  return names.length === 0 ? "" : ` by ${names.join(", ")}`;
}

function placedLines(
  all: readonly StoredFact[],
  userId: string,
  nameOf: (place: PlaceKind) => string | undefined,
): string[] {
  if (all.every(({ place = "person" }) => place === "person")) return factLines(all);
  return FACT_PLACES.flatMap((kind) => {
    const some = all.filter(({ place }) => place === kind);
    const owner = nameOf(kind);
    if (some.length === 0) return [];
    if (kind !== "shared")
      return [`# ${userId}${owner === undefined ? "" : `, for ${owner}`}`, ...factLines(some)];
    const writers = [...new Set(some.map(byText))];
    return writers.flatMap((writer) => [
      `# for ${owner}${writer === "" ? "" : `, written${writer}`}`,
      ...factLines(some.filter((fact) => byText(fact) === writer)),
    ]);
  });
}

export const context: Command = memoryCommand(
  {
    name: "context",
    summary: "print the section for an agent's prompt",
    words: [],
    about: `Prints the memory as an agent here gets it in its prompt: the facts in plain text, as many as SIDEBAND_CONTEXT_TOKENS
allows (800), and the names of the others; with SIDEBAND_INCLUDE=both the sealed block, too, and with block that alone.`,
    options: `  --max-tokens N  tokens that the section may have, 200 to 100000; 0 for all facts
${GROUPS_HELP}`,
    failures: "1 if it failed",
  },
  async (call) => {
    const { memory, userId, config, project, texts, print } = call;
    const { include } = config;
    const given = texts["max-tokens"];
    const tokens = given === undefined ? config.contextTokens : parsed("--max-tokens", contextTokens, given);
    const groups = await shownGroups(call);
    const answer = await memory.context(userId, { project, groups, ...contextFor(include, tokens) });
    const others = texts.groups === undefined && groups !== undefined ? await factsOutside(call, groups) : [];
    if (answer.channel_count === 0 && others.length === 0) console.error(`${userId} has no facts`);
    printOtherFacts(call, others, "shown");
    print(memorySection(answer, include), answer);
  },
);

async function factsOutside({ memory, userId, project }: MemoryCall, groups: string): Promise<StoredFact[]> {
  const shown = parseGroups(groups);
  const { facts } = await memory.facts(userId, { project });
  return facts.filter(({ label }) => !shown.has(label));
}
