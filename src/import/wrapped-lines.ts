/**
 * Lines that an editor or a mail program has wrapped, as one line again. Notes one below the other stay apart: a line was
 * wrapped only if it had no room for the first word of the next one, and if it breaks off in a sentence.
 */

import { exactLine, keyOf } from "./keyed-text.ts";
import type { TextLine, TextPart } from "./text-parts.ts";

/** A line that is not as long was not wrapped. */
const WRAPPED_LENGTH_MIN = 45;
/** A sentence goes on after these. */
const OPEN_END = /(?:,|\b(?:a|an|the|of|to|in|on|at|and|or|for|with|my))$/;

/** "gym bag … Thursday": one thing beside another is a note. */
const BESIDE = /^\S.{0,40}\S\s(?:…|\.{3,40})\s\S/;
/** "2 onions, chopped": a list without marks. */
const AMOUNT = /^\d{1,4}(?:[.,/]\d{1,3})?\s/;

/** How the rest of a sentence begins, and no note of its own. */
const REST =
  /^(?:and|or|but|by|with|for|to|in|on|at|of|from|because|which|who|that|than|until|every|und|oder|mit|von|für|bis|weil|dass)\s/;

/** Whether a line that is set in below another one may be its rest; else it stands for itself. */
export function mayGoOn(line: string, next: string): boolean {
  return line.length >= WRAPPED_LENGTH_MIN || OPEN_END.test(line) || REST.test(next);
}

/** Plain lines that were wrapped at a width, each as one line. A line with a key begins anew. */
export function unwrapLines(parts: readonly TextPart[]): TextPart[] {
  const result: TextPart[] = [];
  for (let i = 0; i < parts.length; ) {
    const paragraph: TextLine[] = [];
    for (let part = parts[i]; isPlain(part); part = parts[i + paragraph.length]) paragraph.push(part);
    result.push(...(paragraph.length === 0 ? [parts[i]] : unwrapped(paragraph)));
    i += Math.max(paragraph.length, 1);
  }
  return result;
}

function isPlain(part: TextPart | undefined): part is TextLine {
  return part?.kind === "line" && !part.isListed;
}

function unwrapped(paragraph: readonly TextLine[]): TextLine[] {
  const width = Math.max(...paragraph.map(({ text }) => text.length));
  const runs: TextLine[][] = [];
  for (const line of paragraph) {
    const isNew = runs.length === 0 || keyOf(line.text) !== undefined || BESIDE.test(line.text);
    if (isNew) runs.push([line]);
    else runs[runs.length - 1].push(line);
  }
  return runs.flatMap((run) => joinedRun(run, width));
}

/** All of them as one line if no line had room for the first word of the next; else those that break off in a sentence. */
function joinedRun(lines: readonly TextLine[], width: number): TextLine[] {
  const startsSmall = (text: string) => /^\p{Ll}/u.test(text);
  const ends = ({ text }: TextLine) => /[.!?]["”’)]?$/.test(text);
  const isFull = ({ text }: TextLine, next: TextLine) =>
    text.length >= WRAPPED_LENGTH_MIN && text.length + 1 + next.text.split(" ")[0].length >= width;
  // Where the other lines end as sentences do, one that does not goes on, even before a name.
  const isSentences = lines.filter(ends).length > 1 && lines.filter((line) => !ends(line)).length === 1;
  const breaksOff = ({ text }: TextLine, next: TextLine) =>
    !/[.!?:]$/.test(text) && (startsSmall(next.text) || OPEN_END.test(text));
  if (startsSmall(lines[0].text) || AMOUNT.test(lines[0].text) || exactLine(lines[0].text) !== undefined)
    return [...lines];
  const pairs = lines.slice(1).map((next, i) => [lines[i], next] as const);
  const isAll =
    pairs.every(([one, next]) => isFull(one, next)) && pairs.some(([one, next]) => breaksOff(one, next));
  const joined: TextLine[] = [lines[0]];
  for (const [one, next] of pairs) {
    const last = joined[joined.length - 1];
    const isOpen = breaksOff(one, next) || (isSentences && !ends(one));
    const isRest = REST.test(next.text) && ends(next) && breaksOff(one, next);
    if (isAll || ((isRest || (isFull(one, next) && isOpen)) && !startsSmall(last.text)))
      joined[joined.length - 1] = { ...last, text: `${last.text} ${next.text}` };
    else joined.push(next);
  }
  return joined;
}
