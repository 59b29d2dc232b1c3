/**
 * What happens to rows of doubles between the products: norms, convolution, attention, and the frequencies at the end.
 * Sums of doubles are taken in the order of bench/plain-operations.ts; SIMD lanes only do different sums side by side.
 */

import { lanes } from "./products";

const FREQUENCY_TOTAL: f64 = 1048576;
const SHARE_ONE: f64 = 1073741824;
const HEAD_SCALE: f64 = 4096;
const NORM_EPSILON: f64 = 1e-6;
const TWO_52: f64 = 4503599627370496;

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
 * out[n][heads][size] = attention of the positions from `position` on to the last `window`. Queries, keys and values are
 * rings, a ring for each head; `size` is a multiple of 8. `weights` is room for window + 1 doubles.
 */
export function attend(
  queries: usize,
  querySlots: i32,
  keys: usize,
  values: usize,
  slots: i32,
  window: i32,
  factors: usize,
  position: i32,
  n: i32,
  heads: i32,
  size: i32,
  out: usize,
  weights: usize,
): void {
  for (let newest = position; newest < position + n; newest++) {
    const oldest = max<i32>(0, newest + 1 - window);
    for (let head = 0; head < heads; head++) {
      const query = queries + (<usize>((head * querySlots + (newest % querySlots)) * size) << 1);
      const ring = <usize>(head * slots * size);
      const factor = load<f64>(factors + (<usize>head << 3));
      const total = weigh(query, keys + (ring << 1), slots, oldest % slots, newest + 1 - oldest, factor, size, weights);
      sumUp(values + (ring << 3), slots, oldest % slots, newest + 1 - oldest, size, weights, total, out);
      out += <usize>size << 3;
    }
  }
}

/** The weights of `count` keys, the oldest at slot `first`; returns their sum. */
function weigh(query: usize, keys: usize, slots: i32, first: i32, count: i32, factor: f64, size: i32, weights: usize): f64 {
  const keyBytes = <usize>size << 1;
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
  for (let at = weights; at < weightsEnd; at += 16) {
    const pair = exp2Negative(f64x2.sub(f64x2.splat(best), v128.load(at)));
    v128.store(at, pair);
    total += f64x2.extract_lane(pair, 0);
    if (at + 8 < weightsEnd) total += f64x2.extract_lane(pair, 1);
  }
  return total;
}

/** out = the values, each times its weight, / total. Eight sums at a time, each in the order of the positions. */
function sumUp(values: usize, slots: i32, first: i32, count: i32, size: i32, weights: usize, total: f64, out: usize): void {
  const valueBytes = <usize>size << 3;
  const weightsEnd = weights + (<usize>count << 3);
  const all = f64x2.splat(total);
  const valuesEnd = values + <usize>slots * valueBytes;
  for (let i: usize = 0; i < valueBytes; i += 64) {
    let s0 = f64x2.splat(0);
    let s1 = f64x2.splat(0);
    let s2 = f64x2.splat(0);
    let s3 = f64x2.splat(0);
    let value = values + <usize>first * valueBytes + i;
    for (let at = weights; at < weightsEnd; at += 8) {
      const weight = v128.load64_splat(at);
      s0 = f64x2.add(s0, f64x2.mul(weight, v128.load(value)));
      s1 = f64x2.add(s1, f64x2.mul(weight, v128.load(value, 16)));
      s2 = f64x2.add(s2, f64x2.mul(weight, v128.load(value, 32)));
      s3 = f64x2.add(s3, f64x2.mul(weight, v128.load(value, 48)));
      value += valueBytes;
      if (value >= valuesEnd) value = values + i;
    }
    v128.store(out + i, f64x2.div(s0, all));
    v128.store(out + i, f64x2.div(s1, all), 16);
    v128.store(out + i, f64x2.div(s2, all), 32);
    v128.store(out + i, f64x2.div(s3, all), 48);
  }
}

/** The scores, of which there is an even number, are overwritten with the shares that they stand for. */
export function frequencies(scores: usize, count: i32, out: usize): void {
  const end = scores + (<usize>count << 3);
  let bests = v128.load(scores);
  for (let at = scores + 16; at < end; at += 16) bests = f64x2.max(bests, v128.load(at));
  const best = max<f64>(f64x2.extract_lane(bests, 0), f64x2.extract_lane(bests, 1));
  let bestAt: usize = 0; // the first of several
  while (load<f64>(scores + (bestAt << 3)) < best) bestAt++;
  // Sums of integers below 2^53: exact in any order.
  let sums = f64x2.splat(0);
  for (let at = scores; at < end; at += 16) {
    const powers = exp2Negative(f64x2.sub(f64x2.splat(best), v128.load(at)));
    const shares = f64x2.floor(f64x2.mul(powers, f64x2.splat(SHARE_ONE)));
    v128.store(at, shares);
    sums = f64x2.add(sums, shares);
  }
  const sum = f64x2.splat(f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1));
  const spread = f64x2.splat(FREQUENCY_TOTAL - <f64>count);
  let given = i32x4.splat(0);
  for (let at = scores, to = out; at < end; at += 16, to += 8) {
    const wholes = f64x2.floor(f64x2.div(f64x2.mul(v128.load(at), spread), sum));
    const pair = i32x4.add(i32x4.splat(1), i32x4.trunc_sat_f64x2_s_zero(wholes));
    given = i32x4.add(given, pair);
    v128.store64_lane(to, pair, 0);
  }
  const at = out + (bestAt << 2);
  const left = <i32>FREQUENCY_TOTAL - i32x4.extract_lane(given, 0) - i32x4.extract_lane(given, 1);
  store<i32>(at, load<i32>(at) + left);
}

/** 2^-z for two z >= 0; 0 from 64 on. The power of two is put together from its exponent bits. */
// @ts-ignore: decorator
@inline
function exp2Negative(z: v128): v128 {
  const whole = f64x2.floor(z);
  const f = f64x2.sub(z, whole);
  let p = f64x2.splat(0.0000013215486790144305);
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(-0.000015252733804059838));
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(0.00015403530393381606));
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(-0.0013333558146428441));
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(0.009618129107628477));
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(-0.055504108664821576));
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(0.2402265069591007));
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(-0.6931471805599453));
  p = f64x2.add(f64x2.mul(p, f), f64x2.splat(1));
  // The last bits of 2^52 + whole are those of the integer.
  const exponent = i64x2.sub(i64x2.splat(reinterpret<i64>(TWO_52) + 1023), f64x2.add(f64x2.splat(TWO_52), whole));
  return v128.and(f64x2.mul(p, i64x2.shl(exponent, 52)), f64x2.lt(z, f64x2.splat(64)));
}
