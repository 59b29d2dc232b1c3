/** From labels to channels and back. An unknown label is refused, with a hint where one label is really near. */

import { CHANNELS, findChannel } from "../base/channels.ts";
import { Failure } from "../base/errors.ts";

/** A label within this many edits is a typing error. A wrong hint makes a model overwrite a real fact. */
const SLIP_EDITS_MAX = 2;

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
  return CHANNELS[channel].label;
}

/** The one label that differs by one or two letters, or only in case or separators. */
export function nearLabel(text: string): string | undefined {
  const wanted = plain(text);
  const near = CHANNELS.map(({ label }) => label).filter((label) => {
    const known = plain(label);
    if (Math.abs(known.length - wanted.length) > SLIP_EDITS_MAX) return false;
    return editDistance(wanted, known) <= SLIP_EDITS_MAX;
  });
  const same = near.filter((label) => plain(label) === wanted);
  const [only, ...others] = same.length > 0 ? same : near;
  return others.length === 0 ? only : undefined;
}

/** Without case and separators. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[\s._:/-]/g, "");
}

/** Levenshtein's distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
