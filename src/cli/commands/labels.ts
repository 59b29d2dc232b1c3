/**
 * sideband labels, labels add, labels add-set, labels edit, labels hide, labels show, labels remove, labels strict, users: what an account
 * has, and the labels that a person has made.
 */

import { PLACE_KINDS } from "../../agent-side/agent-memory.ts";
import { LABEL_SET_NAMES, LABEL_SETS } from "../../base/label-sets.ts";
import { CHANNEL_COUNT_MAX } from "../../base/limits.ts";
import type { ChannelsAnswer, LabelAnswer, StoredFact } from "../../contract/answers.ts";
import { quotedOption, shellQuote } from "../../main/shell-quote.ts";
import { isSidebandError } from "../../sdk/index.ts";
import { type Call, type Command, CommandError, oneOf, UsageError } from "../command.ts";
import { allPages, memoryCommand, WRITER } from "../memory-command.ts";
import { durationS, localTime } from "../moments.ts";
import { counted, table } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { addedAgain, changedBack, labelBefore, undoText } from "../undone-labels.ts";

const PAGE = 200;

export const labels: Command = memoryCommand(
  {
    name: "labels",
    summary: "list the labels of the account and of a user",
    words: [],
    usage: "[--all]",
    options: "  --all           the hidden ones, too",
    about:
      "Lists the labels of facts, your own first, with what belongs there: those of the account, and those that the user has\nmade by writing them, as an agent here sees them. Hidden ones are not offered to agents.",
    failures: "1 if it failed",
    // A new account has the standard ones.
    withoutStore: async (call) => {
      const { standardChannels } = await import("../../main/standard-channels.ts");
      printLabels(standardChannels(), [], call);
    },
  },
  async (call) => {
    const { memory, userId, project } = call;
    const { facts } = await memory.facts(userId, { project });
    printLabels(await memory.channels(), facts, call);
  },
);

function printLabels(
  { channels, free }: ChannelsAnswer,
  facts: readonly StoredFact[],
  { flags, print }: Call,
): void {
  const shown = channels.filter(({ hidden }) => flags.all || !hidden);
  const [declared, standard] = [shown.filter(({ own }) => own), shown.filter(({ own }) => !own)];
  const made = facts
    .filter(({ channel }) => channel >= CHANNEL_COUNT_MAX)
    .map(({ label, place, description }) => ({ label, scope: place ?? "person", description }));
  const row = (channel: ChannelsAnswer["channels"][number]) => {
    const { label, scope = "", hidden, one_of, description } = channel;
    const values = one_of === undefined ? "" : ` [${one_of.join(" | ")}]`;
    return [label, scope, `${hidden ? "(hidden) " : ""}${description}${values}${originOf(channel)}`];
  };
  const rows = [
    ...declared.map(row),
    ...made.map(({ label, scope, description = "" }) => [label, scope, description]),
    ...standard.map(row),
  ];
  const left =
    free === undefined
      ? ""
      : `\n${counted(free, "label")} can be added: ${sidebandCommand()} help labels add`;
  const object = { channels: [...declared, ...standard], made, free };
  print(table(["LABEL", "KEPT FOR", "WHAT"], rows) + left, object);
}

/** When an own label was added, and by whom, as far as that is known. */
function originOf({ created_at, created_by, created_key }: ChannelsAnswer["channels"][number]): string {
  if (created_at === undefined) return "";
  const day = localTime(created_at).slice(0, "YYYY-MM-DD".length);
  const by = created_by === undefined ? "" : ` by ${created_by}`;
  const key = created_key === undefined ? "" : ` with the key ${created_key}…`;
  return ` (added ${day}${by}${key})`;
}

const TERMS_HELP = `  --description TEXT  what belongs there: agents choose the label by it
  --example TEXT  an example of a value
  --one-of A,B,…  the values that it may have
  --max-bytes N   the longest value
  --for TIME      how long its facts count, unless they say otherwise
  --writers WHO   account: only the account's own key, bound to no user, writes it; everyone (default)
Values, bytes and time are taken away by an empty text: --max-bytes ''.`;

