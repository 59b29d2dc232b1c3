/**
 * The alphabet: 2 × 7,681 words, each of which, written with one leading space, is exactly one token in the
 * vocabularies of docs/decisions/0003-alphabet.md. The words stand in two disjoint classes, A and B; within a
 * class a word's index is its place when the class is sorted by code unit (capitals before small letters).
 *
 * Class and index of every word are part of the wire format: they never change within a format version. No two
 * words differ only in case, so a word is found whatever its case.
 */

import { assertInteger } from "../base/assert.ts";
import { CHECKSUM, CLASS_A, CLASS_B } from "./alphabet-data.ts";

/** Words in a class: the order of the field, so that each word of a class is one of its elements. */
export const CLASS_SIZE = 7681;
/** SHA-256 of all words in index order, class A first, each followed by a line feed. */
export const ALPHABET_CHECKSUM = CHECKSUM;
/** Letters in the longest word; nothing longer is looked up. */
export const WORD_LENGTH_MAX = 15;

let classes: readonly [readonly string[], readonly string[]] | undefined;
let numberOfWord: Map<string, number> | undefined;

/** The word of class A (0) or B (1) at an index from 0 to 7,680. */
export function wordOf(wordClass: 0 | 1, index: number): string {
  classes ??= [expand(CLASS_A), expand(CLASS_B)];
  const word = classes[wordClass]?.[index];
  if (word === undefined) {
    assertInteger(wordClass, 0, 1, "wordClass");
    assertInteger(index, 0, CLASS_SIZE - 1, "index");
  }
  return word;
}

/** The number class · 7,681 + index of a word in any case, or −1 where it is none of the alphabet. */
export function findWord(word: string): number {
  if (word.length > WORD_LENGTH_MAX) return -1;
  numberOfWord ??= numberWords();
  const number = numberOfWord.get(word);
  if (number !== undefined) return number;
  // All words are ASCII; lower-casing others is slow, and would make a k of the kelvin sign.
  return /^[A-Za-z]+$/.test(word) ? (numberOfWord.get(word.toLowerCase()) ?? -1) : -1;
}

function numberWords(): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const wordClass of [0, 1] as const) {
    for (let index = 0; index < CLASS_SIZE; index++) {
      numbers.set(wordOf(wordClass, index).toLowerCase(), wordClass * CLASS_SIZE + index);
    }
  }
  return numbers;
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
