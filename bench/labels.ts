/**
 * What a free label costs: 200 ordinary facts are coded in several forms, and blocks of 5, 20 and 40 of them are built
 * with their labels free and on channels of an account's own. Every block is read back and compared.
 */

import { readFileSync } from "node:fs";
import { utf8 } from "../src/base/bytes.ts";
import { FairTurns } from "../src/base/fair-turns.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../src/base/limits.ts";
import { type BlockFact, buildBlock } from "../src/codec/block.ts";
import { PREFIX_CARRIERS } from "../src/codec/block-room.ts";
import { type Codebook, encodeValue, PLAIN_CODEBOOK } from "../src/codec/codebook.ts";
import { N, P } from "../src/codec/field.ts";
import { readBlock } from "../src/codec/read-block.ts";
import { deriveBlockKey } from "../src/codec/seal.ts";
import { TokenCounts } from "../src/memory/token-count.ts";
import { readerCodebook } from "../src/reader/codebook.ts";
import { READER_WEIGHTS } from "../src/reader/weights-path.ts";
import type { BenchOptions } from "./options.ts";

interface OrdinaryFact {
  readonly label: string;
  readonly group: string;
  readonly name: string;
  readonly value: string;
}

const FACTS: readonly OrdinaryFact[] = readFileSync(
  new URL("./codec/ordinary-facts.tsv", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => {
    const [label, value] = line.split("\t");
    const [group, name] = label.split(".");
    return { label, group, name, value };
  });

const words = (text: string) => text.toLowerCase().replaceAll("_", " ");
const sentence = (text: string) => text.charAt(0).toUpperCase() + words(text).slice(1);

/** The first is that of blocks; the second is what a declared label costs. */
const FORMS: Readonly<Record<string, (fact: OrdinaryFact) => string>> = {
  "Blood type: O negative": ({ name, value }) => `${sentence(name)}: ${value}`,
  "O negative": ({ value }) => value,
  "blood type: O negative": ({ name, value }) => `${words(name)}: ${value}`,
  "blood_type: O negative": ({ name, value }) => `${name}: ${value}`,
  "blood_type=O negative": ({ name, value }) => `${name}=${value}`,
  "Blood type - O negative": ({ name, value }) => `${sentence(name)} - ${value}`,
  "Blood type O negative": ({ name, value }) => `${sentence(name)} ${value}`,
  "O negative, blood type": ({ name, value }) => `${value}, ${words(name)}`,
  "Health blood type: O negative": ({ group, name, value }) => `${sentence(group)} ${words(name)}: ${value}`,
  "Health: Blood type: O negative": ({ group, name, value }) =>
    `${sentence(group)}: ${sentence(name)}: ${value}`,
  "HEALTH.blood_type=O negative": ({ label, value }) => `${label}=${value}`,
};

const KEY = deriveBlockKey(new Uint8Array(32), 1, "bench");
const COUNTS = [5, 20, 40];
const tokens = new TokenCounts(new FairTurns());

export async function benchLabels({ small, json }: BenchOptions): Promise<boolean> {
  const reader = readerCodebook(readFileSync(READER_WEIGHTS));
  const facts = small ? FACTS.filter((_, i) => i % 20 === 0) : FACTS;
  const forms = Object.entries(FORMS).map(([form, textOf]) => ({
    form,
    reader_bits: meanBits(reader, facts.map(textOf)),
    plain_bits: meanBits(PLAIN_CODEBOOK, facts.map(textOf)),
  }));
  const counts = small ? COUNTS.slice(0, 1) : COUNTS;
  const rows = counts.flatMap((count) => [
    blockRow(count, "free", reader),
    blockRow(count, "declared", reader),
  ]);
  const blocks = await Promise.all(rows);
  if (json) console.log(JSON.stringify({ labels: { facts: facts.length, forms, blocks } }));
  else {
    console.log(
      `\nBits for a fact, the mean of ${facts.length} ordinary ones; "O negative" is the value alone`,
    );
    console.table(forms);
    console.log("Blocks of ordinary facts: all have 512 words");
    console.table(blocks);
  }
  const shortest = forms.filter(({ form }) => form !== "O negative");
  return small || shortest.every(({ reader_bits }) => reader_bits >= forms[0].reader_bits);
}

function meanBits(codebook: Codebook, texts: readonly string[]): number {
  const bits = texts.map((text) => encodeValue(codebook, CHANNEL_COUNT, utf8(text)).length);
  return Number((bits.reduce((sum, each) => sum + each, 0) / texts.length).toFixed(1));
}

async function blockRow(count: number, labels: "free" | "declared", codebook: Codebook) {
  const step = Math.floor(FACTS.length / count);
  const chosen = FACTS.filter((_, i) => i % step === 0).slice(0, count);
  const facts = chosen.map(
    ({ label, value }, order): BlockFact =>
      labels === "free"
        ? { channel: CHANNEL_COUNT_MAX + order, label, value, order }
        : { channel: CHANNEL_COUNT + order, value, order },
  );
  const { text, carriers, overflow } = buildBlock(facts, { key: KEY, userId: "bench", codebook });
  const read = readBlock(text, { keys: () => KEY, userId: "bench", codebooks: [codebook] });
  const values = new Map(read.ok ? read.facts.map((fact) => [fact.label ?? fact.channel, fact.value]) : []);
  const isExact = facts.every(({ channel, label, value }) => values.get(label ?? channel) === value);
  if (!isExact || overflow.length > 0) throw new Error(`a block of ${count} facts is not read back exactly`);
  const index = chosen.map(({ label, value }) => `${label}=${value}`).join("\n");
  return {
    facts: count,
    labels,
    carriers,
    sealed_bytes: Math.ceil(((carriers - PREFIX_CARRIERS) * Math.log2(P)) / 8),
    words_that_may_be_lost: N - carriers,
    block_tokens: await tokens.of("bench", text),
    index_tokens: await tokens.of("bench", index),
    index_bytes: utf8(index).length,
  };
}
