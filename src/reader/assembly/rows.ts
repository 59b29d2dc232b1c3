/**
 * What happens to rows of doubles between the products: norms, convolution, attention, and the frequencies at the end.
 * Sums of doubles are taken in the order of ../plain-operations.ts; SIMD lanes only do different sums side by side.
 */

import { lanes } from "./products";

const FREQUENCY_TOTAL: f64 = 1048576;
const SHARE_ONE: f64 = 1073741824;
const HEAD_SCALE: f64 = 4096;
const NORM_EPSILON: f64 = 1e-6;

/** x = a x x + b x y, of `count` (even) numbers. */
export function blend(x: usize, a: f64, y: usize, b: f64, count: i32): void {
  const as = f64x2.splat(a);
  const bs = f64x2.splat(b);
  const end = x + (<usize>count << 3);
  for (; x < end; x += 16, y += 16) {
    v128.store(x, f64x2.add(f64x2.mul(as, v128.load(x)), f64x2.mul(bs, v128.load(y))));
  }
}

/** x = x squared where x > 0, otherwise 0; `count` is even. */
export function squareAboveZero(x: usize, count: i32): void {
  const zero = f64x2.splat(0);
  const end = x + (<usize>count << 3);
  for (; x < end; x += 16) {
    const numbers = v128.load(x);
    v128.store(x, v128.and(f64x2.mul(numbers, numbers), f64x2.gt(numbers, zero)));
  }
}

/** to[rows][width] = from, each row x 1 / sqrt(mean of squares + e). The squares are summed one after the other. */
export function norm(from: usize, rows: i32, width: i32, to: usize): void {
  const rowBytes = <usize>width << 3;
  for (let row = 0; row < rows; row++) {
    let sum: f64 = 0;
    for (let at: usize = 0; at < rowBytes; at += 16) {
      const numbers = v128.load(from + at);
      const squares = f64x2.mul(numbers, numbers);
      sum += f64x2.extract_lane(squares, 0);
      sum += f64x2.extract_lane(squares, 1);
    }
    const factor = f64x2.splat(1 / sqrt<f64>(sum / <f64>width + NORM_EPSILON));
    for (let at: usize = 0; at < rowBytes; at += 16) v128.store(to + at, f64x2.mul(v128.load(from + at), factor));
    from += rowBytes;
    to += rowBytes;
  }
}

/** out[n][width] = rows[tapCount + n][width] from row tapCount on, plus the row k + 1 before x taps[k][width]. */
export function convolve(rows: usize, taps: usize, tapCount: i32, n: i32, width: i32, out: usize): void {
  const rowBytes = <usize>width << 3;
  for (let row = 0; row < n; row++) {
    for (let at: usize = 0; at < rowBytes; at += 16) {
      let from = rows + <usize>(row + tapCount) * rowBytes + at;
      let sum = v128.load(from);
      for (let tap = 0; tap < tapCount; tap++) {
        from -= rowBytes;
        sum = f64x2.add(sum, f64x2.mul(v128.load(from), v128.load(taps + <usize>tap * rowBytes + at)));
      }
      v128.store(out + <usize>row * rowBytes + at, sum);
    }
  }
}

/** Rows of heads, normed in place head by head, turned and rounded, into a ring of 16-bit integers. */
export function turn(rows: usize, n: i32, position: i32, cos: usize, sin: usize, heads: i32, size: i32, to: usize, slots: i32): void {
  norm(rows, n * heads, size, rows);
  const half = <usize>size << 2; // bytes of half a head
  const scale = f64x2.splat(HEAD_SCALE);
  const up = f64x2.splat(0.5);
  for (let row = 0; row < n; row++) {
    const place = (position + row) % slots;
    for (let head = 0; head < heads; head++) {
      const target = to + ((<usize>((head * slots + place) * size)) << 1);
      for (let j: usize = 0; j < half; j += 16) {
        const p = v128.load(rows + j);
        const q = v128.load(rows + half + j);
        const c = v128.load(cos + j);
        const s = v128.load(sin + j);
        const first = f64x2.sub(f64x2.mul(p, c), f64x2.mul(q, s));
        const second = f64x2.add(f64x2.mul(q, c), f64x2.mul(p, s));
        storeShorts(target + (j >> 2), f64x2.floor(f64x2.add(f64x2.mul(scale, first), up)));
        storeShorts(target + ((half + j) >> 2), f64x2.floor(f64x2.add(f64x2.mul(scale, second), up)));
      }
      rows += half << 1;
    }
    cos += half;
    sin += half;
  }
}

// @ts-ignore: decorator
@inline
function storeShorts(to: usize, wholes: v128): void {
  const integers = i32x4.trunc_sat_f64x2_s_zero(wholes);
  store<i16>(to, <i16>i32x4.extract_lane(integers, 0));
  store<i16>(to, <i16>i32x4.extract_lane(integers, 1), 2);
}

