/**
 * Random profiles for tests and benchmarks: facts of all scripts, long and short, plain and odd, from a seed; and
 * blocks that use a given number of carriers.
 */

import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../../src/base/limits.ts";
import type { Random } from "../../src/base/random.ts";
import { type BlockFact, type BlockOptions, type BuiltBlock, buildBlock } from "../../src/codec/block.ts";

const CHANNELS = channelsUpTo(CHANNEL_COUNT);
const WORDS =
  "the user prefers short answers works on a parser in Rust and lives near Lyon with two cats".split(" ");

/** Ranges of code points, each a script or a kind of sign; no control characters, no surrogates. */
const SCRIPTS: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0xa1, 0x17f],
  [0x391, 0x3c9],
  [0x410, 0x44f],
  [0x5d0, 0x5ea],
  [0x627, 0x64a],
  [0x905, 0x939],
  [0xe01, 0xe30],
  [0x3041, 0x3096],
  [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3],
  [0x1f300, 0x1f64f],
  [0x20000, 0x20100],
  [0xfe00, 0xfe0f],
  [0x200b, 0x200f],
];

/** A value of 1 to `bytesMax` bytes of well-formed UTF-8. */
export function randomValue(random: Random, bytesMax: number): string {
  const budget = 1 + Math.floor(bytesMax * random.unit() ** 3);
  const kind = random.below(4);
  let value = "";
  let bytes = 0;
  const [from, to] = random.pick(SCRIPTS);
  for (;;) {
    let piece: string;
    if (kind === 0) piece = `${value === "" ? "" : " "}${random.pick(WORDS)}`;
    else if (kind === 1) piece = String.fromCharCode(33 + random.below(94));
    else if (kind === 2) piece = String.fromCodePoint(from + random.below(to - from + 1));
    else {
      const [low, high] = random.pick(SCRIPTS);
      piece = String.fromCodePoint(low + random.below(high - low + 1));
    }
    bytes += new TextEncoder().encode(piece).length;
    if (bytes > budget) return value === "" ? "x" : value;
    value += piece;
  }
}

/** 1 to 40 facts on different standard channels, written in random order. */
export function randomFacts(random: Random): BlockFact[] {
  return factsOn(CHANNELS, random);
}

/** 1 to 256 facts on different channels, of which many or few are an account's own. */
export function randomFactsWithOwn(random: Random): BlockFact[] {
  return factsOn(channelsUpTo(random.pick([CHANNEL_COUNT + 5, 60, 100, CHANNEL_COUNT_MAX])), random);
}

/** Facts on channels and under free labels, of ordinary groups and of others. */
export function randomFactsWithFree(random: Random): BlockFact[] {
  const facts = random.below(2) === 0 ? randomFacts(random) : randomFactsWithOwn(random);
  const labels = new Set(
    Array.from({ length: 1 + random.below(random.pick([3, 40, 200])) }, () => randomLabel(random)),
  );
  const bytesMax = random.pick([4, 16, 64, 1024]);
  const free = Array.from(labels, (label, i) => ({
    channel: CHANNEL_COUNT_MAX + i,
    label,
    value: randomValue(random, bytesMax),
    order: 0,
  }));
  return random.shuffle([...facts, ...free]).map((fact, order) => ({ ...fact, order }));
}

/** Any label, of a group that others have too or of its own. */
export function randomLabel(random: Random): string {
  const letters = (from: string, length: number) =>
    Array.from({ length }, () => from.charAt(random.below(from.length))).join("");
  const group = random.pick([
    "FAMILY",
    "NOTE",
    "X1_",
    `${letters("ABCXYZ", 1)}${letters("ABYZ019_", random.below(16))}`,
  ]);
  return `${group}.${letters("abcxyz019_", 1 + random.below(random.pick([3, 48])))}`;
}

function channelsUpTo(end: number): number[] {
  return Array.from({ length: end }, (_, channel) => channel);
}

function factsOn(from: readonly number[], random: Random): BlockFact[] {
  const count = 1 + random.below(from.length);
  const channels = random.shuffle([...from]).slice(0, count);
  const bytesMax = random.pick([16, 64, 256, 1024]);
  return channels.map((channel, order) => ({ channel, value: randomValue(random, bytesMax), order }));
}

/** A block that uses exactly `carriers` carriers, and the facts that it carries. */
export function blockOf(
  carriers: number,
  random: Random,
  options: BlockOptions,
): { block: BuiltBlock; facts: BlockFact[] } {
  const letters = "abcdefghijklmnopqrstuvwxyz ABC0123456789";
  for (let attempt = 0; attempt < 100; attempt++) {
    const count = carriers < 100 ? 4 + random.below(3) : 10 + random.below(20);
    const facts = random
      .shuffle([...CHANNELS])
      .slice(0, count)
      .map((channel, order): BlockFact => ({ channel, value: "x", order }));
    // A letter takes less than a carrier, so growing the values one at a time reaches every count.
    for (let i = 0; ; i = (i + 1) % count) {
      const block = buildBlock(facts, options);
      if (block.carriers === carriers && block.overflow.length === 0) return { block, facts };
      if (block.carriers > carriers || block.overflow.length > 0) break;
      const short = Math.max(1, Math.floor((carriers - block.carriers) / 2));
      let value = facts[i].value;
      for (let n = 0; n < short && value.length < 900; n++) value += letters[random.below(letters.length)];
      facts[i] = { ...facts[i], value };
    }
  }
  throw new Error(`no block of ${carriers} carriers found`);
}
