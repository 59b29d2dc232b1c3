/**
 * Finds the stretch of a long text that a block is likeliest to stand in, in one pass.
 *
 * Any nine words in a row name a place p, and so say that the block began p words earlier. Foreign text votes for
 * beginnings at random; a block's own words agree. A vote counts once several windows in a row agree, and votes
 * are added up over neighbouring beginnings, because lost and added words shift them.
 */

import { ALIGNMENT_WORDS_MAX } from "./alignment.ts";
import { CLASS_SIZE, POSITION_CLASSES } from "./alphabet.ts";
import { N } from "./field.ts";
import { UNKNOWN_WORD, type Words } from "./framing.ts";

const WINDOW = 9;
/** Windows that must agree before their votes count. */
const AGREEMENT_MIN = 5;
/** How far lost and added words may shift a beginning. */
const DRIFT = 128;

/** The place that each pattern of nine classes names. */
const PLACE_OF_PATTERN: Uint16Array = (() => {
  const places = new Uint16Array(N);
  for (let t = 0; t < N; t++) {
    let pattern = 0;
    for (let i = 0; i < WINDOW; i++) pattern = pattern * 2 + POSITION_CLASSES[(t + i) % N]!;
    places[pattern] = t;
  }
  return places;
})();

/** ALIGNMENT_WORDS_MAX words of the text, around the beginning that most windows agree on. */
export function locateBlock(words: Words): Words {
  const votes = new Uint16Array(words.length + N); // [beginning + N]
  let pattern = 0;
  let known = 0;
  let agreement = 0;
  let lastBeginning = Number.NaN;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === UNKNOWN_WORD) {
      known = 0;
      agreement = 0;
      continue;
    }
    pattern = ((pattern << 1) | (word >= CLASS_SIZE ? 1 : 0)) & (N - 1);
    known++;
    if (known < WINDOW) continue;
    const beginning = i - (WINDOW - 1) - PLACE_OF_PATTERN[pattern]!;
    agreement = beginning === lastBeginning ? agreement + 1 : 0;
    lastBeginning = beginning;
    if (agreement >= AGREEMENT_MIN) votes[beginning + N]!++;
  }
  let sum = 0;
  let best = -1;
  let bestEnd = 0;
  for (let i = 0; i < votes.length; i++) {
    sum += votes[i]! - (i >= DRIFT ? votes[i - DRIFT]! : 0);
    if (sum > best) {
      best = sum;
      bestEnd = i;
    }
  }
  const beginning = bestEnd - N - DRIFT / 2;
  const slack = (ALIGNMENT_WORDS_MAX - N) / 2;
  const from = Math.max(0, Math.min(beginning - slack, words.length - ALIGNMENT_WORDS_MAX));
  return words.subarray(from, from + ALIGNMENT_WORDS_MAX);
}
