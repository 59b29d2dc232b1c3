/**
 * The operations of ../operations.ts in AssemblyScript with SIMD: the same integers and doubles, bit by bit.
 * Compiled by `npm run kernel` into ../kernel-module.generated.ts; a test compiles it again and compares.
 * Only exact instructions are used: 16-bit dot products summed in 32 bits, and double + − × ÷ floor, each lane on
 * its own. No relaxed SIMD, no fused multiply-add. All arguments named like arrays are addresses.
 */

const ROUNDED_MAX: f64 = 16383;
const FREQUENCY_TOTAL: f64 = 1048576;
const SHARE_ONE: f64 = 1073741824;
const HEAD_SCALE: f64 = 4096;
const NORM_EPSILON: f64 = 1e-6;

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

// @ts-ignore: decorator
@inline
function lanes(sum: v128): i32 {
  return (
    i32x4.extract_lane(sum, 0) +
    i32x4.extract_lane(sum, 1) +
    i32x4.extract_lane(sum, 2) +
    i32x4.extract_lane(sum, 3)
  );
}

/** Sums of magnitudes and roundings two at a time: neither depends on the order. */
function roundRow(u: usize, length: i32, q: usize): f64 {
  let sizes = f64x2.splat(0);
  const end = u + (<usize>length << 3);
  for (let at = u; at < end; at += 16) sizes = f64x2.max(sizes, f64x2.abs(v128.load(at)));
  const largest = max<f64>(f64x2.extract_lane(sizes, 0), f64x2.extract_lane(sizes, 1));
  const inverse = f64x2.splat(ROUNDED_MAX / (largest > 0 ? largest : 1));
  for (let at = u, to = q; at < end; at += 64, to += 16) {
    v128.store(to, i16x8.narrow_i32x4_s(rounded(at, inverse), rounded(at + 32, inverse)));
  }
  return largest / ROUNDED_MAX;
}

// @ts-ignore: decorator
@inline
function rounded(u: usize, inverse: v128): v128 {
  const half = f64x2.splat(0.5);
  const low = f64x2.floor(f64x2.add(f64x2.mul(v128.load(u), inverse), half));
  const high = f64x2.floor(f64x2.add(f64x2.mul(v128.load(u, 16), inverse), half));
  return i64x2.shuffle(i32x4.trunc_sat_f64x2_s_zero(low), i32x4.trunc_sat_f64x2_s_zero(high), 0, 2);
}

/** out[n][rows] = unit x weights[rows][columns] x u[n][columns]; q and steps are room for n rounded rows. */
export function product(
  weights: usize,
  scales: usize,
  rows: i32,
  columns: i32,
  u: usize,
  n: i32,
  unit: f64,
  out: usize,
  q: usize,
  steps: usize,
): void {
  const rowBytes = <usize>columns;
  for (let p = 0; p < n; p++) {
    const step = roundRow(u + ((<usize>p * rowBytes) << 3), columns, q + ((<usize>p * rowBytes) << 1)) * unit;
    store<f64>(steps + (<usize>p << 3), step);
  }
  const fours = n & ~3;
  if (fours > 0) fourPositions(weights, scales, rows, rowBytes, out, q, steps, fours);
  for (let p = fours; p < n; p++) {
    onePosition(weights, scales, rows, rowBytes, out + ((<usize>(p * rows)) << 3), q + ((<usize>p * rowBytes) << 1), load<f64>(steps + (<usize>p << 3)));
  }
}

// @ts-ignore: decorator
@inline
function dot16(sum: v128, weights: usize, a: v128, b: v128): v128 {
  const w = v128.load(weights);
  const low = i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(w), a);
  const high = i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(w), b);
  return i32x4.add(sum, i32x4.add(low, high));
}

