/**
 * The labels as a model sees them, in the description of one tool: the account's own first, with what they are for, then
 * the standard ones. Hidden ones are left out. The text is short, because a model reads it with every call: where the
 * own labels have long descriptions, only their names are shown, and of very many names the first.
 */

import { CHANNELS } from "../base/channels.ts";
import type { ChannelsAnswer } from "../contract/answers.ts";

export type ToolLabel = Pick<
  ChannelsAnswer["channels"][number],
  "label" | "description" | "own" | "hidden" | "one_of"
>;

export const STANDARD_TOOL_LABELS: readonly ToolLabel[] = CHANNELS;

/** Of the own labels with their descriptions, in characters. */
const DESCRIBED_LENGTH_MAX = 600;
/** Of the names of the own labels alone. */
const NAMES_LENGTH_MAX = 2_600;

/** `FAMILY: wife (her name), child; USER: name, role, …` */
export function labelsText(labels: readonly ToolLabel[]): string {
  const shown = labels.filter(({ hidden }) => hidden !== true);
  const own = shown.filter((label) => label.own === true);
  const standard = shown.filter((label) => label.own !== true);
  return [ownText(own), groupsText(standard, nameOf)].filter((text) => text !== "").join("; ");
}

function ownText(own: readonly ToolLabel[]): string {
  const described = groupsText(own, describedName);
  if (described.length <= DESCRIBED_LENGTH_MAX) return described;
  for (let count = own.length; ; count--) {
    const names = groupsText(own.slice(0, count), nameOf);
    if (names.length > NAMES_LENGTH_MAX) continue;
    return count === own.length ? names : `${names}; and ${own.length - count} more`;
  }
}

function groupsText(labels: readonly ToolLabel[], textOf: (label: ToolLabel) => string): string {
  const groups = new Map<string, string[]>();
  for (const label of labels) {
    const [group] = label.label.split(".");
    const names = groups.get(group) ?? [];
    groups.set(group, names);
    names.push(textOf(label));
  }
  return [...groups].map(([group, names]) => `${group}: ${names.join(", ")}`).join("; ");
}

function nameOf({ label }: ToolLabel): string {
  return label.slice(label.indexOf(".") + 1);
}

function describedName(label: ToolLabel): string {
  const values = label.one_of === undefined ? "" : `: ${label.one_of.join("|")}`;
  return `${nameOf(label)} (${label.description}${values})`;
}
