/**
 * The operations on WebAssembly with SIMD. One linear memory holds the weights and the working arrays. Its places are
 * allocated once, at the start, and never freed. Every array that an operation takes must lie in it.
 */

import { assert } from "../base/assert.ts";
import { KERNEL_MODULE } from "./kernel-module.generated.ts";
import type { Context, Matrix, Operations, Ring, Turns } from "./operations.ts";

type ProductOperands = [
  weights: number,
  scales: number,
  rows: number,
  columns: number,
  u: number,
  n: number,
  unit: number,
  out: number,
  rounded: number,
];

/** Arrays are passed by their addresses. */
interface KernelExports {
  product(...operands: [...ProductOperands, steps: number]): void;
  sparseProduct(...operands: ProductOperands): void;
  blend(x: number, a: number, y: number, b: number, count: number): void;
  squareAboveZero(x: number, count: number): void;
  norm(from: number, rows: number, width: number, to: number): void;
  convolve(rows: number, taps: number, tapCount: number, n: number, width: number, out: number): void;
  turn(
    rows: number,
    n: number,
    position: number,
    cos: number,
    sin: number,
    heads: number,
    size: number,
    to: number,
    slots: number,
  ): void;
  keep(
    rows: number,
    n: number,
    position: number,
    heads: number,
    size: number,
    to: number,
    slots: number,
  ): void;
  attend(
    queries: number,
    querySlots: number,
    keys: number,
    values: number,
    slots: number,
    window: number,
    factors: number,
    position: number,
    n: number,
    heads: number,
    size: number,
    out: number,
    weights: number,
  ): void;
  frequencies(scores: number, count: number, out: number): void;
}

const PAGE_BYTES = 65536;
/** Room for rounded rows, steps and attention weights: the largest batch is 32 rows of 1,024 columns. */
const SCRATCH_BYTES = 2 ** 17;

function compileKernel(): WebAssembly.Module {
  return new WebAssembly.Module(Uint8Array.from(atob(KERNEL_MODULE), (character) => character.charCodeAt(0)));
}

export class KernelOperations implements Operations {
  readonly #memory: WebAssembly.Memory;
  readonly #kernel: KernelExports;
  readonly #rounded: number;
  readonly #steps: number;
  #used = 1024; // address 0 stays free; the module itself keeps nothing in memory

  /** `sizeBytes`: the total of all places that will be allocated. */
  constructor(sizeBytes: number, kernel: WebAssembly.Module = compileKernel()) {
    const pages = Math.ceil((sizeBytes + 2 * SCRATCH_BYTES) / PAGE_BYTES);
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const instance = new WebAssembly.Instance(kernel, { env: { memory: this.#memory } });
    this.#kernel = instance.exports as unknown as KernelExports;
    this.#rounded = this.#place(SCRATCH_BYTES);
    this.#steps = this.#place(PAGE_BYTES);
  }

  bytes(n: number): Int8Array {
    return new Int8Array(this.#memory.buffer, this.#place(n), n);
  }
  shorts(n: number): Int16Array {
    return new Int16Array(this.#memory.buffer, this.#place(2 * n), n);
  }
  counts(n: number): Uint32Array {
    return new Uint32Array(this.#memory.buffer, this.#place(4 * n), n);
  }
  doubles(n: number): Float64Array {
    return new Float64Array(this.#memory.buffer, this.#place(8 * n), n);
  }

  product(matrix: Matrix, u: Float64Array, n: number, unit: number, out: Float64Array): void {
    const { rows, columns } = matrix;
    assert(
      n * columns * 2 <= SCRATCH_BYTES && n * columns <= u.length && n * rows <= out.length,
      "too many rows",
    );
    this.#kernel.product(...this.#operands(matrix, u, n, unit, out), this.#steps);
  }

  sparseProduct(byColumn: Matrix, u: Float64Array, n: number, unit: number, out: Float64Array): void {
    const { rows, columns } = byColumn;
    assert(n * columns <= u.length && n * rows <= out.length && rows % 32 === 0, "rows by 32");
    assert(columns * (2 + 6) + 12 <= SCRATCH_BYTES, "too many columns");
    this.#kernel.sparseProduct(...this.#operands(byColumn, u, n, unit, out));
  }

  #operands(
    { weights, scales, rows, columns }: Matrix,
    u: Float64Array,
    n: number,
    unit: number,
    out: Float64Array,
  ): ProductOperands {
    const [from, to] = [u.byteOffset, out.byteOffset];
    return [weights.byteOffset, scales.byteOffset, rows, columns, from, n, unit, to, this.#rounded];
  }

  blend(x: Float64Array, a: number, y: Float64Array, b: number): void {
    this.#kernel.blend(x.byteOffset, a, y.byteOffset, b, x.length);
  }

  squareAboveZero(x: Float64Array): void {
    this.#kernel.squareAboveZero(x.byteOffset, x.length);
  }

  norm(from: Float64Array, width: number, to: Float64Array): void {
    this.#kernel.norm(from.byteOffset, from.length / width, width, to.byteOffset);
  }

  convolve(rows: Float64Array, taps: Float64Array, width: number, out: Float64Array): void {
    this.#kernel.convolve(
      rows.byteOffset,
      taps.byteOffset,
      taps.length / width,
      out.length / width,
      width,
      out.byteOffset,
    );
  }

  turn(rows: Float64Array, position: number, { cos, sin }: Turns, to: Ring<Int16Array>): void {
    const { heads, size, slots, numbers } = to;
    const n = rows.length / heads / size;
    const turned = 4 * position * size; // size / 2 doubles a position
    this.#kernel.turn(
      rows.byteOffset,
      n,
      position,
      cos.byteOffset + turned,
      sin.byteOffset + turned,
      heads,
      size,
      numbers.byteOffset,
      slots,
    );
  }

  keep(rows: Float64Array, position: number, to: Ring<Float64Array>): void {
    const { heads, size, slots, numbers } = to;
    const n = rows.length / heads / size;
    this.#kernel.keep(rows.byteOffset, n, position, heads, size, numbers.byteOffset, slots);
  }

  attend(context: Context, position: number, n: number, out: Float64Array): void {
    const { queries, keys, values, factors, window } = context;
    this.#kernel.attend(
      queries.numbers.byteOffset,
      queries.slots,
      keys.numbers.byteOffset,
      values.numbers.byteOffset,
      keys.slots,
      window,
      factors.byteOffset,
      position,
      n,
      keys.heads,
      keys.size,
      out.byteOffset,
      this.#steps,
    );
  }

  frequencies(scores: Float64Array, out: Uint32Array): void {
    assert(scores.length % 2 === 0, "an even number of scores");
    this.#kernel.frequencies(scores.byteOffset, scores.length, out.byteOffset);
  }

  #place(bytes: number): number {
    const at = this.#used;
    this.#used += Math.ceil(bytes / 16) * 16;
    assert(this.#used <= this.#memory.buffer.byteLength, "the kernel's memory is planned too small");
    return at;
  }
}
