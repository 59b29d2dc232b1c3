/**
 * Puts the words that survived back at their places: a hidden Markov model over the de Bruijn classes.
 *
 * The state is the place t that comes next. From there a word is written at t (of class d[t], or replaced by any
 * word), or words are lost (short gaps from careless copying, long ones from cuts), or a foreign word is
 * inserted. Any text may stand before and after the block, and the block may begin and end at any place. Likelihoods are
 * relative to a word of foreign text, whose own is one.
 *
 * The forward–backward algorithm gives the probability of every word at every place, which tells how far each
 * placed word can be trusted. That is better than the single best path: a word lost inside a run of one class could be
 * any word of the run, and the decoder mends an erased word (cost 1) more cheaply than a wrong one (cost 2).
 */

import { CLASS_SIZE, POSITION_CLASSES } from "./alphabet.ts";
import { N } from "./field.ts";
import { UNKNOWN_WORD, type Words } from "./framing.ts";

/** Words that one alignment looks at: two blocks. */
export const ALIGNMENT_WORDS_MAX = 1024;

/** What is assumed about the damage: shares of words replaced, unknown and inserted, and how gaps open and go on. */
interface DamageRates {
  readonly replaced: number;
  readonly unknown: number;
  readonly inserted: number;
  readonly shortGap: { readonly open: number; readonly extend: number };
  readonly longGap: { readonly open: number; readonly extend: number };
}

const LONG_GAP = { open: 0.008, extend: 0.998 };
/** Chosen by measuring: the first suits blocks that were cut, the second blocks that lost a third of their words. */
const DAMAGE_GUESSES: readonly DamageRates[] = [
  {
    replaced: 0.08,
    unknown: 0.05,
    inserted: 0.01,
    shortGap: { open: 0.07, extend: 0.25 },
    longGap: LONG_GAP,
  },
  { replaced: 0.12, unknown: 0.05, inserted: 0.015, shortGap: { open: 0.2, extend: 0.3 }, longGap: LONG_GAP },
];
/** Probability that a block begins at its first place, and ends at its last; the other places share the rest. */
const WHOLE_END = 0.9;
const STATES = N + 1;

export interface Placement {
  /** The symbol at each place; meaningless where trust is 0. */
  readonly symbols: Uint16Array;
  /** The probability that it is the word that stood there; 0 where there is none. */
  readonly trust: Float64Array;
}

/** The placement when nothing was lost or added: word t stands at place t, words of the wrong class are lost. */
export function placeInOrder(words: Words): Placement {
  const placement = new PlacedWords();
  for (let t = 0; t < N; t++) placement.put(t, words[t]!, 1);
  return placement;
}

/** Placements of words that may be incomplete, damaged and surrounded by others; the likeliest first. */
export function* placements(words: Words): Generator<Placement> {
  for (const rates of DAMAGE_GUESSES) yield align(words, rates);
}

/** What both passes work on. The forward pass fills the last three, the backward pass reads them. */
interface Trellis {
  readonly words: Words;
  readonly rates: DamageRates;
  /** By place: the probability that the block begins there. */
  readonly entry: Float64Array;
  /** By place: the probability that the block ends there. */
  readonly exit: Float64Array;
  /** By word and place: all earlier words are done, and this word is about to be written at this place. */
  readonly ready: Float32Array;
  /** By word: only foreign text so far. */
  readonly before: Float64Array;
  /** By word: the block is over. */
  readonly after: Float64Array;
}

function align(words: Words, rates: DamageRates): Placement {
  const trellis: Trellis = {
    words,
    rates,
    entry: endWeights(0),
    exit: endWeights(N),
    ready: new Float32Array(words.length * STATES),
    before: new Float64Array(words.length),
    after: new Float64Array(words.length),
  };
  forward(trellis);
  return backward(trellis);
}