export const labelsAdd: Command = memoryCommand(
  {
    name: "labels add",
    summary: "add a label for all users of the account",
    words: ["LABEL"],
    usage:
      "--description TEXT [--example TEXT] [--one-of A,B,…] [--max-bytes N] [--for 7d] [--scope person|project|worktree] [--writers account|everyone]",
    options: `${TERMS_HELP}
  --scope SCOPE   where its facts are kept (default person)`,
    about: `Adds a label for all users of the account, with what its values are like: sideband labels add ORDER.last
--description "the number of the last order". 216 can be added, and those that nothing uses removed. A label for one
person needs no adding: sideband remember makes it.`,
    failures: "1 if it was refused",
    check({ texts }) {
      if (texts.description === undefined)
        throw new UsageError("--description TEXT is needed: agents choose the label by it");
      termsOf(texts);
    },
  },
  async ({ memory, words: [label], texts, sameMemory, print }) => {
    const terms = { ...termsOf(texts), description: texts.description! };
    const before = await labelBefore(memory, label);
    const answer = await memory.addLabel(label, terms, { writtenBy: WRITER });
    const undo = undoText(before === undefined ? [`remove ${shellQuote(label)}`] : [], sameMemory);
    print(`added ${answer.label}; its facts are kept for the ${answer.scope}${undo}`, answer);
  },
);

export const labelsEdit: Command = memoryCommand(
  {
    name: "labels edit",
    summary: "change what a label of the account says",
    words: ["LABEL"],
    usage:
      "[--description TEXT] [--example TEXT] [--one-of A,B,…] [--max-bytes N] [--for 7d] [--writers account|everyone]",
    options: TERMS_HELP,
    about: `Changes the terms of a label that was added, for what is written from now on. The description of a label that a user
has made by writing it changes with a write: sideband remember LABEL VALUE --description TEXT.`,
    failures: "1 if it was refused",
    check({ texts }) {
      const { scope: _, ...terms } = termsOf(texts);
      if (Object.values(terms).every((term) => term === undefined))
        throw new UsageError("it takes what is to change, such as --description TEXT");
    },
  },
  async ({ memory, userId, project, words: [label], texts, sameMemory, print }) => {
    const { scope: _, ...terms } = termsOf(texts);
    const before = await labelBefore(memory, label);
    const changed = memory.changeLabel(label, terms).catch(async (error) => {
      if (!isSidebandError(error, "unknown_label")) throw error;
      const { facts } = await memory.facts(userId, { project });
      if (!facts.some((fact) => fact.label === label)) throw error;
      const described = quotedOption("description", texts.description ?? "…");
      throw new CommandError(
        `${label} is a label that ${userId} has made, and has no terms; to describe it: ` +
          `${sidebandCommand()} remember ${shellQuote(label)} ${described}${sameMemory}`,
      );
    });
    const answer = await changed;
    const undo = undoText(changedBack(before, answer), sameMemory);
    print(`${answer.label}: ${answer.description}${undo}`, answer);
  },
);

function termsOf(texts: Call["texts"]) {
  const { description, example, for: life, scope, "max-bytes": bytes } = texts;
  if (bytes !== undefined && !/^\d{0,4}$/.test(bytes))
    throw new UsageError("--max-bytes takes a whole number from 1 to 1024");
  return {
    description,
    example,
    oneOf: given(texts["one-of"], (values) => values.split(",")),
    maxBytes: given(bytes, Number),
    ttlS: given(life, (text) => durationS("--for", text)),
    scope: oneOf("scope", PLACE_KINDS, scope),
    writers: oneOf("writers", ["account", "everyone"], texts.writers),
  };
}

/** An option with an empty text takes away what there was. */
function given<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  return text === "" ? null : text === undefined ? undefined : read(text);
}

export const labelsHide: Command = hidingCommand("hide", true);
export const labelsShow: Command = hidingCommand("show", false);

function hidingCommand(verb: string, hidden: boolean): Command {
  return memoryCommand(
    {
      name: `labels ${verb}`,
      summary: hidden ? "offer a label to agents no more" : "offer a hidden label to agents again",
      words: ["LABEL"],
      about: hidden
        ? "Hides a label: agents and pages offer it no more. Its facts stay, and can be read and written."
        : "Offers a hidden label to agents and pages again.",
      failures: "1 if there is no such label",
    },
    async ({ memory, words: [label], sameMemory, print }) => {
      const isSo = (await labelBefore(memory, label))?.hidden === hidden;
      const answer: LabelAnswer = await memory.changeLabel(label, { hidden });
      const undo = undoText(isSo ? [] : [`${hidden ? "show" : "hide"} ${shellQuote(label)}`], sameMemory);
      print(`${answer.label} is ${hidden ? "hidden" : "shown"}${undo}`, answer);
    },
  );
}

