/**
 * The operations on WebAssembly with SIMD. One linear memory holds the weights and all that is worked on; places
 * in it are handed out once, at the start, and never given back. The arrays handed in must come from it.
 */

import { assert } from "../base/assert.ts";
import { KERNEL_MODULE } from "./kernel-module.generated.ts";
import type { Context, Matrix, Operations } from "./operations.ts";

interface KernelExports {
  product(
    weights: number,
    scales: number,
    rows: number,
    columns: number,
    u: number,
    n: number,
    unit: number,
    out: number,
    rounded: number,
    steps: number,
  ): void;
  attend(
    query: number,
    keys: number,
    values: number,
    slots: number,
    first: number,
    count: number,
    factors: number,
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

export class KernelOperations implements Operations {
  readonly #memory: WebAssembly.Memory;
  readonly #kernel: KernelExports;
  readonly #rounded: number;
  readonly #steps: number;
  #used = 1024; // address 0 stays free; the module itself keeps nothing in memory

  /** `sizeBytes`: what the places asked for will need together. */
  constructor(sizeBytes: number) {
    const pages = Math.ceil((sizeBytes + 2 * SCRATCH_BYTES) / PAGE_BYTES);
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const bytes = Uint8Array.from(atob(KERNEL_MODULE), (character) => character.charCodeAt(0));
    const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
      env: { memory: this.#memory },
    });
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
    const { rows, columns, weights, scales } = matrix;
    assert(
      n * columns * 2 <= SCRATCH_BYTES && n * columns <= u.length && n * rows <= out.length,
      "too many rows",
    );
    this.#kernel.product(
      weights.byteOffset,
      scales.byteOffset,
      rows,
      columns,
      u.byteOffset,
      n,
      unit,
      out.byteOffset,
      this.#rounded,
      this.#steps,
    );
  }

  attend(query: Int16Array, context: Context, factors: Float64Array, out: Float64Array): void {
    const { keys, values, slots, first, count } = context;
    const heads = factors.length;
    this.#kernel.attend(
      query.byteOffset,
      keys.byteOffset,
      values.byteOffset,
      slots,
      first,
      count,
      factors.byteOffset,
      heads,
      out.length / heads,
      out.byteOffset,
      this.#steps,
    );
  }

  frequencies(scores: Float64Array, out: Uint32Array): void {
    this.#kernel.frequencies(scores.byteOffset, scores.length, out.byteOffset);
  }

  #place(bytes: number): number {
    const at = this.#used;
    this.#used += Math.ceil(bytes / 16) * 16;
    assert(this.#used <= this.#memory.buffer.byteLength, "the kernel's memory is planned too small");
    return at;
  }
}
