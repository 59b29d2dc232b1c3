/**
 * The operations of the forward pass. kernel.ts has them in WebAssembly; its oracle, bench/plain-operations.ts, in TypeScript.
 *
 * Products of int8 weights and rounded activations are sums of integers below 2^31, exact in any order. All else
 * is double arithmetic with + − × ÷ floor, one element at a time and in index order, which IEEE 754 and
 * WebAssembly define to the last bit; powers of two come from a polynomial, never from Math.exp. So both give the very
 * same doubles and integers on every machine. training/reference.py is the same in numpy.
 */

/** Activations are rounded to integers of at most this size before a product. */
export const ROUNDED_MAX = 16383;
/** Frequencies of all symbols add up to this. */
export const FREQUENCY_TOTAL = 2 ** 20;
/** Shares of symbols are integers in units of 2^-30 of the best symbol's. */
export const SHARE_ONE = 2 ** 30;

/** An int8 matrix with a scale a row. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly weights: Int8Array;
  readonly scales: Float64Array;
}

/** Queries and keys are integers in units of 1/4096. */
export const HEAD_SCALE = 4096;
export const NORM_EPSILON = 1e-6;

/** Rows of heads, the row of position p at place p % slots: [heads][slots][size], so that a head's rows lie together. */
export interface Ring<Numbers> {
  readonly heads: number;
  readonly slots: number;
  readonly size: number;
  readonly numbers: Numbers;
}

export interface Operations {
  /** Allocates n elements for the operations to work on; all are allocated before the first operation. */
  bytes(n: number): Int8Array;
  shorts(n: number): Int16Array;
  counts(n: number): Uint32Array;
  doubles(n: number): Float64Array;
  /** out[n][rows] = unit × matrix × u[n][columns], u rounded. */
  product(matrix: Matrix, u: Float64Array, n: number, unit: number, out: Float64Array): void;
  /** The same for u that is mostly zero, with the weights column by column: [columns][rows]. */
  sparseProduct(byColumn: Matrix, u: Float64Array, n: number, unit: number, out: Float64Array): void;
  /** x = a × x + b × y */
  blend(x: Float64Array, a: number, y: Float64Array, b: number): void;
  /** x = x² where x > 0, otherwise 0 */
  squareAboveZero(x: Float64Array): void;
  /** to = rows of `width` normed: × 1 / sqrt(mean of squares + ε), the squares summed in order. */
  norm(from: Float64Array, width: number, to: Float64Array): void;
  /** out[n][W] = rows[taps + n][W] from the row `taps` on, plus the row k + 1 before × taps[k][W], k by k. */
  convolve(rows: Float64Array, taps: Float64Array, width: number, out: Float64Array): void;
  /** Stores heads of the rows from `position` on in a ring: normed, turned, and rounded in units of 1/HEAD_SCALE. */
  turn(rows: Float64Array, position: number, turns: Turns, to: Ring<Int16Array>): void;
  /** Stores heads of the rows from `position` on in a ring, unchanged. */
  keep(rows: Float64Array, position: number, to: Ring<Float64Array>): void;
  /** out[n][W], from `position` on = average of the last `window` values, weighted by 2^(query · key × factor). */
  attend(context: Context, position: number, n: number, out: Float64Array): void;
  /** Scores (in bits) → frequencies, each at least 1, together FREQUENCY_TOTAL. */
  frequencies(scores: Float64Array, out: Uint32Array): void;
}

/** Cosine and sine of every position's turn: [positions][size / 2]. */
export interface Turns {
  readonly cos: Float64Array;
  readonly sin: Float64Array;
}

export interface Context {
  readonly queries: Ring<Int16Array>;
  readonly keys: Ring<Int16Array>;
  readonly values: Ring<Float64Array>;
  /** A score in bits is an integer product times the head's factor. */
  readonly factors: Float64Array;
  /** Positions that attention looks back on, the current one included. */
  readonly window: number;
}
