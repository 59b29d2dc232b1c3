/**
 * Builds src/codec/alphabet-data.ts: npm run alphabet -- CANDIDATES.tsv
 *
 * A candidate is a line of word, dictionary flag and rank; each candidate, written with one leading space, is
 * one token in every vocabulary of docs/decisions/0003-alphabet.md.
 * 1. Leave out what the published lists and scripts/alphabet-exclusions.ts name.
 * 2. Take 2 × 7,681 words: dictionary words first, then the others by rank.
 * 3. Shuffle each stratum of equal case and length with a fixed seed and deal it into classes A and B in turn,
 *    so that case and length say nothing about the class.
 * 4. Sort each class by code unit: that order is the index, and part of the wire format for ever.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { cuss } from "cuss";
import { cuss as cussEs } from "cuss/es";
import { cuss as cussFr } from "cuss/fr";
import { cuss as cussIt } from "cuss/it";
import { cuss as cussPt } from "cuss/pt";
import { assert } from "../src/base/assert.ts";
import { utf8 } from "../src/base/bytes.ts";
import { seededRandom } from "../src/base/random.ts";
import { EXCLUSIONS, KEPT } from "./alphabet-exclusions.ts";

const CLASS_SIZE = 7681;
const SEED = 7681;
const OUTPUT = new URL("../src/codec/alphabet-data.ts", import.meta.url);
const LINE_LENGTH = 108;

interface Candidate {
  word: string;
  inDictionary: boolean;
  rank: number;
}

function main(path: string | undefined): void {
  if (path === undefined) {
    console.error("usage: npm run alphabet -- CANDIDATES.tsv");
    process.exit(2);
  }
  const candidates = readCandidates(path);
  const reasons = reasonsToExclude(candidates);
  const kept = candidates.filter(({ word }) => !reasons.has(word));
  const [a, b] = deal(choose(kept));
  const text = dataFile(a, b);
  writeFileSync(OUTPUT, text);

  const chosen = [...a, ...b];
  console.log(`${candidates.length} candidates, ${reasons.size} left out, ${kept.length} kept`);
  for (const [reason, count] of tally([...reasons.values()])) console.log(`  ${reason}: ${count}`);
  console.log(`${kept.filter((candidate) => candidate.inDictionary).length} dictionary words, all taken`);
  console.log(`${chosen.filter(isCapitalised).length} of ${chosen.length} words are capitalised`);
  console.log(`checksum ${checksum(a, b)}, ${text.length} bytes`);
  console.log(`\ncapitalised: ${chosen.filter(isCapitalised).sort().join(" ")}`);
  const others = chosen.filter((word) => !isCapitalised(word));
  console.log(`\na sample: ${seededRandom(1).shuffle(others).slice(0, 300).join(" ")}`);
}

function readCandidates(path: string): Candidate[] {
  const candidates = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [word, flag, rank] = line.split("\t");
      assert(/^[A-Z]?[a-z]+$/.test(word) && /^[01]$/.test(flag), `not a candidate: ${line}`);
      return { word, inDictionary: flag === "1", rank: Number(rank) };
    });
  const folded = new Set(candidates.map(({ word }) => word.toLowerCase()));
  assert(folded.size === candidates.length, "two candidates differ only in case");
  return candidates;
}

/** The reason for each word that is left out. */
function reasonsToExclude(candidates: readonly Candidate[]): Map<string, string> {
  const require = createRequire(import.meta.url);
  const naughty: Record<string, string[]> = require("naughty-words");
  const naughtyEnglish = new Set(naughty.en);
  const naughtyElsewhere = new Set(Object.values(naughty).flat());
  const firstNames = new Set<string>();
  for (const language of ["de", "en", "es", "fr", "it", "nl"]) {
    for (const list of ["female", "male"]) {
      for (const name of require(`human-names/data/${list}-human-names-${language}.json`))
        firstNames.add(name);
    }
  }
  for (const word of KEPT) assert(firstNames.delete(word), `${word} needs no mention among the kept words`);

  const reasons = new Map<string, string>();
  const words = new Set(candidates.map(({ word }) => word));
  for (const [reason, list] of Object.entries(EXCLUSIONS)) {
    for (const word of list) {
      assert(words.has(word) && !reasons.has(word), `${word} is no candidate, or is excluded twice`);
      reasons.set(word, reason);
    }
  }
  for (const { word, inDictionary } of candidates) {
    if (reasons.has(word)) continue;
    const folded = word.toLowerCase();
    // cuss rates how likely a word is meant as profanity: 0 unlikely, 1 maybe, 2 likely.
    if ((cuss[folded] ?? 0) >= 1 || naughtyEnglish.has(folded)) reasons.set(word, "offensive");
    // What is vulgar in another language is left out unless it is plain English ("bite", "fan", "stake").
    const rating = Math.max(...[cussEs, cussFr, cussIt, cussPt].map((list) => list[folded] ?? 0));
    if (!inDictionary && (rating >= 1 || naughtyElsewhere.has(folded))) reasons.set(word, "offensive");
    if (firstNames.has(word) && isCapitalised(word)) reasons.set(word, "first name");
  }
  return reasons;
}

function choose(kept: readonly Candidate[]): string[] {
  assert(kept.length >= 2 * CLASS_SIZE, `${kept.length} words are too few`);
  return [...kept]
    .sort((x, y) => Number(y.inDictionary) - Number(x.inDictionary) || x.rank - y.rank)
    .slice(0, 2 * CLASS_SIZE)
    .map(({ word }) => word);
}

function deal(chosen: readonly string[]): [a: string[], b: string[]] {
  const random = seededRandom(SEED);
  const strata = new Map<string, string[]>();
  for (const word of [...chosen].sort()) {
    const stratum = `${isCapitalised(word) ? "Capital" : "small"} ${String(word.length).padStart(2, "0")}`;
    strata.set(stratum, [...(strata.get(stratum) ?? []), word]);
  }
  const dealt = [...strata.keys()].sort().flatMap((stratum) => random.shuffle(strata.get(stratum)!));
  const classOf = (parity: number) => dealt.filter((_, position) => position % 2 === parity).sort();
  return [classOf(0), classOf(1)];
}

/** Each word as the number of letters (at most 9) it shares with the one before, and the rest. */
function frontCoded(words: readonly string[]): string {
  const lines = [""];
  words.forEach((word, index) => {
    const previous = index === 0 ? "" : words[index - 1];
    let shared = 0;
    while (shared < 9 && shared < previous.length && word[shared] === previous[shared]) shared++;
    const piece = `${shared}${word.slice(shared)}`;
    if (lines[lines.length - 1].length + piece.length > LINE_LENGTH) lines.push("");
    lines[lines.length - 1] += piece;
  });
  return lines.join("\n");
}

function checksum(a: readonly string[], b: readonly string[]): string {
  return bytesToHex(sha256(utf8([...a, ...b].map((word) => `${word}\n`).join(""))));
}

function dataFile(a: readonly string[], b: readonly string[]): string {
  return `/**
 * Generated by scripts/build-alphabet.ts; never edited by hand. The words of each class in index order, front
 * coded: a digit says how many letters a word shares with the one before it, then come its other letters.
 */

/** SHA-256 of all words in index order, class A first, each followed by a line feed. */
export const CHECKSUM = "${checksum(a, b)}";

export const CLASS_A: string = \`
${frontCoded(a)}
\`;

export const CLASS_B: string = \`
${frontCoded(b)}
\`;
`;
}

function isCapitalised(word: string): boolean {
  return word[0] < "a";
}

function tally(reasons: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

main(process.argv[2]);
