/**
 * What a block carries with the reader model, against other ways to put the same facts into a prompt:
 *
 *   npm ci --prefix bench/compare && npx tsx bench/compare/capacity.ts FILE.jsonl …
 *
 * For each file of profiles, the facts that are carried whole, per profile: (a) as plain `LABEL=value` lines in 512
 * tokens (o200k), the latest first; (b) in 4 bytes a channel; (c) in the same block, the values coded by brotli,
 * zstd with a dictionary trained on the model's text (its magic number not counted) and Unishox2, or as their bytes
 * where that is shorter or a rival does not give the value back; (d) in the block without and with the reader model.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { utf8 } from "../../src/base/bytes.ts";
import { findChannel } from "../../src/base/channels.ts";
import { CHANNEL_COUNT } from "../../src/base/limits.ts";
import { type BlockFact, buildBlock } from "../../src/codec/block.ts";
import { encodeValue, PLAIN_CODEBOOK } from "../../src/codec/codebook.ts";
import { deriveBlockKey } from "../../src/codec/seal.ts";
import { readerCodebook } from "../../src/reader/codebook.ts";
import { READER_WEIGHTS } from "../../src/reader/weights-path.ts";

interface Fact {
  readonly label: string;
  readonly value: string;
}
type Code = (channel: number, value: Uint8Array) => { length: number; bytes: Uint8Array };

const require = createRequire(import.meta.url);
const { encode: tokens }: { encode(text: string): number[] } = require("gpt-tokenizer/encoding/o200k_base");
const TOKENS_MAX = 512;
const ORIGINAL_BYTES = 4;
const ZSTD_LEVEL = 19;
const ZSTD_MAGIC_BYTES = 4;
const KEY = deriveBlockKey(new Uint8Array(32), 0, "capacity");

/** Facts carried whole, by `LABEL=value` lines in the tokens of a block, the latest written first. */
function carriedByText(facts: readonly Fact[]): number {
  let left = TOKENS_MAX;
  let carried = 0;
  for (const { label, value } of facts.toReversed()) {
    const cost = tokens(`${label}=${value}\n`).length;
    if (cost > left) continue;
    left -= cost;
    carried++;
  }
  return carried;
}

function carriedByBlock(facts: readonly Fact[], code: Code): number {
  const taken = new Set(facts.flatMap(({ label }) => findChannel(label)?.channel ?? []));
  const free = Array.from({ length: CHANNEL_COUNT }, (_, channel) => channel).filter((c) => !taken.has(c));
  const placed = facts.map(({ label, value }, order): BlockFact => {
    const channel = findChannel(label)?.channel ?? free.shift()!;
    return { channel, value, order, code: code(channel, utf8(value)) };
  });
  return buildBlock(placed, { key: KEY, userId: "capacity", codebook: PLAIN_CODEBOOK }).carried.length;
}

/** A compressor as a code. A value that it makes longer, or does not give back, goes in as its bytes. */
function checked(
  compress: (value: Uint8Array) => Uint8Array,
  expand: (code: Uint8Array) => Uint8Array,
): Code {
  return (_channel, value) => {
    const code = quietly(() => compress(value));
    const back = code.length < value.length ? quietly(() => expand(code)) : undefined;
    const isRight = back !== undefined && Buffer.compare(back, value) === 0;
    const bytes = isRight ? code : value;
    return { length: 8 * bytes.length, bytes };
  };
}

/** Without the debug output of a rival. */
function quietly<T>(work: () => T): T {
  const log = console.log;
  console.log = () => {};
  try {
    return work();
  } finally {
    console.log = log;
  }
}

function brotli(): Code {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: 10,
  };
  return checked(
    (value) => new Uint8Array(brotliCompressSync(value, { params })),
    (code) => new Uint8Array(brotliDecompressSync(code)),
  );
}

async function zstd(): Promise<Code> {
  const library = require("@bokuweb/zstd-wasm");
  await library.init();
  const dictionary = new Uint8Array(readFileSync(new URL("zstd.dict", import.meta.url)));
  const [writer, reader] = [library.createCCtx(), library.createDCtx()];
  let magic = new Uint8Array(0);
  return checked(
    (value) => {
      const frame: Uint8Array = library.compressUsingDict(writer, value, dictionary, ZSTD_LEVEL);
      magic = frame.slice(0, ZSTD_MAGIC_BYTES);
      return frame.slice(ZSTD_MAGIC_BYTES);
    },
    (code) => library.decompressUsingDict(reader, Uint8Array.of(...magic, ...code), dictionary),
  );
}

function unishox2(): Code {
  const library = require("unishox2.siara.cc");
  return checked(
    (value) => {
      const room = new Uint8Array(4 * value.length + 64);
      const length = library.unishox2_compress_simple(value, value.length, room);
      return room.slice(0, Math.ceil(length)); // it counts eighths of bytes
    },
    (code) => utf8(library.unishox2_decompress_simple(code, code.length)),
  );
}

function model(): Code {
  const codebook = readerCodebook(readFileSync(READER_WEIGHTS));
  return (channel, value) => encodeValue(codebook, channel, value);
}

const WAYS: Record<string, (facts: readonly Fact[]) => number> = {
  "`LABEL=value` in 512 tokens": carriedByText,
  "4 bytes a channel": (facts) => facts.filter(({ value }) => utf8(value).length <= ORIGINAL_BYTES).length,
};
for (const [name, code] of Object.entries({
  "block, brotli": brotli(),
  "block, zstd and dictionary": await zstd(),
  "block, Unishox2": unishox2(),
  "block, plain predictor": ((channel, value) => encodeValue(PLAIN_CODEBOOK, channel, value)) as Code,
  "block, reader model": model(),
}))
  WAYS[name] = (facts) => carriedByBlock(facts, code);

console.log(`| set | facts a profile | ${Object.keys(WAYS).join(" | ")} |`);
console.log(`|---|---|${"---|".repeat(Object.keys(WAYS).length)}`);
for (const path of process.argv.slice(2)) {
  const profiles = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { profile: Fact[] }).profile);
  const mean = (count: (facts: readonly Fact[]) => number) =>
    (profiles.reduce((sum, facts) => sum + count(facts), 0) / profiles.length).toFixed(1);
  const cells = Object.values(WAYS).map(mean);
  const name = path.split("/").at(-1)!.split(/[_.]/)[0];
  console.log(`| ${name} | ${mean((facts) => facts.length)} | ${cells.join(" | ")} |`);
}
