/**
 * Words ↔ text. A block is written `[MEM] w1 … w512 [/MEM]`, one space everywhere: that framing is what makes
 * each word one token. Reading is tolerant: a block may stand anywhere in other text, several may, the markers
 * may be lost, case may have changed, and anything but letters may stand between the words: line breaks,
 * quotes, commas, list marks. A run of letters is one word, known or not.
 */

import { findWord, POSITION_CLASSES, wordOf } from "./alphabet.ts";

export const OPENING = "[MEM]";
export const CLOSING = "[/MEM]";
/** Characters that the reader looks at: a prompt of some 100,000 tokens; a block has about 4,000. */
export const TEXT_LENGTH_MAX = 2 ** 19;
/** At most this many opening markers are followed, the last ones: an agent's newest block stands last. */
const PASSAGES_MAX = 4;

const BRACKET = OPENING.charCodeAt(0);
/** Marks too: they belong to the letter before them. */
const LETTER = /[\p{L}\p{M}]/u;
/** By code unit: 0 not asked yet, 1 a letter, 2 not a letter. */
const letterKinds = new Uint8Array(0x10000);

/** Not a word of the alphabet. */
export const UNKNOWN_WORD = -1;

/** Words as alphabet indices (class · 7681 + index) or UNKNOWN_WORD. */
export type Words = Int32Array;

/** Words that may be a block: those after an opening marker, or all words of the text. */
interface Passage {
  readonly words: Words;
  readonly isWholeText: boolean;
}

export function writeFrame(symbols: Uint16Array): string {
  let text = OPENING;
  for (let t = 0; t < symbols.length; t++) text += ` ${wordOf(POSITION_CLASSES[t] as 0 | 1, symbols[t]!)}`;
  return `${text} ${CLOSING}`;
}

/** The passages of a text that may be a block, the likeliest first; the whole text comes last. */
export function* findPassages(text: string): Generator<Passage> {
  let before = text.length;
  let isOnePassage = false;
  for (let count = 0; count < PASSAGES_MAX; count++) {
    const at = lastOpening(text, before);
    if (at < 0) break;
    const from = at + OPENING.length;
    const end = nextMarker(text, from);
    yield { words: wordsOf(text, from, end), isWholeText: false };
    isOnePassage = count === 0 && !hasWords(text, 0, at) && !hasWords(text, end, text.length);
    before = at;
  }
  // Where one passage is the whole text, it was tried already.
  if (!isOnePassage) yield { words: wordsOf(text, 0, text.length), isWholeText: true };
}

/** Where the last opening marker before a place stands, or −1. */
function lastOpening(text: string, before: number): number {
  let at = before;
  do at = at > 0 ? text.lastIndexOf("[", at - 1) : -1;
  while (at >= 0 && !isMarkerAt(text, at, OPENING));
  return at;
}

/** Where the next marker of either kind stands, or the text's end. */
function nextMarker(text: string, from: number): number {
  let at = text.indexOf("[", from);
  while (at >= 0 && markerLengthAt(text, at) === 0) at = text.indexOf("[", at + 1);
  return at < 0 ? text.length : at;
}

function markerLengthAt(text: string, at: number): number {
  if (isMarkerAt(text, at, OPENING)) return OPENING.length;
  return isMarkerAt(text, at, CLOSING) ? CLOSING.length : 0;
}

function isMarkerAt(text: string, at: number, marker: string): boolean {
  for (let i = 0; i < marker.length; i++) {
    const code = text.charCodeAt(at + i);
    const upper = code >= 0x61 && code <= 0x7a ? code - 0x20 : code;
    if (upper !== marker.charCodeAt(i)) return false;
  }
  return true;
}

function hasWords(text: string, from: number, end: number): boolean {
  return wordsOf(text, from, end, 1).length > 0;
}

/** The words between two places, the first `countMax` of them. */
function wordsOf(text: string, from: number, end: number, countMax = Number.POSITIVE_INFINITY): Words {
  const words = new Int32Array((end - from + 1) >> 1); // A word and its separator take two characters.
  let count = 0;
  let at = from;
  while (at < end && count < countMax) {
    if (!isLetter(text, at)) {
      at += (text.charCodeAt(at) === BRACKET && markerLengthAt(text, at)) || 1;
      continue;
    }
    const start = at;
    do at++;
    while (at < end && isLetter(text, at));
    const word = findWord(text, start, at);
    words[count++] = word < 0 ? UNKNOWN_WORD : word;
  }
  return words.subarray(0, count);
}

function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  const small = code | 0x20;
  return code < 0x80 ? small >= 0x61 && small <= 0x7a : isFurtherLetter(text, at, code);
}

function isFurtherLetter(text: string, at: number, code: number): boolean {
  if ((code & 0xf800) !== 0xd800) {
    // Remembered, because a hostile text may hold a million of them.
    if (letterKinds[code] === 0) letterKinds[code] = LETTER.test(text.charAt(at)) ? 1 : 2;
    return letterKinds[code] === 1;
  }
  // A surrogate pair is one character: the test needs both halves, from the first on.
  const isLow = (code & 0xfc00) === 0xdc00 && at > 0;
  return LETTER.test(String.fromCodePoint(text.codePointAt(isLow ? at - 1 : at)!));
}
