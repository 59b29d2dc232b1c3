/**
 * What the vocabularies make of the alphabet, as one-token-words.json keeps it for `npm test`: for each vocabulary
 * which words are one token (a bit for each, class A first, compressed), in how many random blocks every word was
 * its one token, and what the markers cost. It names the packages by the checksums of package-lock.json, and ends
 * with a checksum of its own. `npm run test:tokenizers -- 1000 --write` makes it.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { CLASS_SIZE, wordOf } from "../../src/codec/alphabet.ts";

export const FIXTURE_FILE = new URL("./one-token-words.json", import.meta.url);

export interface VocabularyRecord {
  readonly name: string;
  readonly package: string;
  /** The checksum of the package, as in test/tokenizers/package-lock.json. */
  readonly integrity: string;
  /** A bit for each word, compressed, in base64. */
  readonly one_token: string;
  readonly exact_blocks: number;
  readonly marker_tokens: number;
}

export interface Fixture {
  readonly command: string;
  /** The checksum of the words, as in src/codec/alphabet-data.ts. */
  readonly alphabet: string;
  /** How many random blocks each vocabulary tokenised. */
  readonly blocks: number;
  readonly vocabularies: readonly VocabularyRecord[];
  readonly checksum: string;
}

export function readFixture(): Fixture {
  return JSON.parse(readFileSync(FIXTURE_FILE, "utf8")) as Fixture;
}

/** The fixture's text, with its checksum. */
export function fixtureText(content: Omit<Fixture, "checksum">): string {
  return `${JSON.stringify({ ...content, checksum: checksumOf(content) }, null, 2)}\n`;
}

export function checksumOf({ command, alphabet, blocks, vocabularies }: Omit<Fixture, "checksum">): string {
  const text = JSON.stringify({ command, alphabet, blocks, vocabularies });
  return createHash("sha256").update(text).digest("hex");
}

/** All words of the alphabet, class A first: the order of the bits. */
export function alphabetWords(): string[] {
  return ([0, 1] as const).flatMap((wordClass) =>
    Array.from({ length: CLASS_SIZE }, (_, index) => wordOf(wordClass, index)),
  );
}

/** A bit for each word: whether it is one token. */
export function packWords(words: readonly string[], notOneToken: ReadonlySet<string>): string {
  const bits = new Uint8Array(Math.ceil(words.length / 8));
  words.forEach((word, index) => {
    if (!notOneToken.has(word)) bits[index >> 3] |= 1 << (index & 7);
  });
  return deflateRawSync(bits).toString("base64");
}

/** The words whose bit is not set. */
export function unpackWords(words: readonly string[], packed: string): string[] {
  const bits = inflateRawSync(Buffer.from(packed, "base64"));
  return words.filter((_, index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) === 0);
}

/** The checksum of a package that test/tokenizers/package-lock.json names. */
export function lockedIntegrity(name: string): string | undefined {
  const lock = JSON.parse(readFileSync(new URL("./package-lock.json", import.meta.url), "utf8")) as {
    packages: Record<string, { integrity?: string }>;
  };
  return lock.packages[`node_modules/${name}`]?.integrity;
}
