/**
 * Puts the words that survived back at their places: a hidden Markov model over the de Bruijn classes.
 *
 * The state is the place t that comes next. From there a word is written at t (of class d[t], or replaced by any
 * word), or words are lost (short gaps from careless copying, long ones from cuts), or a foreign word is slipped
 * in. Text before and after the block is free, and a block may begin and end anywhere. Likelihoods are ratios to
 * that of a word of foreign text, so foreign text costs a factor of one.
 *
 * The forward–backward algorithm gives the probability of every word at every place, so that each placed word
 * comes with how far to trust it. That beats the single best path: a word lost inside a run of one class could be
 * any of the run, and for the decoder a doubtful word is better erased (cost 1) than wrong (cost 2).
 */

import { CLASS_SIZE } from "./alphabet.ts";
import { N } from "./field.ts";
import { UNKNOWN_WORD, type Words } from "./framing.ts";
import { POSITION_CLASSES } from "./positions.ts";

/** Words that one alignment looks at: two and a half blocks. */
export const ALIGNMENT_WORDS_MAX = 1280;

const REPLACED = 0.12;
const RIGHT_CLASS = 2 * (1 - REPLACED) + REPLACED;
const WRONG_CLASS = REPLACED;
const UNKNOWN = 0.05;
const INSERTED = 0.015;
const SHORT_GAP = { open: 0.12, extend: 0.3 };
const LONG_GAP = { open: 0.004, extend: 0.998 };
const NO_GAP = 1 - SHORT_GAP.open - LONG_GAP.open;
/** Probability that a block begins at its first place, and ends at its last; the other places share the rest. */
const WHOLE_END = 0.5;
const STATES = N + 1;

export interface Placement {
  /** The symbol at each place; meaningless where trust is 0. */
  readonly symbols: Uint16Array;
  /** The probability that it is the word that stood there; 0 where there is none. */
  readonly trust: Float64Array;
}

/** The placement when nothing was lost or added: word t stands at place t, words of the wrong class are lost. */
export function placeInOrder(words: Words): Placement {
  const placement = emptyPlacement();
  for (let t = 0; t < N; t++) place(placement, t, words[t], 1);
  return placement;
}

/** The likeliest placement of words that may be incomplete, damaged and surrounded by others. */
export function align(words: Words): Placement {
  const count = words.length;
  const entry = endWeights(0);
  const exit = endWeights(N);
  const ready = new Float32Array(count * STATES); // [word][place]: ready to write word at place, words before it done
  const before = new Float64Array(count); // foreign text so far
  const after = new Float64Array(count); // the block is over
  forward(words, entry, exit, ready, before, after);
  return backward(words, entry, exit, ready, before, after);
}

function forward(
  words: Words,
  entry: Float64Array,
  exit: Float64Array,
  ready: Float32Array,
  before: Float64Array,
  after: Float64Array,
): void {
  const written = entry.slice(); // [place]: the block has just come to this place
  const next = new Float64Array(STATES);
  let foreign = 1;
  let over = 0;
  for (let j = 0; j < words.length; j++) {
    const row = j * STATES;
    let shortGap = 0;
    let longGap = 0;
    let total = foreign + over;
    for (let t = 0; t < STATES; t++) {
      const mass = written[t];
      const here = mass * NO_GAP + shortGap * (1 - SHORT_GAP.extend) + longGap * (1 - LONG_GAP.extend);
      shortGap = shortGap * SHORT_GAP.extend + mass * SHORT_GAP.open;
      longGap = longGap * LONG_GAP.extend + mass * LONG_GAP.open;
      over += mass * exit[t];
      next[t] = here;
      total += mass;
    }
    const scale = 1 / total;
    before[j] = foreign * scale;
    after[j] = over * scale;
    foreign *= scale;
    over *= scale;
    for (let t = 0; t < STATES; t++) ready[row + t] = next[t] * scale;
    const match = matchLikelihoods(words[j]);
    let previous = 0;
    for (let t = 0; t < STATES; t++) {
      const here = next[t] * scale;
      written[t] = previous + here * INSERTED + foreign * entry[t];
      previous = here * match[t];
    }
  }
}

