/**
 * What the range coder asks of a model of values.
 *
 * A predictor splits a value into symbols and gives, for a channel and the symbols so far, an interval of
 * integers for each possible next symbol. The writer knows all symbols beforehand, the reader finds one at a time;
 * both must get the very same integers on every machine, or the block is lost.
 */

/** A symbol's share of [0, total). */
export interface Interval {
  readonly start: number;
  /** At least 1. */
  readonly size: number;
}

export interface Predictor {
  /** The sum of all sizes: a power of two, at most TOTAL_MAX. */
  readonly total: number;
  /** The symbol that ends a value. */
  readonly end: number;
  /** The symbols of a value, without the end. Any bytes can be split. */
  split(value: Uint8Array): number[];
  /** The bytes that a symbol (not the end) stands for. */
  bytesOf(symbol: number): Uint8Array;
  /** The interval of each given symbol, in the context of those before it; computed when it is taken. */
  intervals(channel: number, symbols: readonly number[]): Iterable<Interval>;
  cursor(channel: number): PredictorCursor;
}

export interface PredictorCursor {
  /** Finds the symbol whose interval holds `target`, and moves on past it. */
  next(target: number): Interval & { readonly symbol: number };
}

export const TOTAL_MAX = 2 ** 20;