export const labelsRemove: Command = memoryCommand(
  {
    name: "labels remove",
    summary: "remove labels of your own that nothing uses",
    words: ["LABEL..."],
    about: `Removes labels, unless somebody has a fact with one, or the history of it: forget those first, or hide the
label (sideband labels hide). Added again, it is the same label as before.`,
    failures: "1 if one is in use, or there is no such label: the others are removed",
  },
  async ({ memory, words, sameMemory, print }) => {
    const used: string[] = [];
    for (const label of words) {
      const before = await labelBefore(memory, label);
      const answer = await memory.removeLabel(label).catch((error) => {
        if (!isSidebandError(error, "label_in_use")) throw error;
        used.push(label);
      });
      if (answer === undefined) continue;
      const undo = before === undefined ? [] : addedAgain(before);
      print(`removed ${label}${undoText(undo, sameMemory)}`, answer);
    }
    if (used.length === 0) return;
    const hide = used.map((label) => `${sidebandCommand()} labels hide ${shellQuote(label)}${sameMemory}`);
    throw new CommandError(
      `${used.join(", ")}: somebody has a fact there, or its history; forget it for good ` +
        `(${sidebandCommand()} forget LABEL --for-good), or offer the label to agents no more:\n${hide.join("\n")}`,
    );
  },
);

export const labelsStrict: Command = memoryCommand(
  {
    name: "labels strict",
    summary: "allow only declared labels, or any",
    words: ["on|off"],
    about: `With on, only the standard labels and those of "sideband labels add" can be written: nobody makes a label by
writing it. What was written before can still be read, forgotten and renamed. With off, which is the default, a person
may have any label.`,
    failures: "1 if it was refused",
    check({ words: [word] }) {
      if (word !== "on" && word !== "off") throw new UsageError("labels strict takes on or off");
    },
  },
  async ({ memory, words: [word], sameMemory, print }) => {
    const { strict = false } = await memory.channels();
    const answer = await memory.strictLabels(word === "on");
    const undo = undoText(strict === answer.strict ? [] : [`strict ${strict ? "on" : "off"}`], sameMemory);
    print(
      (answer.strict ? "only declared labels can be written" : "any label can be written") + undo,
      answer,
    );
  },
);

export const users: Command = memoryCommand(
  {
    name: "users",
    summary: "list the users of the account",
    words: [],
    usage: "[--prefix TEXT]",
    options: "  --prefix TEXT   only those whose user_id begins with it",
    about: "Lists the users of the account with the number of their own facts, and their projects.",
    failures: "1 if it failed",
  },
  async ({ memory, texts: { prefix }, print }) => {
    const found = await allPages(
      (cursor) => memory.users({ prefix, limit: PAGE, cursor }),
      (page) => page.users,
    );
    if (found.length === 0) console.error("there are no users");
    const rows = found.map(({ user_id, channel_count, updated_at, projects }) => [
      user_id,
      String(channel_count),
      updated_at === null ? "" : localTime(updated_at),
      projects.join(" "),
    ]);
    const lines = rows.length === 0 ? "" : table(["USER", "FACTS", "CHANGED", "PROJECTS"], rows);
    print(lines, { users: found });
  },
);

const named = (name: string) => LABEL_SET_NAMES.find((known) => known === name);

export const labelsAddSet: Command = memoryCommand(
  {
    name: "labels add-set",
    summary: "add the labels of a set for a purpose",
    words: ["SET"],
    about: `Adds the labels of a set with their descriptions, for all users of the account. Those that the account has are left as
they are. Run twice, it adds what was left. "sideband labels remove" removes one that nothing uses. The sets:

${[...LABEL_SETS].map(([name, labels]) => `  ${name.padEnd(10)}${groupsOf(labels)}`).join("\n")}`,
    failures: "1 if it was refused",
    check({ words: [name] }) {
      if (named(name) === undefined) throw new UsageError(`SET is one of ${LABEL_SET_NAMES.join(", ")}`);
    },
  },
  async ({ memory, words: [name], sameMemory, print }) => {
    const { added } = await memory.addLabelSet(named(name)!, { writtenBy: WRITER });
    const rows = added.map(({ label, description }) => [label, description]);
    const lines = rows.length === 0 ? "" : `${table(["LABEL", "WHAT"], rows)}\n`;
    const labels = added.map(({ label }) => label);
    const undo = undoText(labels.length === 0 ? [] : [`remove ${labels.join(" ")}`], sameMemory);
    print(`${lines}added ${counted(rows.length, "label")}${undo}`, { added: labels });
  },
);

function groupsOf(labels: readonly { readonly label: string }[]): string {
  const groups = [...new Set(labels.map(({ label }) => label.split(".")[0]))];
  return `${counted(labels.length, "label")}: ${groups.join(", ")}`;
}