function forward({ words, rates, entry, exit, ready, before, after }: Trellis): void {
  const written = entry.slice(); // [place]: the block has just come to this place
  const next = new Float64Array(STATES);
  const { shortGap: short, longGap: long, inserted } = rates;
  const noGap = 1 - short.open - long.open;
  const likelihoods = matchLikelihoods(rates);
  let foreign = 1;
  let over = 0;
  for (let j = 0; j < words.length; j++) {
    const row = j * STATES;
    let shortGap = 0;
    let longGap = 0;
    let total = foreign + over;
    for (let t = 0; t < STATES; t++) {
      const mass = written[t]!;
      const here = mass * noGap + shortGap * (1 - short.extend) + longGap * (1 - long.extend);
      shortGap = shortGap * short.extend + mass * short.open;
      longGap = longGap * long.extend + mass * long.open;
      over += mass * exit[t]!;
      next[t] = here;
      total += mass;
    }
    const scale = 1 / total;
    before[j] = foreign * scale;
    after[j] = over * scale;
    foreign *= scale;
    over *= scale;
    for (let t = 0; t < STATES; t++) ready[row + t] = next[t]! * scale;
    const match = likelihoods[kindOf(words[j]!)]!;
    let previous = 0;
    for (let t = 0; t < STATES; t++) {
      const here = next[t]! * scale;
      written[t] = previous + here * inserted + foreign * entry[t]!;
      previous = here * match[t]!;
    }
  }
}

function backward({ words, rates, entry, exit, ready, before, after }: Trellis): Placement {
  const placement = new PlacedWords();
  const onward = exit.slice(); // [place]: likelihood of the words to come when the block has come to this place
  const fromReady = new Float64Array(STATES);
  const joint = new Float64Array(STATES);
  const { shortGap: short, longGap: long, inserted } = rates;
  const noGap = 1 - short.open - long.open;
  const likelihoods = matchLikelihoods(rates);
  let foreign = 0; // likelihood of the words to come when the block has not begun
  for (let t = 0; t < STATES; t++) foreign += entry[t]! * onward[t]!;
  foreign += 1; // or no block at all
  let over = 1;
  for (let j = words.length - 1; j >= 0; j--) {
    const row = j * STATES;
    const word = words[j]!;
    const match = likelihoods[kindOf(word)]!;
    let total = before[j]! * foreign + after[j]! * over;
    for (let t = 0; t < STATES; t++) {
      const matched = t < N ? match[t]! * onward[t + 1]! : 0;
      const mass = ready[row + t]!;
      fromReady[t] = inserted * onward[t]! + matched;
      joint[t] = mass * matched;
      total += mass * fromReady[t]!;
    }
    for (let t = 0; t < N; t++) {
      const trust = joint[t]! / total;
      if (trust > placement.trust[t]!) placement.put(t, word, trust);
    }
    let shortGap = 0;
    let longGap = 0;
    let sum = 0;
    for (let t = N; t >= 0; t--) {
      onward[t] = noGap * fromReady[t]! + short.open * shortGap + long.open * longGap + exit[t]! * over;
      shortGap = (1 - short.extend) * fromReady[t]! + short.extend * shortGap;
      longGap = (1 - long.extend) * fromReady[t]! + long.extend * longGap;
      sum += entry[t]! * onward[t]!;
    }
    foreign += sum;
    // Only ratios matter from here on: keep the numbers near one.
    const scale = 1 / (foreign + over);
    foreign *= scale;
    over *= scale;
    for (let t = 0; t < STATES; t++) onward[t]! *= scale;
  }
  return placement;
}

/** By kind of word (class A, class B, unknown): how much likelier it is at each place than in foreign text. */
function matchLikelihoods({ replaced, unknown, inserted }: DamageRates): Float64Array[] {
  const rightClass = 2 * (1 - replaced) + replaced;
  return [0, 1, 2].map((kind) =>
    Float64Array.from({ length: STATES }, (_, t) => {
      if (t === N) return 0;
      const ratio = kind === 2 ? unknown : kind === POSITION_CLASSES[t] ? rightClass : replaced;
      return (1 - inserted) * ratio;
    }),
  );
}

function kindOf(word: number): number {
  return word === UNKNOWN_WORD ? 2 : classOf(word);
}

function classOf(word: number): number {
  return word >= CLASS_SIZE ? 1 : 0;
}

function endWeights(whole: number): Float64Array {
  const weights = new Float64Array(STATES).fill((1 - WHOLE_END) / N);
  weights[whole] = WHOLE_END;
  return weights;
}

class PlacedWords implements Placement {
  readonly symbols = new Uint16Array(N);
  readonly trust = new Float64Array(N);

  /** A word that cannot have stood at t, because it is unknown or of the other class, leaves the place empty. */
  put(t: number, word: number, trust: number): void {
    const fits = word !== UNKNOWN_WORD && classOf(word) === POSITION_CLASSES[t];
    this.symbols[t] = fits ? word % CLASS_SIZE : 0;
    this.trust[t] = fits ? trust : 0;
  }
}
