/** The commands that undo what a command has done to the labels of an account. */

import type { ChannelsAnswer, LabelAnswer } from "../contract/answers.ts";
import { quotedOption, shellQuote } from "../main/shell-quote.ts";
import type { Sideband } from "../sdk/index.ts";
import { sidebandCommand } from "./printed-commands.ts";

type Listed = ChannelsAnswer["channels"][number];

const EVERYONE = "everyone";

/** @param calls of `sideband labels`; none where nothing was changed */
export function undoText(calls: readonly string[], sameMemory: string): string {
  if (calls.length === 0) return "";
  const commands = calls.map((call) => `${sidebandCommand()} labels ${call}${sameMemory}`);
  return `; undo: ${commands.join(" && ")}`;
}

export async function labelBefore(memory: Sideband<string>, label: string): Promise<Listed | undefined> {
  return (await memory.channels()).channels.find((channel) => channel.label === label);
}

/** The calls that add a removed label as it was. */
export function addedAgain(before: Listed): string[] {
  const { label, scope, hidden } = before;
  const terms = optionsOf(before).filter(([, text]) => text !== "" && text !== EVERYONE);
  const add = `add ${shellQuote(label)}${optionText([...terms, ["scope", scope ?? "person"]])}`;
  return hidden ? [add, `hide ${shellQuote(label)}`] : [add];
}

/** The call that changes back what has been changed. */
export function changedBack(before: Listed | undefined, after: LabelAnswer): string[] {
  const now = new Map(optionsOf(after));
  const changed = optionsOf(before ?? after).filter(([name, text]) => now.get(name) !== text);
  return changed.length === 0 ? [] : [`edit ${shellQuote(after.label)}${optionText(changed)}`];
}

function optionsOf(terms: Listed | LabelAnswer): [name: string, text: string][] {
  const { description, example, one_of = [], max_bytes = "", ttl_s, writers = EVERYONE } = terms;
  return [
    ["description", description],
    ["example", example],
    ["one-of", one_of.join(",")],
    ["max-bytes", String(max_bytes)],
    ["for", ttl_s === undefined ? "" : `${ttl_s}s`],
    ["writers", writers],
  ];
}

function optionText(options: readonly [name: string, text: string][]): string {
  return options.map(([name, text]) => ` ${quotedOption(name, text)}`).join("");
}