/** Rows of heads into a ring of doubles. */
export function keep(rows: usize, n: i32, position: i32, heads: i32, size: i32, to: usize, slots: i32): void {
  const bytes = <usize>size << 3;
  for (let row = 0; row < n; row++) {
    const place = (position + row) % slots;
    for (let head = 0; head < heads; head++) {
      memory.copy(to + <usize>(head * slots + place) * bytes, rows, bytes);
      rows += bytes;
    }
  }
}

/**
 * One head of one position, of `size` (a multiple of 8) numbers: keys and values are rings of `slots` rows, the oldest
 * of `count` at `first`; `weights` is room for `count` doubles.
 */
export function attend(
  query: usize,
  keys: usize,
  values: usize,
  slots: i32,
  first: i32,
  count: i32,
  factor: f64,
  size: i32,
  out: usize,
  weights: usize,
): void {
  const keyBytes = <usize>size << 1;
  const valueBytes = <usize>size << 3;
  const keysEnd = keys + <usize>slots * keyBytes;
  const weightsEnd = weights + (<usize>count << 3);
  let best: f64 = -Infinity;
  let key = keys + <usize>first * keyBytes;
  for (let at = weights; at < weightsEnd; at += 8) {
    let sum = i32x4.splat(0);
    for (let i: usize = 0; i < keyBytes; i += 16) {
      sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(query + i), v128.load(key + i)));
    }
    const score = <f64>lanes(sum) * factor;
    store<f64>(at, score);
    if (score > best) best = score;
    key += keyBytes;
    if (key == keysEnd) key = keys;
  }
  let total: f64 = 0;
  for (let at = weights; at < weightsEnd; at += 8) {
    const weight = exp2Negative(best - load<f64>(at));
    store<f64>(at, weight);
    total += weight;
  }
  // Eight sums at a time, each in the order of the positions.
  const all = f64x2.splat(total);
  const valuesEnd = values + <usize>slots * valueBytes;
  for (let i: usize = 0; i < valueBytes; i += 64) {
    let s0 = f64x2.splat(0);
    let s1 = f64x2.splat(0);
    let s2 = f64x2.splat(0);
    let s3 = f64x2.splat(0);
    let value = values + <usize>first * valueBytes;
    for (let at = weights; at < weightsEnd; at += 8) {
      const weight = v128.load64_splat(at);
      s0 = f64x2.add(s0, f64x2.mul(weight, v128.load(value + i)));
      s1 = f64x2.add(s1, f64x2.mul(weight, v128.load(value + i, 16)));
      s2 = f64x2.add(s2, f64x2.mul(weight, v128.load(value + i, 32)));
      s3 = f64x2.add(s3, f64x2.mul(weight, v128.load(value + i, 48)));
      value += valueBytes;
      if (value == valuesEnd) value = values;
    }
    v128.store(out + i, f64x2.div(s0, all));
    v128.store(out + i, f64x2.div(s1, all), 16);
    v128.store(out + i, f64x2.div(s2, all), 32);
    v128.store(out + i, f64x2.div(s3, all), 48);
  }
}

/** The scores are overwritten with the shares that they stand for. */
export function frequencies(scores: usize, count: i32, out: usize): void {
  let best = load<f64>(scores);
  let bestAt = 0;
  for (let i = 1; i < count; i++) {
    const score = load<f64>(scores + (<usize>i << 3));
    if (score > best) {
      best = score;
      bestAt = i;
    }
  }
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) {
    const at = scores + (<usize>i << 3);
    const share = floor<f64>(exp2Negative(best - load<f64>(at)) * SHARE_ONE);
    store<f64>(at, share);
    sum += share;
  }
  let left = <i32>FREQUENCY_TOTAL;
  const spread = FREQUENCY_TOTAL - <f64>count;
  for (let i = 0; i < count; i++) {
    const frequency = 1 + <i32>floor<f64>((load<f64>(scores + (<usize>i << 3)) * spread) / sum);
    store<i32>(out + (<usize>i << 2), frequency);
    left -= frequency;
  }
  const at = out + (<usize>bestAt << 2);
  store<i32>(at, load<i32>(at) + left);
}

/** 2^-z for z >= 0. The power of two is put together from its exponent bits. */
// @ts-ignore: decorator
@inline
function exp2Negative(z: f64): f64 {
  if (!(z < 64)) return 0;
  const whole = floor<f64>(z);
  const f = z - whole;
  let p: f64 = 0.0000013215486790144305;
  p = p * f + -0.000015252733804059838;
  p = p * f + 0.00015403530393381606;
  p = p * f + -0.0013333558146428441;
  p = p * f + 0.009618129107628477;
  p = p * f + -0.055504108664821576;
  p = p * f + 0.2402265069591007;
  p = p * f + -0.6931471805599453;
  p = p * f + 1.0;
  return p * reinterpret<f64>((1023 - <i64>whole) << 52);
}
