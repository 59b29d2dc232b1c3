/**
 * The operations of ../operations.ts in AssemblyScript with SIMD: the same integers and doubles, bit by bit.
 * Compiled by `npm run kernel` into ../kernel-module.generated.ts; a test compiles it again and compares.
 * Only exact instructions are used: 16-bit dot products summed in 32 bits, and double + − × ÷ floor, each lane on
 * its own. No relaxed SIMD, no fused multiply-add. All arguments named like arrays are addresses.
 */

const ROUNDED_MAX: f64 = 16383;
const FREQUENCY_TOTAL: f64 = 1048576;
const SHARE_ONE: f64 = 1073741824;

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

function roundRow(u: usize, length: i32, q: usize): f64 {
  let largest: f64 = 0;
  for (let i = 0; i < length; i++) {
    const size = abs<f64>(load<f64>(u + (<usize>i << 3)));
    if (size > largest) largest = size;
  }
  const inverse = ROUNDED_MAX / (largest > 0 ? largest : 1);
  for (let i = 0; i < length; i++) {
    store<i16>(q + (<usize>i << 1), <i16>(<i32>floor<f64>(load<f64>(u + (<usize>i << 3)) * inverse + 0.5)));
  }
  return largest / ROUNDED_MAX;
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
  let p = 0;
  for (; p + 4 <= n; p += 4) {
    fourPositions(weights, scales, rows, rowBytes, out + ((<usize>(p * rows)) << 3), q + ((<usize>p * rowBytes) << 1), steps + (<usize>p << 3));
  }
  for (; p < n; p++) {
    onePosition(weights, scales, rows, rowBytes, out + ((<usize>(p * rows)) << 3), q + ((<usize>p * rowBytes) << 1), load<f64>(steps + (<usize>p << 3)));
  }
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
      s0 = i32x4.add(s0, i32x4.dot_i16x8_s(v128.load8x8_s(w + i), a));
      s1 = i32x4.add(s1, i32x4.dot_i16x8_s(v128.load8x8_s(w1 + i), a));
      s2 = i32x4.add(s2, i32x4.dot_i16x8_s(v128.load8x8_s(w2 + i), a));
      s3 = i32x4.add(s3, i32x4.dot_i16x8_s(v128.load8x8_s(w3 + i), a));
      s0 = i32x4.add(s0, i32x4.dot_i16x8_s(v128.load8x8_s(w + i, 8), b));
      s1 = i32x4.add(s1, i32x4.dot_i16x8_s(v128.load8x8_s(w1 + i, 8), b));
      s2 = i32x4.add(s2, i32x4.dot_i16x8_s(v128.load8x8_s(w2 + i, 8), b));
      s3 = i32x4.add(s3, i32x4.dot_i16x8_s(v128.load8x8_s(w3 + i, 8), b));
    }
    const at = <usize>row << 3;
    store<f64>(out + at, <f64>lanes(s0) * (load<f64>(scales + at) * step));
    store<f64>(out + at, <f64>lanes(s1) * (load<f64>(scales + at, 8) * step), 8);
    store<f64>(out + at, <f64>lanes(s2) * (load<f64>(scales + at, 16) * step), 16);
    store<f64>(out + at, <f64>lanes(s3) * (load<f64>(scales + at, 24) * step), 24);
  }
}

/** Two rows and four positions at a time: eight sums for two loads of weights. */
function fourPositions(weights: usize, scales: usize, rows: i32, rowBytes: usize, out: usize, q: usize, steps: usize): void {
  const qBytes = rowBytes << 1;
  const outBytes = <usize>rows << 3;
  const q1 = q + qBytes;
  const q2 = q1 + qBytes;
  const q3 = q2 + qBytes;
  for (let row = 0; row < rows; row += 2) {
    const w = weights + <usize>row * rowBytes;
    const w1 = w + rowBytes;
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
      let x = v128.load(q + j);
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
    const at = <usize>row << 3;
    const scale = load<f64>(scales + at);
    const scale1 = load<f64>(scales + at, 8);
    let o = out + at;
    store<f64>(o, <f64>lanes(s0) * (scale * load<f64>(steps)));
    store<f64>(o, <f64>lanes(t0) * (scale1 * load<f64>(steps)), 8);
    o += outBytes;
    store<f64>(o, <f64>lanes(s1) * (scale * load<f64>(steps, 8)));
    store<f64>(o, <f64>lanes(t1) * (scale1 * load<f64>(steps, 8)), 8);
    o += outBytes;
    store<f64>(o, <f64>lanes(s2) * (scale * load<f64>(steps, 16)));
    store<f64>(o, <f64>lanes(t2) * (scale1 * load<f64>(steps, 16)), 8);
    o += outBytes;
    store<f64>(o, <f64>lanes(s3) * (scale * load<f64>(steps, 24)));
    store<f64>(o, <f64>lanes(t3) * (scale1 * load<f64>(steps, 24)), 8);
  }
}

/** Heads of `size` (a multiple of 8) numbers; `weights` is room for `count` doubles. */
export function attend(
  query: usize,
  keys: usize,
  values: usize,
  slots: i32,
  first: i32,
  count: i32,
  factors: usize,
  heads: i32,
  size: i32,
  out: usize,
  weights: usize,
): void {
  const width = <usize>(heads * size);
  for (let head = 0; head < heads; head++) {
    const offset = <usize>(head * size);
    const factor = load<f64>(factors + (<usize>head << 3));
    let best: f64 = -Infinity;
    for (let j = 0, place = first; j < count; j++) {
      const k = keys + ((<usize>place * width + offset) << 1);
      const x = query + (offset << 1);
      let sum = i32x4.splat(0);
      for (let i: usize = 0; i < <usize>size << 1; i += 16) {
        sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(x + i), v128.load(k + i)));
      }
      const score = <f64>lanes(sum) * factor;
      store<f64>(weights + (<usize>j << 3), score);
      if (score > best) best = score;
      place = place + 1 == slots ? 0 : place + 1;
    }
    let total: f64 = 0;
    for (let j = 0; j < count; j++) {
      const at = weights + (<usize>j << 3);
      const weight = exp2Negative(best - load<f64>(at));
      store<f64>(at, weight);
      total += weight;
    }
    for (let i = 0; i < size; i += 4) {
      let low = f64x2.splat(0);
      let high = f64x2.splat(0);
      for (let j = 0, place = first; j < count; j++) {
        const weight = v128.load64_splat(weights + (<usize>j << 3));
        const v = values + ((<usize>place * width + offset + <usize>i) << 3);
        low = f64x2.add(low, f64x2.mul(weight, v128.load(v)));
        high = f64x2.add(high, f64x2.mul(weight, v128.load(v, 16)));
        place = place + 1 == slots ? 0 : place + 1;
      }
      const all = f64x2.splat(total);
      v128.store(out + ((offset + <usize>i) << 3), f64x2.div(low, all));
      v128.store(out + ((offset + <usize>i) << 3), f64x2.div(high, all), 16);
    }
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
