/**
 * sideband remember, recall, forget, facts, context: the memory for a person at a terminal. The commands use the
 * memory as an agent in the same folder does. Only remember begins a store.
 */

import { createInterface } from "node:readline/promises";
import { PLACE_KINDS } from "../../agent-side/agent-memory.ts";
import { terminalText } from "../../agent-side/escaped-text.ts";
import { memorySection } from "../../agent-side/memory-section.ts";
import { sanitizeValue } from "../../agent-side/secrets.ts";
import {
  forgottenLine,
  quotedValue,
  readRevisions,
  readRevisionsAfter,
  writtenLine,
} from "../../agent-side/written-line.ts";
import { LABELS } from "../../base/channel-labels.ts";
import { TTL_S_MAX } from "../../base/limits.ts";
import type { FactsAnswer, PlaceKind, StoredFact } from "../../contract/answers.ts";
import { shellQuote } from "../../main/shell-quote.ts";
import { isSidebandError } from "../../sdk/index.ts";
import { type Call, type Command, CommandError, oneOf, UsageError } from "../command.ts";
import { type MemoryCall, memoryCommand, orNoFact, WRITER } from "../memory-command.ts";
import { durationS, endMs, localTime } from "../moments.ts";
import { sidebandCommand, undoHere } from "../printed-commands.ts";

export const remember: Command = memoryCommand(
  {
    name: "remember",
    summary: "store a fact; one with the same label is replaced, and can be restored",
    words: ["LABEL", "VALUE"],
    usage: "[--for 7d | --until WHEN] [--add] [--scope person|project|worktree]",
    options: `  --for TIME      how long it counts: 90s, 30m, 12h, 7d, 2w, 1y
  --until WHEN    until when: friday, "next monday 9:00", "in 3 days", 1y, "31 Dec", 2026-12-31 (through the end of that
                  day), or RFC 3339
  --add           add VALUE as an item to the list on LABEL (items are joined by "; ")
  --scope SCOPE   where it is kept, whatever its label says`,
    about: `Stores a fact, exactly as written: sideband remember USER.gpu "RTX 5090". Prints what it replaced, and the command that
restores that. As with agents, <private> parts are left out, and what looks like a key, a token or a password is refused
(SIDEBAND_ALLOW_SECRETS=1 lets it be stored). "sideband labels" lists your labels, and "sideband labels add" adds one.
The 40 that everybody has:

${labelLines()}`,
    failures: "1 if it was refused",
    begins: true,
    check({ words: [label, value], texts, flags: { add } }) {
      if (value.trim() === "")
        throw new CommandError(
          "the VALUE is empty or spaces alone: there is nothing to remember; sideband forget LABEL deletes a fact",
        );
      termsOf(texts);
      if (add && (texts.for ?? texts.until) !== undefined)
        throw new UsageError(
          `an end is one of the whole list on ${label}, not of an item: give what ends a label of its own, without --add`,
        );
    },
  },
  async ({ memory, userId, config, project, words: [label, value], texts, flags, sameMemory, print }) => {
    const kept = sanitizeValue(value, config.allowSecrets, label);
    const options = { ...termsOf(texts), project, writtenBy: WRITER };
    const answer = flags.add
      ? await memory.append(userId, label, kept, options)
      : await memory.encode(userId, label, kept, options);
    const history = await readRevisionsAfter(memory, userId, answer, { project });
    print(writtenLine(answer, history, undoHere(sameMemory), localTime), answer);
  },
);

function termsOf({ for: life, until, scope }: Call["texts"]) {
  if (life !== undefined && until !== undefined)
    throw new UsageError("--for says how long and --until how late: give one of them");
  const expiresAt = until === undefined ? undefined : new Date(endMs("--until", until)).toISOString();
  const ttlS = life === undefined ? undefined : durationS("--for", life);
  if (ttlS !== undefined && ttlS > TTL_S_MAX)
    throw new UsageError(`--for takes at most ${TTL_S_MAX / 86_400} days, not "${life}"`);
  return { scope: oneOf("scope", PLACE_KINDS, scope), ttlS, expiresAt };
}

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
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const asked = terminal.question(terminalText(`${question} Type yes: `));
  const answer = await asked.finally(() => terminal.close());
  if (answer.trim().toLowerCase() !== "yes") throw new CommandError("nothing was forgotten");
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

/** The labels, five on a line. */
function labelLines(): string {
  const lines = Array.from({ length: LABELS.length / 5 }, (_, i) => LABELS.slice(5 * i, 5 * i + 5));
  return lines.map((labels) => `  ${labels.join(" ")}`).join("\n");
}
