/**
 * The operations in plain TypeScript: the oracle that the kernel must agree with bit by bit, about a hundred times
 * slower. The order of the operations is part of the definition.
 */

import {
  type Context,
  FREQUENCY_TOTAL,
  HEAD_SCALE,
  type Matrix,
  NORM_EPSILON,
  type Operations,
  type Ring,
  ROUNDED_MAX,
  SHARE_ONE,
  type Turns,
} from "../src/reader/operations.ts";

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

  sparseProduct(byColumn: Matrix, u: Float64Array, n: number, unit: number, out: Float64Array): void {
    const { rows, columns, weights } = byColumn;
    const byRow = weights.map((_, i) => weights[(i % columns) * rows + Math.floor(i / columns)]);
    this.product({ ...byColumn, weights: byRow }, u, n, unit, out);
  }

  blend(x: Float64Array, a: number, y: Float64Array, b: number): void {
    for (let i = 0; i < x.length; i++) x[i] = a * x[i] + b * y[i];
  }

  squareAboveZero(x: Float64Array): void {
    for (let i = 0; i < x.length; i++) x[i] = x[i] > 0 ? x[i] * x[i] : 0;
  }

  norm(from: Float64Array, width: number, to: Float64Array): void {
    for (let start = 0; start < from.length; start += width) {
      let sum = 0;
      for (let i = start; i < start + width; i++) sum += from[i] * from[i];
      const factor = 1 / Math.sqrt(sum / width + NORM_EPSILON);
      for (let i = start; i < start + width; i++) to[i] = from[i] * factor;
    }
  }

  convolve(rows: Float64Array, taps: Float64Array, width: number, out: Float64Array): void {
    for (let i = 0; i < out.length; i++) {
      let at = i + taps.length;
      let sum = rows[at];
      for (let tap = i % width; tap < taps.length; tap += width) {
        at -= width;
        sum += rows[at] * taps[tap];
      }
      out[i] = sum;
    }
  }

  turn(rows: Float64Array, position: number, { cos, sin }: Turns, to: Ring<Int16Array>): void {
    const { heads, size } = to;
    const half = size / 2;
    const normed = new Float64Array(rows.length);
    this.norm(rows, size, normed);
    for (let at = 0; at < rows.length; at += size) {
      const [row, head] = [Math.floor(at / size / heads), (at / size) % heads];
      const place = placeOf(to, head, position + row);
      for (let j = 0; j < half; j++) {
        const [p, q] = [normed[at + j], normed[at + half + j]];
        const [c, s] = [cos[(position + row) * half + j], sin[(position + row) * half + j]];
        to.numbers[place + j] = Math.floor(HEAD_SCALE * (p * c - q * s) + 0.5);
        to.numbers[place + half + j] = Math.floor(HEAD_SCALE * (q * c + p * s) + 0.5);
      }
    }
  }

  keep(rows: Float64Array, position: number, to: Ring<Float64Array>): void {
    const { heads, size } = to;
    for (let at = 0; at < rows.length; at += size) {
      const [row, head] = [Math.floor(at / size / heads), (at / size) % heads];
      to.numbers.set(rows.subarray(at, at + size), placeOf(to, head, position + row));
    }
  }

  attend(context: Context, position: number, n: number, out: Float64Array): void {
    const { queries, keys, values, factors, window } = context;
    const { heads, size } = keys;
    for (let row = 0; row < n; row++) {
      const newest = position + row;
      const oldest = Math.max(0, newest + 1 - window);
      for (let head = 0; head < heads; head++) {
        const query = placeOf(queries, head, newest);
        const weights = Float64Array.from({ length: newest + 1 - oldest }, (_, j) => {
          let sum = 0;
          for (let i = 0, k = placeOf(keys, head, oldest + j); i < size; i++, k++)
            sum = (sum + queries.numbers[query + i] * keys.numbers[k]) | 0;
          return sum * factors[head];
        });
        const best = weights.reduce((a, b) => Math.max(a, b));
        let total = 0;
        weights.forEach((weight, j) => {
          weights[j] = exp2Negative(best - weight);
          total += weights[j];
        });
        for (let i = 0; i < size; i++) {
          let sum = 0;
          weights.forEach((weight, j) => {
            sum += weight * values.numbers[placeOf(values, head, oldest + j) + i];
          });
          out[(row * heads + head) * size + i] = sum / total;
        }
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

function placeOf({ slots, size }: Ring<unknown>, head: number, position: number): number {
  return (head * slots + (position % slots)) * size;
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
