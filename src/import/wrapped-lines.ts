/**
 * Lines that an editor or a mail program has wrapped, as one line again. Notes one below the other stay apart: a line was
 * wrapped only if it had no room for the first word of the next one, and if it breaks off in a sentence.
 */

import { exactLine, keyOf } from "./keyed-line.ts";
import type { TextLine, TextPart } from "./text-parts.ts";

/** A line that is not as long was not wrapped. */
const WRAPPED_LENGTH_MIN = 45;
/** A sentence goes on after these. */
const OPEN_END = /(?:,|\b(?:a|an|the|of|to|in|on|at|and|or|for|with|my))$/;

/** Plain lines that were wrapped at a width, each as one line. A line with a key begins anew. */
export function withoutWraps(parts: readonly TextPart[]): TextPart[] {
  const result: TextPart[] = [];
  for (let i = 0; i < parts.length; ) {
    const run = [parts[i]];
    for (let next = parts[i + 1]; isPlain(parts[i]) && isPlain(next); next = parts[i + run.length]) {
      if (keyOf((next as TextLine).text) !== undefined) break;
      run.push(next);
    }
    result.push(...(run.length === 1 ? run : joinedRun(run as TextLine[])));
    i += run.length;
  }
  return result;
}

function isPlain(part: TextPart | undefined): boolean {
  return part?.kind === "line" && !part.isListed;
}

/** All of them as one line if no line had room for the first word of the next; else those that break off in a sentence. */
function joinedRun(lines: readonly TextLine[]): TextLine[] {
  const width = Math.max(...lines.map(({ text }) => text.length));
  const startsSmall = (text: string) => /^\p{Ll}/u.test(text);
  const isFull = ({ text }: TextLine, next: TextLine) =>
    text.length >= WRAPPED_LENGTH_MIN && text.length + 1 + next.text.split(" ")[0].length >= width;
  const breaksOff = ({ text }: TextLine, next: TextLine) =>
    !/[.!?:]$/.test(text) && (startsSmall(next.text) || OPEN_END.test(text));
  if (startsSmall(lines[0].text) || exactLine(lines[0].text) !== undefined) return [...lines];
  const pairs = lines.slice(1).map((next, i) => [lines[i], next] as const);
  const isAll =
    pairs.every(([one, next]) => isFull(one, next)) && pairs.some(([one, next]) => breaksOff(one, next));
  const joined: TextLine[] = [lines[0]];
  for (const [one, next] of pairs) {
    const last = joined[joined.length - 1];
    if (isAll || (isFull(one, next) && breaksOff(one, next) && !startsSmall(last.text)))
      joined[joined.length - 1] = { ...last, text: `${last.text} ${next.text}` };
    else joined.push(next);
  }
  return joined;
}
