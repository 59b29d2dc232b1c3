/**
 * The codec's benchmark: how much damage a block survives, and how long building and reading take.
 *
 * Every block read is compared with the facts that were written, so that survival means "right", and a wrong value
 * ends the run. Times are medians; beside each stands its ratio to a reference in the same run, one O(n²)
 * transform by the definition, because machines differ and are busy.
 */

import { writeFileSync } from "node:fs";
import { utf8 } from "../src/base/bytes.ts";
import { type Random, seededRandom } from "../src/base/random.ts";
import { type BlockFact, buildBlock } from "../src/codec/block.ts";
import { encodeValue, PLAIN_CODEBOOK } from "../src/codec/codebook.ts";
import { type ReadOptions, readBlock } from "../src/codec/read-block.ts";
import { deriveBlockKey } from "../src/codec/seal.ts";
import { transformPlain } from "../src/codec/transform.ts";
import { DAMAGES, type DamageKind, damageText, randomWord } from "./codec/damage.ts";
import { type DamageRow, drawDamage } from "./codec/damage-picture.ts";
import { blockOf } from "./codec/profiles.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

interface TimeRow {
  readonly what: string;
  readonly ms: number;
  readonly ratio: number;
  readonly barMs?: number;
}

/** Carriers in use; each line: kind of damage, share of the words, and whether it is a bar or a goal. */
const BARS: readonly (readonly [carriers: number, kind: DamageKind, share: number, is: "bar" | "goal"])[] = [
  [64, "cut from the end", 0.85, "bar"],
  [64, "cut from the start", 0.85, "bar"],
  [64, "cut from the middle", 0.85, "bar"],
  [64, "replaced", 0.25, "bar"],
  [64, "dropped", 0.2, "bar"],
  [64, "mixed", 0.1, "bar"],
  [64, "replaced", 0.33, "goal"],
  [64, "dropped", 0.3, "goal"],
  [256, "cut from the end", 0.48, "bar"],
  [256, "cut from the start", 0.48, "bar"],
  [256, "cut from the middle", 0.4, "bar"],
  [256, "replaced", 0.15, "bar"],
  [256, "dropped", 0.1, "bar"],
  [256, "mixed", 0.05, "bar"],
  [480, "cut from the end", 0.06, "bar"],
  [480, "cut from the start", 0.06, "bar"],
  [480, "cut from the middle", 0.04, "bar"],
  [480, "replaced", 0.015, "bar"],
];
const SURVIVAL_MIN = 0.99;
const CURVE_CARRIERS = [64, 128, 256, 480];
/** Trials for a point of a curve, as a share of those for a bar: a curve needs many points, not exact ones. */
const CURVE_SHARE = 0.1;
/** The rows are timed in turns, this many for each. */
const TURNS = 10;

const KEY = deriveBlockKey(new Uint8Array(32).fill(1), 0, "bench");
const WRITE = { key: KEY, userId: "bench", codebook: PLAIN_CODEBOOK };
const READ: ReadOptions = { keys: () => KEY, userId: "bench", codebooks: [PLAIN_CODEBOOK] };

export async function benchCodec(options: BenchOptions): Promise<boolean> {
  const random = seededRandom(options.seed);
  const trials = options.trials ?? (options.small ? 10 : 1000);
  const say = (text: string) => {
    if (!options.json) console.log(text);
  };
  say(`codec: seed ${options.seed}, ${trials} trials a row`);
  say("\ndamage                        carriers  share   read exactly   median   ");
  const damage = BARS.map(([carriers, kind, share, is]) => {
    const row = { ...survival(carriers, kind, share, trials, random), is };
    const verdict = row.survived >= SURVIVAL_MIN ? "holds" : "MISSED";
    say(
      `${kind.padEnd(30)}${String(carriers).padStart(8)}${percent(share).padStart(8)}` +
        `${percent(row.survived).padStart(13)}${`${row.readMs.toFixed(1)} ms`.padStart(11)}   ${is} ${verdict}`,
    );
    return row;
  });
  const times = timeAll(random, options.small ? 40 : 2000);
  say("\ntime on one core                               median    × reference");
  for (const { what, ms, ratio, barMs } of times) {
    const bar = barMs === undefined ? "" : `   bar ${barMs} ms ${ms <= barMs ? "holds" : "MISSED"}`;
    say(`${what.padEnd(44)}${`${ms.toFixed(3)} ms`.padStart(10)}${ratio.toFixed(2).padStart(11)}${bar}`);
  }
  if (options.svg !== undefined) {
    const curveTrials = Math.max(5, Math.round(trials * CURVE_SHARE));
    writeFileSync(options.svg, drawDamage(curves(curveTrials, random, say)));
    say(`\ndrawn: ${options.svg}`);
  }
  if (options.json) console.log(JSON.stringify({ bench: "codec", seed: options.seed, damage, times }));
  const survivedAll = damage.every(({ is, survived }) => is === "goal" || survived >= SURVIVAL_MIN);
  // In the small mode, which CI runs on busy machines, a slow minute is no failure; lost damage resistance is.
  return survivedAll && (options.small || times.every(({ ms, barMs }) => barMs === undefined || ms <= barMs));
}

