/**
 * Seeded pseudo-random numbers (xoshiro128**, Blackman and Vigna 2018) for tests, benchmarks and training data:
 * the same seed gives the same numbers on every machine. Never for keys.
 */

export interface Random {
  /** An integer in [0, bound). */
  below(bound: number): number;
  /** A number in [0, 1). */
  unit(): number;
  bytes(length: number): Uint8Array;
  /** The items in random order, in place. */
  shuffle<T>(items: T[]): T[];
  pick<T>(items: readonly T[]): T;
}

export function seededRandom(seed: number): Random {
  // SplitMix32 spreads the seed over the state, so that neighbouring seeds are unrelated.
  let mix = seed >>> 0;
  const split = () => {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  let a = split();
  let b = split();
  let c = split();
  let d = split();

  const next = () => {
    const scaled = Math.imul(b, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  const unit = () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
  const below = (bound: number) => Math.floor(unit() * bound);

  return {
    below,
    unit,
    bytes: (length) => Uint8Array.from({ length }, () => next() >>> 24),
    shuffle: (items) => {
      for (let i = items.length - 1; i > 0; i--) {
        const j = below(i + 1);
        [items[i], items[j]] = [items[j]!, items[i]!];
      }
      return items;
    },
    pick: (items) => items[below(items.length)]!,
  };
}
