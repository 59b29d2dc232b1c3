/**
 * Words ↔ text. A block is written `[MEM] w1 … w512 [/MEM]`, one space everywhere: that framing is what makes
 * each word one token. Reading is generous: a block may stand anywhere in other text, several may, the markers
 * may be lost, case and line breaks may have changed, and words may carry quotes, commas or list marks.
 *
 * Text is split on white space only, because two thirds of the words have another word as a prefix.
 */

import { findWord, wordOf } from "./alphabet.ts";
import { POSITION_CLASSES } from "./positions.ts";

export const OPENING = "[MEM]";
export const CLOSING = "[/MEM]";
/** Characters that the reader looks at: a prompt of some 100,000 tokens; a block has about 4,000. */
export const TEXT_LENGTH_MAX = 2 ** 19;
/** Of many opening markers, so many are followed: the last ones, because an agent's newest block stands last. */
const PASSAGES_MAX = 4;

/** A longer token is no word in quotes. */
const TOKEN_LENGTH_MAX = 64;
const LETTER = /\p{L}/u;
/** By code unit: 0 not asked yet, 1 a letter, 2 none. */
const letterKinds = new Uint8Array(0x10000);

/** Not a word of the alphabet. */
export const UNKNOWN_WORD = -1;

/** Words as alphabet indices (class · 7681 + index) or UNKNOWN_WORD. */
export type Words = Int32Array;

/** Words that may be a block: those after an opening marker, or all there are. */
export interface Passage {
  readonly words: Words;
  readonly isWholeText: boolean;
}

export function writeFrame(symbols: Uint16Array): string {
  let text = OPENING;
  for (let t = 0; t < symbols.length; t++) text += ` ${wordOf(POSITION_CLASSES[t] as 0 | 1, symbols[t])}`;
  return `${text} ${CLOSING}`;
}

/** The passages of a text that may be a block, the likeliest first; the whole text comes last. */
export function* findPassages(text: string): Generator<Passage> {
  const upper = text.toUpperCase();
  // Upper-casing can change a text's length (ß → SS): then markers are looked for as they are written.
  const marked = upper.length === text.length ? upper : text;
  let before = marked.length;
  let isOnePassage = false;
  for (let count = 0; count < PASSAGES_MAX && before > 0; count++) {
    const at = marked.lastIndexOf(OPENING, before - 1);
    if (at < 0) break;
    const from = at + OPENING.length;
    const ends = [marked.indexOf(CLOSING, from), marked.indexOf(OPENING, from)].filter((end) => end >= 0);
    const end = Math.min(text.length, ...ends);
    yield { words: wordsOf(text.slice(from, end)), isWholeText: false };
    isOnePassage = count === 0 && hasNoWords(text.slice(0, at)) && hasNoWords(text.slice(end));
    before = at;
  }
  // A text that is one passage and nothing else is not worth a second look.
  if (!isOnePassage) yield { words: wordsOf(text), isWholeText: true };
}

function hasNoWords(text: string): boolean {
  return wordsOf(text).length === 0;
}

function wordsOf(text: string): Words {
  const tokens = text.split(/\s+/);
  const words = new Int32Array(tokens.length);
  let count = 0;
  for (const token of tokens) {
    let word = findWord(token);
    if (word < 0 && token.length <= TOKEN_LENGTH_MAX) {
      const bare = withoutMarks(token);
      // What has no letter (a list number, a quote mark, a marker) was never a word.
      if (bare === "") continue;
      word = bare === token ? UNKNOWN_WORD : findWord(bare);
    }
    words[count++] = word < 0 ? UNKNOWN_WORD : word;
  }
  return words.subarray(0, count);
}

/** A token without what is no letter, and without markers, at its start and its end. */
function withoutMarks(token: string): string {
  let from = 0;
  let end = token.length;
  while (from < end) {
    if (isMarker(token.slice(from, from + OPENING.length))) from += OPENING.length;
    else if (isMarker(token.slice(from, from + CLOSING.length))) from += CLOSING.length;
    else if (isLetter(token, from)) break;
    else from += token.codePointAt(from)! > 0xffff ? 2 : 1;
  }
  while (end > from) {
    if (isMarker(token.slice(Math.max(from, end - OPENING.length), end))) end -= OPENING.length;
    else if (isMarker(token.slice(Math.max(from, end - CLOSING.length), end))) end -= CLOSING.length;
    else if (isLetter(token, end - 1)) break;
    else end--;
  }
  return token.slice(from, end);
}

function isMarker(text: string): boolean {
  if (text.charCodeAt(0) !== 0x5b) return false;
  const upper = text.toUpperCase();
  return upper === OPENING || upper === CLOSING;
}

function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0x80) return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  if ((code & 0xf800) !== 0xd800) {
    // Remembered, because a hostile text may ask a million times.
    if (letterKinds[code] === 0) letterKinds[code] = LETTER.test(text[at]) ? 1 : 2;
    return letterKinds[code] === 1;
  }
  // Of a pair, its first half knows.
  const isLow = (code & 0xfc00) === 0xdc00 && at > 0;
  return LETTER.test(String.fromCodePoint(text.codePointAt(isLow ? at - 1 : at)!));
}