/** Four rows at a time, so that a rounded activation is loaded once for four weights. */
function onePosition(weights: usize, scales: usize, rows: i32, rowBytes: usize, out: usize, q: usize, step: f64): void {
  for (let row = 0; row < rows; row += 4) {
    const w = weights + <usize>row * rowBytes;
    let s0 = i32x4.splat(0);
    let s1 = i32x4.splat(0);
    let s2 = i32x4.splat(0);
    let s3 = i32x4.splat(0);
    const w1 = w + rowBytes;
    const w2 = w1 + rowBytes;
    const w3 = w2 + rowBytes;
    for (let i: usize = 0; i < rowBytes; i += 16) {
      const a = v128.load(q + (i << 1));
      const b = v128.load(q + (i << 1), 16);
      s0 = dot16(s0, w + i, a, b);
      s1 = dot16(s1, w1 + i, a, b);
      s2 = dot16(s2, w2 + i, a, b);
      s3 = dot16(s3, w3 + i, a, b);
    }
    const at = <usize>row << 3;
    store<f64>(out + at, <f64>lanes(s0) * (load<f64>(scales + at) * step));
    store<f64>(out + at, <f64>lanes(s1) * (load<f64>(scales + at, 8) * step), 8);
    store<f64>(out + at, <f64>lanes(s2) * (load<f64>(scales + at, 16) * step), 16);
    store<f64>(out + at, <f64>lanes(s3) * (load<f64>(scales + at, 24) * step), 24);
  }
}

/** Two rows and four positions at a time: eight sums for two loads of weights, which stay in the nearest cache. */
function fourPositions(weights: usize, scales: usize, rows: i32, rowBytes: usize, out: usize, q: usize, steps: usize, n: i32): void {
  const qBytes = rowBytes << 1;
  const outBytes = <usize>rows << 3;
  for (let row = 0; row < rows; row += 2) {
    const w = weights + <usize>row * rowBytes;
    const w1 = w + rowBytes;
    const at = <usize>row << 3;
    const scale = load<f64>(scales + at);
    const scale1 = load<f64>(scales + at, 8);
    for (let p = 0; p < n; p += 4) {
      const q0 = q + <usize>p * qBytes;
      const q1 = q0 + qBytes;
      const q2 = q1 + qBytes;
      const q3 = q2 + qBytes;
      let s0 = i32x4.splat(0);
      let s1 = i32x4.splat(0);
      let s2 = i32x4.splat(0);
      let s3 = i32x4.splat(0);
      let t0 = i32x4.splat(0);
      let t1 = i32x4.splat(0);
      let t2 = i32x4.splat(0);
      let t3 = i32x4.splat(0);
      for (let i: usize = 0; i < rowBytes; i += 8) {
        const a = v128.load8x8_s(w + i);
        const b = v128.load8x8_s(w1 + i);
        const j = i << 1;
        let x = v128.load(q0 + j);
        s0 = i32x4.add(s0, i32x4.dot_i16x8_s(a, x));
        t0 = i32x4.add(t0, i32x4.dot_i16x8_s(b, x));
        x = v128.load(q1 + j);
        s1 = i32x4.add(s1, i32x4.dot_i16x8_s(a, x));
        t1 = i32x4.add(t1, i32x4.dot_i16x8_s(b, x));
        x = v128.load(q2 + j);
        s2 = i32x4.add(s2, i32x4.dot_i16x8_s(a, x));
        t2 = i32x4.add(t2, i32x4.dot_i16x8_s(b, x));
        x = v128.load(q3 + j);
        s3 = i32x4.add(s3, i32x4.dot_i16x8_s(a, x));
        t3 = i32x4.add(t3, i32x4.dot_i16x8_s(b, x));
      }
      const step = steps + (<usize>p << 3);
      let o = out + <usize>p * outBytes + at;
      store<f64>(o, <f64>lanes(s0) * (scale * load<f64>(step)));
      store<f64>(o, <f64>lanes(t0) * (scale1 * load<f64>(step)), 8);
      o += outBytes;
      store<f64>(o, <f64>lanes(s1) * (scale * load<f64>(step, 8)));
      store<f64>(o, <f64>lanes(t1) * (scale1 * load<f64>(step, 8)), 8);
      o += outBytes;
      store<f64>(o, <f64>lanes(s2) * (scale * load<f64>(step, 16)));
      store<f64>(o, <f64>lanes(t2) * (scale1 * load<f64>(step, 16)), 8);
      o += outBytes;
      store<f64>(o, <f64>lanes(s3) * (scale * load<f64>(step, 24)));
      store<f64>(o, <f64>lanes(t3) * (scale1 * load<f64>(step, 24)), 8);
    }
  }
}