function backward(
  words: Words,
  entry: Float64Array,
  exit: Float64Array,
  ready: Float32Array,
  before: Float64Array,
  after: Float64Array,
): Placement {
  const placement = emptyPlacement();
  const onward = exit.slice(); // [place]: likelihood of the words to come, the block having come to this place
  const fromReady = new Float64Array(STATES);
  const joint = new Float64Array(STATES);
  let foreign = 0; // of the words to come, no word of the block having come
  for (let t = 0; t < STATES; t++) foreign += entry[t] * onward[t];
  foreign += 1; // or no block at all
  let over = 1;
  for (let j = words.length - 1; j >= 0; j--) {
    const row = j * STATES;
    const word = words[j];
    const match = matchLikelihoods(word);
    let total = before[j] * foreign + after[j] * over;
    for (let t = 0; t < STATES; t++) {
      const inserted = INSERTED * onward[t];
      const matched = t < N ? match[t] * onward[t + 1] : 0;
      const mass = ready[row + t];
      fromReady[t] = inserted + matched;
      joint[t] = mass * matched;
      total += mass * fromReady[t];
    }
    for (let t = 0; t < N; t++) {
      const trust = joint[t] / total;
      if (trust > placement.trust[t]) place(placement, t, word, trust);
    }
    let shortGap = 0;
    let longGap = 0;
    let sum = 0;
    for (let t = N; t >= 0; t--) {
      onward[t] =
        NO_GAP * fromReady[t] + SHORT_GAP.open * shortGap + LONG_GAP.open * longGap + exit[t] * over;
      shortGap = (1 - SHORT_GAP.extend) * fromReady[t] + SHORT_GAP.extend * shortGap;
      longGap = (1 - LONG_GAP.extend) * fromReady[t] + LONG_GAP.extend * longGap;
      sum += entry[t] * onward[t];
    }
    foreign += sum;
    // Only ratios matter from here on: keep the numbers near one.
    const scale = 1 / (foreign + over);
    foreign *= scale;
    over *= scale;
    for (let t = 0; t < STATES; t++) onward[t] *= scale;
  }
  return placement;
}

/** How much likelier a word of class A, of class B, an unknown one is at each place than in foreign text. */
const MATCH_LIKELIHOODS = [0, 1, UNKNOWN_WORD].map((wordClass) =>
  Float64Array.from({ length: STATES }, (_, t) => {
    if (t === N) return 0;
    if (wordClass === UNKNOWN_WORD) return (1 - INSERTED) * UNKNOWN;
    return (1 - INSERTED) * (wordClass === POSITION_CLASSES[t] ? RIGHT_CLASS : WRONG_CLASS);
  }),
);

function matchLikelihoods(word: number): Float64Array {
  return MATCH_LIKELIHOODS[word === UNKNOWN_WORD ? 2 : classOf(word)];
}

function classOf(word: number): number {
  return word >= CLASS_SIZE ? 1 : 0;
}

function endWeights(whole: number): Float64Array {
  const weights = new Float64Array(STATES).fill((1 - WHOLE_END) / N);
  weights[whole] = WHOLE_END;
  return weights;
}

function emptyPlacement(): Placement {
  return { symbols: new Uint16Array(N), trust: new Float64Array(N) };
}

/** A word that cannot have stood at t, because it is unknown or of the other class, leaves the place empty. */
function place(placement: Placement, t: number, word: number, trust: number): void {
  const fits = word !== UNKNOWN_WORD && classOf(word) === POSITION_CLASSES[t];
  placement.symbols[t] = fits ? word % CLASS_SIZE : 0;
  placement.trust[t] = fits ? trust : 0;
}