/** How many of `trials` blocks come back, each damaged anew and checked value by value. */
function survival(
  carriers: number,
  kind: DamageKind,
  share: number,
  trials: number,
  random: Random,
): DamageRow {
  let survived = 0;
  const times: number[] = [];
  let current = blockOf(carriers, random, WRITE);
  for (let trial = 0; trial < trials; trial++) {
    if (trial % 50 === 49) current = blockOf(carriers, random, WRITE);
    const text = damageText(current.block.text, kind, share, random);
    const start = performance.now();
    const result = readBlock(text, READ);
    times.push(performance.now() - start);
    if (!result.ok) continue;
    verify(result.facts, current.facts);
    survived++;
  }
  return { carriers, kind, share, trials, survived: survived / trials, readMs: median(times) };
}

function curves(trials: number, random: Random, say: (text: string) => void): DamageRow[] {
  const rows: DamageRow[] = [];
  for (const kind of Object.keys(DAMAGES) as DamageKind[]) {
    for (const carriers of CURVE_CARRIERS) {
      const step = kind.startsWith("cut") ? 0.05 : kind === "mixed" ? 0.02 : 0.04;
      // The curve ends where nothing survives.
      let dead = 0;
      for (let share = 0; share <= (kind === "mixed" ? 0.24 : 0.97) && dead < 2; share += step) {
        const row = survival(carriers, kind, share, trials, random);
        rows.push(row);
        dead = row.survived === 0 ? dead + 1 : 0;
      }
    }
    say(`curve drawn: ${kind}`);
  }
  return rows;
}

function timeAll(random: Random, rounds: number): TimeRow[] {
  const { block, facts } = blockOf(256, random, WRITE);
  const coded = facts.map(
    (fact): BlockFact => ({ ...fact, code: encodeValue(PLAIN_CODEBOOK, fact.channel, utf8(fact.value)) }),
  );
  const small = blockOf(64, random, WRITE);
  const heavy = Array.from({ length: 40 }, () => damageText(small.block.text, "dropped", 0.3, random));
  const noise = Array.from({ length: 60_000 }, () => randomWord(random)).join(" ");
  const symbols = new Uint16Array(512).map(() => random.below(7681));
  const rows: [what: string, work: () => void, rounds: number, barMs?: number][] = [
    ["reference: O(n²) transform", () => transformPlain(symbols, false), Math.ceil(rounds / 10)],
    [
      "build, 256 carriers, code bits known",
      () => expect(buildBlock(coded, WRITE).text === block.text),
      rounds,
      0.2,
    ],
    [
      "read an intact block, without its values",
      () => expect(readBlock(block.text, { ...READ, channels: [] }).ok),
      rounds,
      0.2,
    ],
    ["read an intact block, plain values too", () => readAndVerify(block.text, facts), rounds],
    [
      "read a heavily damaged block (30 % dropped)",
      () => expect(readBlock(random.pick(heavy), READ).ok),
      Math.ceil(rounds / 20),
      50,
    ],
    [
      "refuse half a megabyte of random words",
      () => expect(!readBlock(noise, READ).ok),
      Math.ceil(rounds / 100),
      200,
    ],
    [
      "refuse an intact block of another user",
      () => expect(!readBlock(block.text, { ...READ, userId: "x" }).ok),
      rounds,
    ],
  ];
  // In turns, so that other load on the machine hits all rows alike.
  const samples = rows.map((): number[] => []);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [i, [, work, times]] of rows.entries()) {
      samples[i].push(...timesOf(work, Math.ceil(times / TURNS)));
    }
  }
  const medians = samples.map(median);
  return rows.map(([what, , , barMs], i) => {
    return {
      what,
      ms: medians[i],
      ratio: medians[i] / medians[0],
      ...(barMs === undefined ? {} : { barMs }),
    };
  });
}

function readAndVerify(text: string, facts: readonly BlockFact[]): void {
  const result = readBlock(text, READ);
  expect(result.ok);
  if (result.ok) verify(result.facts, facts);
}

function verify(read: readonly { channel: number; value: string }[], written: readonly BlockFact[]): void {
  const values = new Map(read.map(({ channel, value }) => [channel, value]));
  for (const { channel, value } of written) {
    if (values.get(channel) !== value)
      throw new Error(`channel ${channel} was read wrong: this must never happen`);
  }
}

function expect(condition: boolean): void {
  if (!condition) throw new Error("a timed result is not what it should be");
}

/** The times of `rounds` calls, after the same number of calls to warm up. */
function timesOf(work: () => void, rounds: number): number[] {
  for (let i = 0; i < rounds; i++) work();
  return Array.from({ length: rounds }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