/**
 * The same product where most of u is zero, with weights[columns][rows]: four columns at a time, of those whose
 * rounded activations are not zero. `q` is room for a rounded row, four entries of a list, and a sum for each row.
 */
export function sparseProduct(
  weights: usize,
  scales: usize,
  rows: i32,
  columns: i32,
  u: usize,
  n: i32,
  unit: f64,
  out: usize,
  q: usize,
): void {
  const rowBytes = <usize>rows;
  const list = q + (<usize>columns << 1);
  const sums = list + 32;
  for (let p = 0; p < n; p++) {
    const step = roundRow(u + ((<usize>p * <usize>columns) << 3), columns, q) * unit;
    memory.fill(sums, 0, rowBytes << 2);
    // The list: the addresses of four columns, 4 bytes each, then their activations, 2 bytes each.
    let count: usize = 0;
    for (let column: usize = 0; column < <usize>columns; column++) {
      const activation = load<i16>(q + (column << 1));
      if (activation == 0) continue;
      store<u32>(list + (count << 2), <u32>(weights + column * rowBytes));
      store<i16>(list + (count << 1), activation, 16);
      if (++count == 4) {
        addColumns(list, rowBytes, sums);
        count = 0;
      }
    }
    if (count > 0) {
      for (; count < 4; count++) {
        store<u32>(list + (count << 2), <u32>weights);
        store<i16>(list + (count << 1), 0, 16);
      }
      addColumns(list, rowBytes, sums);
    }
    const o = out + ((<usize>p * rowBytes) << 3);
    for (let row: usize = 0; row < rowBytes; row++) {
      const scale = load<f64>(scales + (row << 3)) * step;
      store<f64>(o + (row << 3), <f64>load<i32>(sums + (row << 2)) * scale);
    }
  }
}

// @ts-ignore: decorator
@inline
function addPair(sums: usize, pairs: v128, activations: v128, pairs2: v128, activations2: v128): void {
  const low = i32x4.add(
    i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(pairs), activations),
    i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(pairs2), activations2),
  );
  const high = i32x4.add(
    i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(pairs), activations),
    i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(pairs2), activations2),
  );
  v128.store(sums, i32x4.add(v128.load(sums), low));
  v128.store(sums, i32x4.add(v128.load(sums, 16), high), 16);
}

/** Adds four columns, each times its activation, to the sums of all rows: weights of two columns side by side. */
function addColumns(list: usize, rowBytes: usize, sums: usize): void {
  const w0 = <usize>load<u32>(list);
  const w1 = <usize>load<u32>(list, 4);
  const w2 = <usize>load<u32>(list, 8);
  const w3 = <usize>load<u32>(list, 12);
  const a = v128.load32_splat(list, 16);
  const b = v128.load32_splat(list, 20);
  for (let row: usize = 0; row < rowBytes; row += 16, sums += 64) {
    const x0 = v128.load(w0 + row);
    const x1 = v128.load(w1 + row);
    const x2 = v128.load(w2 + row);
    const x3 = v128.load(w3 + row);
    addPair(
      sums,
      i8x16.shuffle(x0, x1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
      a,
      i8x16.shuffle(x2, x3, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
      b,
    );
    addPair(
      sums + 32,
      i8x16.shuffle(x0, x1, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
      a,
      i8x16.shuffle(x2, x3, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
      b,
    );
  }
}

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
