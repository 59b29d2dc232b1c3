/**
 * The codebook of reader model 5, with the plain predictor for values that it codes shorter: format version 7. Blocks of
 * versions 3 to 6 need the weights of older models, which were never released: such blocks are refused.
 *
 * The model works at a bounded cost: it codes the first 96 symbols of a value, the tail (tail.ts) codes the rest. A value of
 * 1,024 bytes can have 1,024 symbols, and each costs the model the same. Nearly all values have fewer than 96: it is about
 * 400 characters of English prose, or 80 of Chinese.
 */

import type { Codebook } from "../codec/codebook.ts";
import { plainPredictor } from "../codec/plain-predictor.ts";
import type { Interval, Predictor, PredictorCursor } from "../codec/predictor.ts";
import { findSymbol, intervalOf, type ReaderCursor, ReaderPredictor } from "./predictor.ts";
import { Tail } from "./tail.ts";
import { type Checksum, parseWeights, WeightsError } from "./weights.ts";

/** The version that blocks are written in. */
export const READER_FORMAT_VERSION = 7;
/** Never changes: another model needs another format version. */
const MODEL_VERSION = 5;
/** Symbols that the model codes, the end included if it is among them. Never changes: it is part of the format. */
export const MODEL_SYMBOLS_MAX = 96;

/** @param options `kernel`: the compiled kernel, where a program may not compile it */
export function readerCodebook(
  weightsFile: Uint8Array,
  options: { checksum?: Checksum | undefined; kernel?: WebAssembly.Module | undefined } = {},
): Codebook {
  const reader = new ReaderPredictor(weightsFile, options);
  requireModel(reader.version);
  return { version: READER_FORMAT_VERSION, predictors: [new BoundedReader(reader), plainPredictor] };
}

/** Throws a WeightsError where `readerCodebook` would, for a fraction of the work. */
export function checkWeights(weightsFile: Uint8Array, checksum?: Checksum): void {
  requireModel(parseWeights(weightsFile, checksum).version);
}

function requireModel(version: number): void {
  if (version !== MODEL_VERSION) {
    throw new WeightsError(
      `the weights file holds model ${version}; this program reads with model ${MODEL_VERSION}`,
    );
  }
}

export class BoundedReader implements Predictor {
  readonly total: number;
  readonly end: number;
  readonly #reader: ReaderPredictor;

  constructor(reader: ReaderPredictor) {
    this.#reader = reader;
    this.total = reader.total;
    this.end = reader.end;
  }

  split(value: Uint8Array): number[] {
    return this.#reader.split(value);
  }

  bytesOf(symbol: number): Uint8Array {
    return this.#reader.bytesOf(symbol);
  }

  *intervals(channel: number, symbols: readonly number[]): Iterable<Interval> {
    const tail = symbols.length > MODEL_SYMBOLS_MAX ? new Tail() : undefined;
    for (const { table, symbol } of this.#reader.tables(channel, symbols.slice(0, MODEL_SYMBOLS_MAX))) {
      tail?.push(symbol, table);
      yield intervalOf(table, symbol);
    }
    for (const symbol of symbols.slice(MODEL_SYMBOLS_MAX)) {
      yield tail!.interval(symbol);
      tail!.push(symbol);
    }
  }

  cursor(channel: number): PredictorCursor {
    return new BoundedCursor(this.#reader.cursor(channel));
  }
}

class BoundedCursor implements PredictorCursor {
  readonly #model: ReaderCursor;
  readonly #tail = new Tail();
  #symbols = 0;

  constructor(model: ReaderCursor) {
    this.#model = model;
  }

  next(target: number): Interval & { readonly symbol: number } {
    const table = this.#symbols++ < MODEL_SYMBOLS_MAX ? this.#model.table() : undefined;
    const found = table === undefined ? this.#tail.find(target) : findSymbol(table, target);
    this.#tail.push(found.symbol, table);
    this.#model.push(found.symbol);
    return found;
  }
}
