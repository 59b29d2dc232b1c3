/**
 * The golden vectors of the reader model: values, and a hash of all frequency tables that the model gives while
 * reading each. They hold on every machine and engine; `npm run vectors:reader` writes them anew for a new model, and
 * `python3 training/reference.py` checks them with an implementation of its own.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { seededRandom } from "../../src/base/random.ts";
import type { ReaderPredictor } from "../../src/reader/predictor.ts";

export const VECTORS_FILE = new URL("../vectors/reader-5.json", import.meta.url);

export interface Vector {
  readonly channel: number;
  readonly value: string;
  /** The first half of the SHA-256 of all tables, 32-bit little-endian frequencies, one position after the other. */
  readonly hash: string;
}

export interface Vectors {
  readonly model: number;
  readonly vectors: readonly Vector[];
}

export function readVectors(): Vectors {
  return JSON.parse(readFileSync(VECTORS_FILE, "utf8")) as Vectors;
}

export function fingerprint(reader: ReaderPredictor, channel: number, value: string): string {
  const symbols = [...reader.split(new TextEncoder().encode(value)), reader.end];
  const hash = createHash("sha256");
  for (const { table } of reader.tables(channel, symbols))
    hash.update(new Uint8Array(table.buffer, table.byteOffset, table.byteLength));
  return hash.digest("hex").slice(0, 32);
}

const NAMES = ["Maria", "Evan", "Priya", "Kenji", "Łukasz", "Zoë"];
const LINES = [
  "{} enjoys hiking with her two dogs on weekends.",
  "{} is allergic to peanuts",
  "fix(parser): handle empty input from {}",
  "Use early returns; never nest deeper than {}",
  "/home/{}/projects/sideband",
  "https://github.com/{}/tools.git",
  "prefers short answers, metric units, 24-hour time",
  "blocked on review by {} until 2026-03-14",
  "✅ {}: done",
  "{} 喜欢在周末爬山",
  "{} любит чай с лимоном",
  "95.3% (±0.4) after 12,000 steps",
];
const SCRIPTS = [0x21, 0x3b1, 0x430, 0x5d0, 0x627, 0x905, 0xe01, 0x3042, 0x4e00, 0xac00, 0x1f600];

/** The values of the vectors: sentences, paths, numbers, and random text of many scripts, long and short. */
export function vectorValues(): { channel: number; value: string }[] {
  const random = seededRandom(2026);
  const values = LINES.flatMap((line) => NAMES.map((name) => line.replace("{}", name)));
  for (let length = 1; length <= 8; length++) values.push("x-1 yes no".slice(0, length));
  for (let i = 0; i < 130; i++) {
    const base = random.pick(SCRIPTS);
    const points = Array.from(
      { length: 1 + random.below(i % 26 === 0 ? 200 : 14) },
      () => base + random.below(26),
    );
    values.push(String.fromCodePoint(...points));
  }
  return values.map((value, i) => ({ channel: i % 40, value }));
}
