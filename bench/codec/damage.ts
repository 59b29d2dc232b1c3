/** The kinds of damage that the block is measured against. Each takes the words and a share, and returns words. */

import type { Random } from "../../src/base/random.ts";
import { wordOf } from "../../src/codec/alphabet.ts";
import { CLOSING, OPENING } from "../../src/codec/framing.ts";

export type Damage = (words: readonly string[], share: number, random: Random) => string[];

export const DAMAGES = {
  "cut from the end": (words, share) => words.slice(0, words.length - count(words, share)),
  "cut from the start": (words, share) => words.slice(count(words, share)),
  "cut from the middle": (words, share, random) => {
    const lost = count(words, share);
    const from = random.below(words.length - lost + 1);
    return [...words.slice(0, from), ...words.slice(from + lost)];
  },
  replaced: (words, share, random) => replace(words, places(words, share, random), random),
  dropped: (words, share, random) => drop(words, places(words, share, random)),
  /** The share is dropped, the same share replaced, and a quarter of it inserted. */
  mixed: (words, share, random) => {
    const hit = [...places(words, 2 * share, random)];
    const dropped = new Set(hit.slice(0, hit.length / 2));
    const replaced = new Set(hit.slice(hit.length / 2));
    const inserted = places(words, share / 4, random);
    const mangled = replace(words, replaced, random);
    return mangled.flatMap((word, t) => [
      ...(inserted.has(t) ? [randomWord(random)] : []),
      ...(dropped.has(t) ? [] : [word]),
    ]);
  },
} satisfies Record<string, Damage>;

export type DamageKind = keyof typeof DAMAGES;

/** The block's text with its words damaged. */
export function damageText(text: string, kind: DamageKind, share: number, random: Random): string {
  const damage: Damage = DAMAGES[kind];
  const words = text.split(" ").slice(1, -1);
  return [OPENING, ...damage(words, share, random), CLOSING].join(" ");
}

export function randomWord(random: Random): string {
  return wordOf(random.below(2) as 0 | 1, random.below(7681));
}

function count(words: readonly string[], share: number): number {
  return Math.round(words.length * share);
}

function places(words: readonly string[], share: number, random: Random): Set<number> {
  const all = words.map((_, t) => t);
  return new Set(random.shuffle(all).slice(0, count(words, share)));
}

/** Always by a different word. */
function replace(words: readonly string[], at: ReadonlySet<number>, random: Random): string[] {
  return words.map((word, t) => {
    let other = word;
    while (at.has(t) && other === word) other = randomWord(random);
    return other;
  });
}

function drop(words: readonly string[], at: ReadonlySet<number>): string[] {
  return words.filter((_, t) => !at.has(t));
}
