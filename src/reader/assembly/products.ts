/**
 * Products of int8 matrices and activations that are rounded to 15 bits: sums of integers, exact in any order. Dense
 * ones go by rows, for one position or four at a time; sparse ones go by the columns that are not multiplied by zero.
 */

const ROUNDED_MAX: f64 = 16383;

// @ts-ignore: decorator
@inline
export function lanes(sum: v128): i32 {
  return (
    i32x4.extract_lane(sum, 0) +
    i32x4.extract_lane(sum, 1) +
    i32x4.extract_lane(sum, 2) +
    i32x4.extract_lane(sum, 3)
  );
}

/**
 * Rounds a row to 16-bit integers, eight of them every `stride` bytes; returns what one of them is worth. Magnitudes
 * and roundings two at a time: neither depends on the order.
 */
function roundRow(u: usize, length: i32, q: usize, stride: usize): f64 {
  let sizes = f64x2.splat(0);
  const end = u + (<usize>length << 3);
  for (let at = u; at < end; at += 16) sizes = f64x2.max(sizes, f64x2.abs(v128.load(at)));
  const largest = max<f64>(f64x2.extract_lane(sizes, 0), f64x2.extract_lane(sizes, 1));
  const inverse = f64x2.splat(ROUNDED_MAX / (largest > 0 ? largest : 1));
  for (let at = u, to = q; at < end; at += 64, to += stride) {
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
  const qBytes = rowBytes << 1;
  const fours = n & ~3;
  for (let p = 0; p < n; p++) {
    // Four positions lie side by side, eight numbers of each in turn.
    const to = p < fours ? q + <usize>(p & ~3) * qBytes + (<usize>(p & 3) << 4) : q + <usize>p * qBytes;
    const step = roundRow(u + <usize>p * (rowBytes << 3), columns, to, p < fours ? 64 : 16) * unit;
    store<f64>(steps + (<usize>p << 3), step);
  }
  if (fours > 0) fourPositions(weights, scales, rows, rowBytes, out, q, steps, fours);
  for (let p = fours; p < n; p++) {
    onePosition(weights, scales, rows, rowBytes, out + ((<usize>(p * rows)) << 3), q + <usize>p * qBytes, load<f64>(steps + (<usize>p << 3)));
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
  let w0 = weights;
  for (const end = out + (<usize>rows << 3); out < end; out += 32, scales += 32, w0 += 3 * rowBytes) {
    let w1 = w0 + rowBytes;
    let w2 = w1 + rowBytes;
    let w3 = w2 + rowBytes;
    let s0 = i32x4.splat(0);
    let s1 = i32x4.splat(0);
    let s2 = i32x4.splat(0);
    let s3 = i32x4.splat(0);
    for (let x = q; x < q + (rowBytes << 1); x += 32, w0 += 16, w1 += 16, w2 += 16, w3 += 16) {
      const a = v128.load(x);
      const b = v128.load(x, 16);
      s0 = dot16(s0, w0, a, b);
      s1 = dot16(s1, w1, a, b);
      s2 = dot16(s2, w2, a, b);
      s3 = dot16(s3, w3, a, b);
    }
    storeFour(out, s0, s1, s2, s3, scales, step);
  }
}

/** out[4] = the sums over the lanes of r, s, t and u, each times its scale and step. */
// @ts-ignore: decorator
@inline
function storeFour(out: usize, r: v128, s: v128, t: v128, u: v128, scales: usize, step: f64): void {
  const rs = i32x4.add(i32x4.shuffle(r, s, 0, 4, 1, 5), i32x4.shuffle(r, s, 2, 6, 3, 7));
  const tu = i32x4.add(i32x4.shuffle(t, u, 0, 4, 1, 5), i32x4.shuffle(t, u, 2, 6, 3, 7));
  const sums = i32x4.add(i64x2.shuffle(rs, tu, 0, 2), i64x2.shuffle(rs, tu, 1, 3));
  const steps = f64x2.splat(step);
  v128.store(out, f64x2.mul(f64x2.convert_low_i32x4_s(sums), f64x2.mul(v128.load(scales), steps)));
  const last = i64x2.shuffle(sums, sums, 1, 1);
  v128.store(out, f64x2.mul(f64x2.convert_low_i32x4_s(last), f64x2.mul(v128.load(scales, 16), steps)), 16);
}

/**
 * Four rows and four positions at a time: sixteen sums for eight loads. Addresses are counted up, because the compiler
 * would work out their sums anew in every turn of the loop.
 */
function fourPositions(weights: usize, scales: usize, rows: i32, rowBytes: usize, out: usize, q: usize, steps: usize, n: i32): void {
  const outBytes = <usize>rows << 3;
  for (let row = 0; row < rows; row += 4) {
    const at = <usize>row << 3;
    let x = q;
    for (let p = 0; p < n; p += 4) {
      let w0 = weights + <usize>row * rowBytes;
      let w1 = w0 + rowBytes;
      let w2 = w1 + rowBytes;
      let w3 = w2 + rowBytes;
      let r0 = i32x4.splat(0);
      let r1 = i32x4.splat(0);
      let r2 = i32x4.splat(0);
      let r3 = i32x4.splat(0);
      let s0 = i32x4.splat(0);
      let s1 = i32x4.splat(0);
      let s2 = i32x4.splat(0);
      let s3 = i32x4.splat(0);
      let t0 = i32x4.splat(0);
      let t1 = i32x4.splat(0);
      let t2 = i32x4.splat(0);
      let t3 = i32x4.splat(0);
      let u0 = i32x4.splat(0);
      let u1 = i32x4.splat(0);
      let u2 = i32x4.splat(0);
      let u3 = i32x4.splat(0);
      for (const end = w0 + rowBytes; w0 < end; w0 += 8, w1 += 8, w2 += 8, w3 += 8, x += 64) {
        const a = v128.load8x8_s(w0);
        const b = v128.load8x8_s(w1);
        const c = v128.load8x8_s(w2);
        const d = v128.load8x8_s(w3);
        let y = v128.load(x);
        r0 = i32x4.add(r0, i32x4.dot_i16x8_s(a, y));
        s0 = i32x4.add(s0, i32x4.dot_i16x8_s(b, y));
        t0 = i32x4.add(t0, i32x4.dot_i16x8_s(c, y));
        u0 = i32x4.add(u0, i32x4.dot_i16x8_s(d, y));
        y = v128.load(x, 16);
        r1 = i32x4.add(r1, i32x4.dot_i16x8_s(a, y));
        s1 = i32x4.add(s1, i32x4.dot_i16x8_s(b, y));
        t1 = i32x4.add(t1, i32x4.dot_i16x8_s(c, y));
        u1 = i32x4.add(u1, i32x4.dot_i16x8_s(d, y));
        y = v128.load(x, 32);
        r2 = i32x4.add(r2, i32x4.dot_i16x8_s(a, y));
        s2 = i32x4.add(s2, i32x4.dot_i16x8_s(b, y));
        t2 = i32x4.add(t2, i32x4.dot_i16x8_s(c, y));
        u2 = i32x4.add(u2, i32x4.dot_i16x8_s(d, y));
        y = v128.load(x, 48);
        r3 = i32x4.add(r3, i32x4.dot_i16x8_s(a, y));
        s3 = i32x4.add(s3, i32x4.dot_i16x8_s(b, y));
        t3 = i32x4.add(t3, i32x4.dot_i16x8_s(c, y));
        u3 = i32x4.add(u3, i32x4.dot_i16x8_s(d, y));
      }
      const step = steps + (<usize>p << 3);
      let o = out + <usize>p * outBytes + at;
      storeFour(o, r0, s0, t0, u0, scales + at, load<f64>(step));
      o += outBytes;
      storeFour(o, r1, s1, t1, u1, scales + at, load<f64>(step, 8));
      o += outBytes;
      storeFour(o, r2, s2, t2, u2, scales + at, load<f64>(step, 16));
      o += outBytes;
      storeFour(o, r3, s3, t3, u3, scales + at, load<f64>(step, 24));
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
    const step = roundRow(u + ((<usize>p * <usize>columns) << 3), columns, q, 16) * unit;
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
