/**
 * The reader model as a predictor for the range coder: new ReaderPredictor(bytes of the weights file). About
 * 17 MiB of memory, nothing shared: one for each worker. Values are written in batches of positions and read
 * position by position; the numbers are the same.
 */

import { assert, assertInteger } from "../base/assert.ts";
import type { Interval, Predictor, PredictorCursor } from "../codec/predictor.ts";
import { BATCH_MAX, Forward, forwardBytes } from "./forward.ts";
import { KernelOperations } from "./kernel.ts";
import { FREQUENCY_TOTAL, type Operations } from "./operations.ts";
import { Tokenizer } from "./tokenizer.ts";
import { type Checksum, parseWeights } from "./weights.ts";

interface ReaderOptions {
  /** Instead of the WebAssembly kernel: the plain operations, for comparison. */
  readonly operations?: Operations;
  readonly checksum?: Checksum | undefined;
  /** The kernel, compiled before. */
  readonly kernel?: WebAssembly.Module | undefined;
}

export class ReaderPredictor implements Predictor {
  readonly total = FREQUENCY_TOTAL;
  readonly end: number;
  /** The model's version, as the weights file states it. */
  readonly version: number;
  readonly #tokenizer: Tokenizer;
  readonly #forward: Forward;
  /** The cursor or the iteration whose value the forward pass has read last. */
  #current: object | undefined;

  constructor(weightsFile: Uint8Array, { operations, checksum, kernel }: ReaderOptions = {}) {
    const weights = parseWeights(weightsFile, checksum);
    this.version = weights.version;
    this.#tokenizer = new Tokenizer(weights.merges);
    this.end = this.#tokenizer.end;
    const { shape } = weights;
    this.#forward = new Forward(weights, operations ?? new KernelOperations(forwardBytes(shape), kernel));
  }

  /** Multiply-adds for one symbol. */
  get multiplyAdds(): number {
    return this.#forward.multiplyAdds;
  }

  split(value: Uint8Array): number[] {
    return this.#tokenizer.split(value);
  }

  bytesOf(symbol: number): Uint8Array {
    return this.#tokenizer.bytesOf(symbol);
  }

  *intervals(channel: number, symbols: readonly number[]): Iterable<Interval> {
    for (const { table, symbol } of this.tables(channel, symbols)) yield intervalOf(table, symbol);
  }

  /** For each given symbol, the frequencies of all symbols at its place. A table is valid until the next is taken. */
  *tables(
    channel: number,
    symbols: readonly number[],
  ): Iterable<{ readonly table: Uint32Array; readonly symbol: number }> {
    const { vocabulary } = this.#forward.shape;
    for (const symbol of symbols) assertInteger(symbol, 0, this.end, "symbol");
    const rows = [this.#forward.labelRow(channel), ...symbols.slice(0, -1)];
    const own = {};
    this.#current = own;
    this.#forward.restart();
    for (let first = 0; first < symbols.length; first += BATCH_MAX) {
      assert(this.#current === own, "one value is written at a time");
      const tables = this.#forward.read(rows.slice(first, first + BATCH_MAX));
      for (let i = 0; i * vocabulary < tables.length; i++)
        yield {
          table: tables.subarray(i * vocabulary, (i + 1) * vocabulary),
          symbol: symbols[first + i],
        };
    }
  }

  cursor(channel: number): ReaderCursor {
    return new ReaderCursor(this.#forward.labelRow(channel), (cursor, rows) => this.#read(cursor, rows));
  }

  /** The frequencies after the last of `rows`, which are all that the cursor has read so far. */
  #read(cursor: ReaderCursor, rows: readonly number[]): Uint32Array {
    let table: Uint32Array;
    if (this.#current === cursor) {
      table = this.#forward.read(rows.slice(-1));
    } else {
      // Another value was read in between, or this one is new: read it from its beginning.
      this.#forward.restart();
      this.#current = cursor;
      for (let first = 0; ; first += BATCH_MAX) {
        table = this.#forward.read(rows.slice(first, first + BATCH_MAX));
        if (first + BATCH_MAX >= rows.length) break;
      }
    }
    return table.subarray(-this.#forward.shape.vocabulary);
  }
}

export class ReaderCursor implements PredictorCursor {
  readonly #rows: number[];
  readonly #read: (cursor: ReaderCursor, rows: readonly number[]) => Uint32Array;

  constructor(label: number, read: (cursor: ReaderCursor, rows: readonly number[]) => Uint32Array) {
    this.#rows = [label];
    this.#read = read;
  }

  next(target: number): Interval & { readonly symbol: number } {
    const found = findSymbol(this.table(), target);
    this.push(found.symbol);
    return found;
  }

  /** The frequencies of the next symbol. Take it once for each symbol, and use it before anything else is read. */
  table(): Uint32Array {
    return this.#read(this, this.#rows);
  }

  push(symbol: number): void {
    this.#rows.push(symbol);
  }
}

/** A symbol's share, by the frequencies of all symbols. */
export function intervalOf(table: Uint32Array, symbol: number): Interval {
  let start = 0;
  for (let i = 0; i < symbol; i++) start += table[i];
  return { start, size: table[symbol] };
}

/** The symbol whose share holds `target`. */
export function findSymbol(table: Uint32Array, target: number): Interval & { readonly symbol: number } {
  assertInteger(target, 0, FREQUENCY_TOTAL - 1, "target");
  let symbol = 0;
  let start = 0;
  while (target >= start + table[symbol]) start += table[symbol++];
  return { symbol, start, size: table[symbol] };
}
