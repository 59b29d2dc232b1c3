/** From labels to channels and back. An unknown label is refused with the nearest one as a hint. */

import { Failure } from "../base/errors.ts";
import { CHANNELS, findChannel } from "./channels.ts";

/** Longer texts are cut before they are compared: the answer would be as useless, and slower. */
const COMPARED_LENGTH_MAX = 64;

export function channelOf(label: string): number {
  const found = findChannel(label);
  if (found !== undefined) return found.channel;
  const hint = nearestLabel(label);
  throw new Failure("unknown_label", `There is no channel with this label. Did you mean ${hint}?`, {
    param: "label",
    hint,
  });
}

export function labelOf(channel: number): string {
  return CHANNELS[channel].label;
}

/** The label with the fewest edits; the name alone counts too, so that "name" finds USER.name. */
export function nearestLabel(text: string): string {
  const wanted = text.slice(0, COMPARED_LENGTH_MAX).toLowerCase();
  let best = CHANNELS[0].label;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const { label } of CHANNELS) {
    const whole = label.toLowerCase();
    const name = whole.slice(whole.indexOf(".") + 1);
    const distance = Math.min(editDistance(wanted, whole), editDistance(wanted, name) + 0.5);
    if (distance < bestDistance) {
      best = label;
      bestDistance = distance;
    }
  }
  return best;
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
