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
/** Characters that the reader looks at; a block has about 4,000. */
export const TEXT_LENGTH_MAX = 2 ** 21;
/** Of many opening markers, so many are followed: the last ones, because an agent's newest block stands last. */
const PASSAGES_MAX = 4;

/** A longer token is no word in quotes; looking closer would cost a hostile text's own length squared. */
const TOKEN_LENGTH_MAX = 64;

/** Not a word of the alphabet. */
export const UNKNOWN_WORD = -1;

/** Words as alphabet indices (class · 7681 + index) or UNKNOWN_WORD. */
export type Words = Int32Array;

export function writeFrame(symbols: Uint16Array): string {
  let text = OPENING;
  for (let t = 0; t < symbols.length; t++) text += ` ${wordOf(POSITION_CLASSES[t] as 0 | 1, symbols[t])}`;
  return `${text} ${CLOSING}`;
}

/** The passages of a text that may be a block, the likeliest first; the whole text comes last. */
export function* findPassages(text: string): Generator<Words> {
  const upper = text.toUpperCase();
  // Upper-casing can change a text's length (ß → SS): then markers are looked for as they are written.
  const marked = upper.length === text.length ? upper : text;
  let before = marked.length;
  for (let count = 0; count < PASSAGES_MAX && before > 0; count++) {
    const at = marked.lastIndexOf(OPENING, before - 1);
    if (at < 0) break;
    const from = at + OPENING.length;
    const ends = [marked.indexOf(CLOSING, from), marked.indexOf(OPENING, from)].filter((end) => end >= 0);
    yield wordsOf(text.slice(from, Math.min(text.length, ...ends)));
    before = at;
  }
  yield wordsOf(text);
}

function wordsOf(text: string): Words {
  const tokens = text.split(/\s+/);
  const words = new Int32Array(tokens.length);
  let count = 0;
  for (const token of tokens) {
    let word = findWord(token);
    if (word < 0 && token.length <= TOKEN_LENGTH_MAX) {
      const bare = token.replace(/^(?:\[\/?MEM\]|[^\p{L}])+|(?:\[\/?MEM\]|[^\p{L}])+$/giu, "");
      // What has no letter (a list number, a quote mark, a marker) was never a word.
      if (bare === "") continue;
      word = bare === token ? UNKNOWN_WORD : findWord(bare);
    }
    words[count++] = word < 0 ? UNKNOWN_WORD : word;
  }
  return words.subarray(0, count);
}
