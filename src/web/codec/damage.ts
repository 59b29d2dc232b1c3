/**
 * The damage that the damage bench does to a block's words, by kind and share. The same seed damages the same places
 * first, so that moving the slider up adds damage to the existing damage.
 */

import { type Random, seededRandom } from "../../base/random.ts";
import { CLASS_SIZE, wordOf } from "../../codec/alphabet.ts";
import { CLOSING, OPENING } from "../../codec/framing.ts";
import type { DamageKind } from "./messages.ts";

export function damageText(text: string, kind: DamageKind, share: number, seed: number): string {
  const words = text.split(/\s+/).filter((word) => word !== "" && word !== OPENING && word !== CLOSING);
  const damaged = DAMAGES[kind](words, Math.round(words.length * share), seededRandom(seed));
  return [OPENING, ...damaged, CLOSING].join(" ");
}

type Damage = (words: readonly string[], count: number, random: Random) => string[];

const DAMAGES: Record<DamageKind, Damage> = {
  "cut-end": (words, count) => words.slice(0, words.length - count),
  "cut-start": (words, count) => words.slice(count),
  "cut-middle": (words, count) => {
    const from = Math.floor((words.length - count) / 2);
    return [...words.slice(0, from), ...words.slice(from + count)];
  },
  drop: (words, count, random) => {
    const damaged = places(words, random).slice(0, count);
    return without(words, new Set(damaged));
  },
  replace: (words, count, random) => {
    const damaged = new Set(places(words, random).slice(0, count));
    return replaced(words, damaged, random);
  },
  // Half of the share is deleted, half replaced, and an eighth of it inserted in addition.
  mix: (words, count, random) => {
    const order = places(words, random);
    const each = Math.round(count / 2);
    const dropped = new Set(order.slice(0, each));
    const changed = new Set(order.slice(each, 2 * each));
    const inserted = new Set(places(words, random).slice(0, Math.round(count / 8)));
    return replaced(words, changed, random).flatMap((word, t) => [
      ...(inserted.has(t) ? [randomWord(random)] : []),
      ...(dropped.has(t) ? [] : [word]),
    ]);
  },
  // Case, commas and line breaks do no harm; the share is that of words with a typing error.
  retype: (words, count, random) => {
    const slipped = new Set(places(words, random).slice(0, count));
    return words.map((word, t) => {
      const typed = slipped.has(t) ? slip(word, random) : word;
      const cased = t % 8 === 0 ? typed.toUpperCase() : typed;
      return t % 16 === 15 ? `${cased},\n` : cased;
    });
  },
};

function places(words: readonly string[], random: Random): number[] {
  return random.shuffle(words.map((_, t) => t));
}

function without(words: readonly string[], damaged: ReadonlySet<number>): string[] {
  return words.filter((_, t) => !damaged.has(t));
}

/** A word is never replaced by itself. */
function replaced(words: readonly string[], damaged: ReadonlySet<number>, random: Random): string[] {
  return words.map((word, t) => {
    const other = randomWord(random);
    if (!damaged.has(t)) return word;
    return other === word ? randomWord(random) : other;
  });
}

function randomWord(random: Random): string {
  return wordOf(random.below(2) as 0 | 1, random.below(CLASS_SIZE));
}

/** Two neighbouring letters change places, or one is typed twice. */
function slip(word: string, random: Random): string {
  const at = random.below(word.length - 1);
  const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
  return swapped === word ? word + word.at(-1) : swapped;
}
