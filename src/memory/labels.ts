/** From labels to channels and back. An unknown label is refused, with a hint where one label is really near. */

import { assertInteger } from "../base/assert.ts";
import { CHANNELS, findChannel } from "../base/channels.ts";
import { isSlip } from "../base/edit-distance.ts";
import { Failure } from "../base/errors.ts";

export function channelOf(label: string): number {
  const found = findChannel(label);
  if (found !== undefined) return found.channel;
  const hint = nearLabel(label);
  const advice = hint === undefined ? "GET /channels lists all of them." : `Did you mean ${hint}?`;
  throw new Failure("unknown_label", `There is no such label. ${advice}`, {
    param: "label",
    ...(hint === undefined ? {} : { hint }),
  });
}

export function labelOf(channel: number): string {
  assertInteger(channel, 0, CHANNELS.length - 1, "channel");
  return CHANNELS[channel].label;
}

interface Spelling {
  readonly label: string;
  readonly whole: string;
  readonly name: string;
}

const SPELLINGS: readonly Spelling[] = CHANNELS.map(({ label }) => {
  const [, name] = label.split(".");
  return { label, whole: plain(label), name: plain(name) };
});
const GROUPS = [...new Set(CHANNELS.map(({ label }) => plain(label.split(".")[0])))];

/**
 * The one label that was probably meant: its name stands alone or after another group, or the label has a slip, or only
 * another case or other separators. A wrong hint makes a model overwrite a real fact.
 */
export function nearLabel(text: string): string | undefined {
  const wanted = plain(text);
  const same = SPELLINGS.find(({ name }) => wanted === name || inAllGroups(name).includes(wanted));
  if (same !== undefined) return same.label;
  const isNear = (whole: string, name: string) => isSlip(wanted, whole, name.length);
  const [only, ...others] = SPELLINGS.filter(({ name }) =>
    inAllGroups(name).some((whole) => isNear(whole, name)),
  );
  // A slip in the name and another group are two faults: what was meant is not sure any more.
  return only !== undefined && others.length === 0 && isNear(only.whole, only.name) ? only.label : undefined;
}

function inAllGroups(name: string): string[] {
  return GROUPS.map((group) => group + name);
}

/** Without case and separators. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[\s._:/-]/g, "");
}
