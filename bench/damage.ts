/**
 * What damage a block survives, in the terms of its user: with 5 facts and with 40, for each kind of damage the
 * largest share of the words, in whole per cent, at which at least 99 of 100 blocks are read.
 *
 * The facts are the labels' own examples, coded by the reader model. A block that opens has passed its seal; the first
 * block of each set is also read value by value and compared. The share is found by halving: more damage is never read
 * more often, but for chance.
 */

import { readFileSync } from "node:fs";
import { CHANNELS, type Channel } from "../src/base/channels.ts";
import { type Random, seededRandom } from "../src/base/random.ts";
import { type BlockFact, buildBlock } from "../src/codec/block.ts";
import { openBlock, readBlock } from "../src/codec/read-block.ts";
import { deriveBlockKey } from "../src/codec/seal.ts";
import { readerCodebook } from "../src/reader/codebook.ts";
import { READER_WEIGHTS } from "../src/reader/weights-path.ts";
import { type DamageKind, damageText } from "./codec/damage.ts";
import type { BenchOptions } from "./options.ts";

const SURVIVAL_MIN = 0.99;
const USER = "bench";
const KEY = deriveBlockKey(new Uint8Array(32).fill(1), 0, USER);
const KINDS: readonly DamageKind[] = ["cut from the end", "cut from the middle", "dropped", "replaced"];
const FIVE = ["USER.name", "USER.project", "PREF.response_style", "TASK.current", "TASK.decision"];

/** Each set of facts: which labels, and what their values are. */
const SETS: readonly (readonly [
  name: string,
  has: (label: string) => boolean,
  value: (channel: Channel) => string,
])[] = [
  ["5 facts", (label) => FIVE.includes(label), ({ example }) => example],
  ["40 short facts", () => true, ({ example }) => example],
  ["40 longer facts", () => true, ({ description, example }) => `${description}: ${example}`],
];

interface SetResult {
  readonly facts: string;
  readonly characters: number;
  readonly carriers: number;
  /** For each kind of damage the largest share that is survived, in per cent. */
  readonly survived: Readonly<Record<string, number>>;
}

export async function benchDamage(options: BenchOptions): Promise<boolean> {
  const trials = options.trials ?? (options.small ? 5 : 1000);
  const codebook = readerCodebook(readFileSync(READER_WEIGHTS));
  const read = { keys: () => KEY, userId: USER, codebooks: [codebook] };
  const results = SETS.map(([name, has, value]): SetResult => {
    const random = seededRandom(options.seed);
    const chosen = CHANNELS.filter(({ label }) => has(label));
    const facts = chosen.map(
      (channel, order): BlockFact => ({ channel: channel.channel, value: value(channel), order }),
    );
    const block = buildBlock(facts, { key: KEY, userId: USER, codebook });
    if (block.overflow.length > 0) throw new Error(`${name}: ${block.overflow.length} facts do not fit`);
    verify(readBlock(block.text, read), facts);
    const opens = (text: string) => openBlock(text, read).ok;
    const survived = Object.fromEntries(
      KINDS.map((kind) => [kind, largestShare(block.text, kind, trials, random, opens)]),
    );
    const characters = Math.round(facts.reduce((sum, { value }) => sum + value.length, 0) / facts.length);
    return { facts: name, characters, carriers: block.carriers, survived };
  });
  if (options.json) console.log(JSON.stringify({ bench: "damage", seed: options.seed, trials, results }));
  else report(results, trials, options.seed);
  // The promise of the format: whatever is in it, a block keeps a guard band of 32 carriers.
  return results.every(({ survived }) => survived["cut from the end"] >= 5);
}

/** The largest share of the words, in whole per cent, that is survived by enough blocks. */
function largestShare(
  text: string,
  kind: DamageKind,
  trials: number,
  random: Random,
  opens: (text: string) => boolean,
): number {
  const lostMax = Math.floor(trials * (1 - SURVIVAL_MIN));
  const holds = (percent: number) => {
    let lost = 0;
    for (let trial = 0; trial < trials && lost <= lostMax; trial++) {
      if (!opens(damageText(text, kind, percent / 100, random))) lost++;
    }
    return lost <= lostMax;
  };
  let [low, high] = [0, 100];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function verify(result: ReturnType<typeof readBlock>, facts: readonly BlockFact[]): void {
  const text = (list: readonly { channel: number; value: string }[]) =>
    JSON.stringify(list.map(({ channel, value }) => [channel, value]));
  if (!result.ok || text(result.facts) !== text(facts)) throw new Error("the block does not hold the facts");
}

function report(results: readonly SetResult[], trials: number, seed: number): void {
  console.log(
    `damage: seed ${seed}, ${trials} blocks a step; the largest share of the words at which 99 % are read\n`,
  );
  console.log(["facts          ", "characters", "carriers", ...KINDS].join("   "));
  for (const { facts, characters, carriers, survived } of results) {
    const shares = KINDS.map((kind) => `${survived[kind]} %`.padStart(kind.length));
    console.log(
      [facts.padEnd(15), String(characters).padStart(10), String(carriers).padStart(8), ...shares].join(
        "   ",
      ),
    );
  }
}
