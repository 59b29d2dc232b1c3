/**
 * What was put into a text, so that it can be taken out byte for byte, without a copy of the text: a user's settings hold
 * secrets of others. A change is the places of what was put in, and a checksum of the text with it. It can be undone as long
 * as nobody has changed the text since.
 */

import { createHash } from "node:crypto";

export interface TextChange {
  /** SHA-256 of the text after the change, in hexadecimal. */
  readonly checksum: string;
  /** Where each part that was put in begins, and how long it is. */
  readonly parts: readonly (readonly [start: number, length: number])[];
  /** Whether the one part is in the place of a JSON null. */
  readonly wasNull?: true;
}

/** Null where something else than a JSON null was also taken out. */
export function changeBetween(before: string, after: string): TextChange | null {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  if (before.slice(head, before.length - tail) === "null")
    return { checksum: checksumOf(after), parts: [[head, after.length - tail - head]], wasNull: true };
  const parts: [number, number][] = [];
  // The old text is in the new one, in its order: whatever does not match its next character was put in.
  let next = head;
  for (let at = head; at < after.length - tail; at++) {
    const last = parts.at(-1);
    if (next < before.length - tail && before[next] === after[at]) next += 1;
    else if (last !== undefined && last[0] + last[1] === at) last[1] += 1;
    else parts.push([at, 1]);
  }
  return next === before.length - tail ? { checksum: checksumOf(after), parts } : null;
}

/** The text before the change; undefined if the text is another one by now. */
export function textBefore(text: string, change: TextChange | null): string | undefined {
  if (change === null || checksumOf(text) !== change.checksum) return undefined;
  let before = "";
  let at = 0;
  for (const [start, length] of change.parts) {
    before += text.slice(at, start) + (change.wasNull ? "null" : "");
    at = start + length;
  }
  return before + text.slice(at);
}

function checksumOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
