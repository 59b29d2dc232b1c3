/**
 * The three operations that take the time, as an interface with a plain implementation: the oracle.
 *
 * Products of int8 weights and rounded activations are sums of integers below 2^31, exact in any order. All else
 * is double arithmetic with + − × ÷ floor, one element at a time and in index order, which IEEE 754 and
 * WebAssembly define to the last bit; powers of two come from a polynomial, never from Math.exp. So the kernel
 * (kernel.ts) gives the very same doubles and integers, on every machine. training/reference.py is the same in
 * numpy.
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

/** What attention sees: the last `count` positions, in a ring of `slots` places, the oldest at place `first`. */
export interface Context {
  readonly keys: Int16Array;
  readonly values: Float64Array;
  readonly slots: number;
  readonly first: number;
  readonly count: number;
}

export interface Operations {
  /** A place of n elements for what the operations work on; all are made before the first operation. */
  bytes(n: number): Int8Array;
  shorts(n: number): Int16Array;
  counts(n: number): Uint32Array;
  doubles(n: number): Float64Array;
  /** out[n][rows] = unit × matrix × u[n][columns], u rounded. */
  product(matrix: Matrix, u: Float64Array, n: number, unit: number, out: Float64Array): void;
  /** out[width] = average of the values, weighted by 2^(query · key × factor of the head). */
  attend(query: Int16Array, context: Context, factors: Float64Array, out: Float64Array): void;
  /** Scores (in bits) → frequencies, each at least 1, together FREQUENCY_TOTAL. */
  frequencies(scores: Float64Array, out: Uint32Array): void;
}

/** (−ln 2)^k / k!: the series of 2^−f, to within 10^-7 on [0, 1). */
const SERIES = [
  1.0,
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard leaves Math.LN2's last bits open
  -0.6931471805599453,
  0.2402265069591007, -0.055504108664821576, 0.009618129107628477, -0.0013333558146428441,
  0.00015403530393381606, -0.000015252733804059838, 0.0000013215486790144305,
];
const HALVINGS = Float64Array.from({ length: 64 }, (_, n) => 2 ** -n);

/** 2^−z for z ≥ 0. */
export function exp2Negative(z: number): number {
  if (!(z < 64)) return 0;
  const whole = Math.floor(z);
  const f = z - whole;
  let p = SERIES[8];
  for (let k = 7; k >= 0; k--) p = p * f + SERIES[k];
  return p * HALVINGS[whole];
}

export class PlainOperations implements Operations {
  #rounded = new Int16Array(0);

  bytes(n: number): Int8Array {
    return new Int8Array(n);
  }
  shorts(n: number): Int16Array {
    return new Int16Array(n);
  }
  counts(n: number): Uint32Array {
    return new Uint32Array(n);
  }
  doubles(n: number): Float64Array {
    return new Float64Array(n);
  }

  product(matrix: Matrix, u: Float64Array, n: number, unit: number, out: Float64Array): void {
    const { rows, columns, weights, scales } = matrix;
    if (this.#rounded.length < columns) this.#rounded = new Int16Array(columns);
    const q = this.#rounded;
    for (let position = 0; position < n; position++) {
      const step = roundRow(u, position * columns, columns, q) * unit;
      for (let row = 0; row < rows; row++) {
        let sum = 0;
        for (let i = 0, w = row * columns; i < columns; i++, w++) sum = (sum + weights[w] * q[i]) | 0;
        out[position * rows + row] = sum * (scales[row] * step);
      }
    }
  }

  attend(query: Int16Array, context: Context, factors: Float64Array, out: Float64Array): void {
    const { keys, values, slots, first, count } = context;
    const size = out.length / factors.length;
    const weights = new Float64Array(count);
    for (let head = 0; head < factors.length; head++) {
      const offset = head * size;
      const place = (j: number) => ((first + j) % slots) * out.length + offset;
      let best = Number.NEGATIVE_INFINITY;
      for (let j = 0; j < count; j++) {
        let sum = 0;
        for (let i = 0, k = place(j); i < size; i++, k++) sum = (sum + query[offset + i] * keys[k]) | 0;
        weights[j] = sum * factors[head];
        if (weights[j] > best) best = weights[j];
      }
      let total = 0;
      for (let j = 0; j < count; j++) {
        weights[j] = exp2Negative(best - weights[j]);
        total += weights[j];
      }
      for (let i = 0; i < size; i++) {
        let sum = 0;
        for (let j = 0; j < count; j++) sum += weights[j] * values[place(j) + i];
        out[offset + i] = sum / total;
      }
    }
  }

  frequencies(scores: Float64Array, out: Uint32Array): void {
    let best = 0;
    for (let i = 1; i < scores.length; i++) if (scores[i] > scores[best]) best = i;
    let sum = 0; // of integers below 2^53: exact
    const shares = scores.map((score) => Math.floor(exp2Negative(scores[best] - score) * SHARE_ONE));
    for (const share of shares) sum += share;
    let left = FREQUENCY_TOTAL;
    for (let i = 0; i < scores.length; i++) {
      out[i] = 1 + Math.floor((shares[i] * (FREQUENCY_TOTAL - scores.length)) / sum);
      left -= out[i];
    }
    out[best] += left;
  }
}

/** Rounds a row to integers of at most ROUNDED_MAX; returns what one of them is worth. */
function roundRow(u: Float64Array, start: number, length: number, out: Int16Array): number {
  let largest = 0;
  for (let i = 0; i < length; i++) {
    const size = Math.abs(u[start + i]);
    if (size > largest) largest = size;
  }
  const inverse = ROUNDED_MAX / (largest > 0 ? largest : 1);
  for (let i = 0; i < length; i++) out[i] = Math.floor(u[start + i] * inverse + 0.5);
  return largest / ROUNDED_MAX;
}
