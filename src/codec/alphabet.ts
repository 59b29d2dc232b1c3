/**
 * The alphabet: 2 × 7,681 words, each of which, written with one leading space, is exactly one token in the
 * vocabularies of docs/decisions/0003-alphabet.md. The words stand in two disjoint classes, A and B; within a
 * class a word's index is its place when the class is sorted by code unit (capitals before small letters).
 *
 * Class and index of every word are part of the wire format: they never change within a format version. No two
 * words differ only in case, so a word is found whatever its case.
 */

import { assert } from "../base/assert.ts";
import { CLASS_A, CLASS_B } from "./alphabet-data.ts";
import { N } from "./field.ts";

/** Words in a class: the order of the field, so that each word of a class is one of its elements. */
export const CLASS_SIZE = 7681;
/** Letters in the longest word; nothing longer is looked up. */
export const WORD_LENGTH_MAX = 15;

/** A hash table with open addressing, so that a word is found inside a text without being cut out of it. */
interface WordIndex {
  /** By hash: a word's number + 1, or 0. Twice as many slots as words. */
  readonly slots: Uint16Array;
  /** By number: 16 small letters each, zeros after the last. */
  readonly letters: Uint8Array;
}

const SLOT_BITS = 15;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const LETTERS_STRIDE = WORD_LENGTH_MAX + 1;
/** Setting this bit turns a capital letter into its small one, and no other character into a letter. */
const CASE_BIT = 0x20;

let classes: readonly [readonly string[], readonly string[]] | undefined;
let index: WordIndex | undefined;

/** The word of class A (0) or B (1) at an index from 0 to 7,680. */
export function wordOf(wordClass: 0 | 1, index: number): string {
  classes ??= [expand(CLASS_A), expand(CLASS_B)];
  const word = classes[wordClass]?.[index];
  assert(word !== undefined, "a word has a class, 0 or 1, and an index below 7,681");
  return word;
}

/**
 * Looks up the word between two places of a text, in any case. Returns its number, class · 7,681 + index, or −1 where
 * the alphabet does not have it.
 */
export function findWord(text: string, from = 0, end = text.length): number {
  if (end - from > WORD_LENGTH_MAX) return -1;
  index ??= indexWords();
  const { slots, letters } = index;
  for (let slot = slotOf(text, from, end); slots[slot] !== 0; slot = (slot + 1) & SLOT_MASK) {
    const number = slots[slot]! - 1;
    let letter = number * LETTERS_STRIDE;
    let at = from;
    while (at < end && (text.charCodeAt(at) | CASE_BIT) === letters[letter]) {
      at++;
      letter++;
    }
    if (at === end && letters[letter] === 0) return number;
  }
  return -1;
}

function slotOf(text: string, from: number, end: number): number {
  let hash = 0;
  // FNV-1a, whose high bits are the well mixed ones.
  for (let at = from; at < end; at++) hash = Math.imul(hash ^ (text.charCodeAt(at) | CASE_BIT), 0x01000193);
  return hash >>> (32 - SLOT_BITS);
}

function indexWords(): WordIndex {
  const slots = new Uint16Array(1 << SLOT_BITS);
  const letters = new Uint8Array(2 * CLASS_SIZE * LETTERS_STRIDE);
  for (let number = 0; number < 2 * CLASS_SIZE; number++) {
    const word = wordOf(number < CLASS_SIZE ? 0 : 1, number % CLASS_SIZE);
    for (let i = 0; i < word.length; i++) {
      letters[number * LETTERS_STRIDE + i] = word.charCodeAt(i) | CASE_BIT;
    }
    let slot = slotOf(word, 0, word.length);
    while (slots[slot] !== 0) slot = (slot + 1) & SLOT_MASK;
    slots[slot] = number + 1;
  }
  return { slots, letters };
}

/** Undoes the front coding of alphabet-data.ts. */
function expand(coded: string): string[] {
  const words: string[] = [];
  let previous = "";
  for (const [, shared, rest] of coded.matchAll(/(\d)([A-Za-z]+)/g)) {
    previous = previous.slice(0, Number(shared)) + rest;
    words.push(previous);
  }
  return words;
}

const ORDER = 9;
const TAP = 4;

/**
 * The word class (0: A, 1: B) at each of the 512 places: a binary de Bruijn sequence B(2, 9), in which any nine words in a
 * row name their own place. It is the maximal-length sequence of the primitive polynomial x^9 + x^4 + 1 (Golomb 1967), 511
 * bits that hold every window but nine zeros, with one zero more in its only run of eight. Unlike in the lexicographically
 * least sequence, its long runs are spread out, so that every part of a block is equally easy to place.
 */
export const POSITION_CLASSES: Uint8Array = (() => {
  const bits = [0, 0, 0, 0, 0, 0, 0, 0, 1];
  while (bits.length < N - 1) bits.push(bits.at(-ORDER)! ^ bits.at(TAP - ORDER)!);
  return Uint8Array.from([0, ...bits]);
})();
