/**
 * One walk over symbols that both writes and reads them, so that the two cannot differ: the writer's coder codes each
 * symbol that it is given, the reader's ignores it and returns the one that it reads.
 */

import type { Interval } from "./predictor.ts";
import type { RangeDecoder, RangeEncoder } from "./range-coder.ts";

/** Frequencies of a few symbols that grow by `step` with use; with a step of 0 they stay as they are. */
export class AdaptiveCounts {
  readonly #counts: number[];
  readonly #step: number;
  total: number;

  constructor(prior: readonly number[], step: number) {
    this.#counts = [...prior];
    this.#step = step;
    this.total = prior.reduce((sum, count) => sum + count, 0);
  }

  interval(symbol: number): Interval {
    let start = 0;
    for (let i = 0; i < symbol; i++) start += this.#counts[i]!;
    return { start, size: this.#counts[symbol]! };
  }

  find(target: number): number {
    let symbol = 0;
    for (let start = this.#counts[0]!; target >= start; start += this.#counts[symbol]!) symbol++;
    return symbol;
  }

  learn(symbol: number): void {
    this.#counts[symbol]! += this.#step;
    this.total += this.#step;
  }
}

export interface SymbolCoder {
  /** A symbol with these frequencies, which learn it. */
  adaptive(counts: AdaptiveCounts, symbol: number): number;
  /** One of `total` equally likely symbols. */
  uniform(total: number, symbol: number): number;
}

export function symbolWriter(encoder: RangeEncoder): SymbolCoder {
  return {
    adaptive: (counts, symbol) => {
      encoder.write(counts.interval(symbol), counts.total);
      counts.learn(symbol);
      return symbol;
    },
    uniform: (total, symbol) => {
      encoder.write({ start: symbol, size: 1 }, total);
      return symbol;
    },
  };
}

export function symbolReader(decoder: RangeDecoder): SymbolCoder {
  return {
    adaptive: (counts) => {
      const symbol = counts.find(decoder.target(counts.total));
      decoder.skip(counts.interval(symbol), counts.total);
      counts.learn(symbol);
      return symbol;
    },
    uniform: (total) => {
      const symbol = decoder.target(total);
      decoder.skip({ start: symbol, size: 1 }, total);
      return symbol;
    },
  };
}
