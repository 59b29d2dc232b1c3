/**
 * Which class of word stands at which place: a binary de Bruijn sequence B(2, 9) of length 512, in which any nine
 * words in a row name their own position.
 *
 * It is the maximal-length sequence of the primitive polynomial x^9 + x^4 + 1 (Golomb 1967), 511 bits that hold
 * every window but nine zeros, with one zero more in its only run of eight. Unlike the lexicographically least
 * sequence, its long runs are spread out, so that every part of a block is equally easy to place.
 */

import { N } from "./field.ts";

const ORDER = 9;
const TAP = 4;

/** The word class (0: A, 1: B) at each of the 512 positions. */
export const POSITION_CLASSES: Uint8Array = (() => {
  const bits = [0, 0, 0, 0, 0, 0, 0, 0, 1];
  while (bits.length < N - 1) bits.push(bits.at(-ORDER)! ^ bits.at(TAP - ORDER)!);
  return Uint8Array.from([0, ...bits]);
})();
