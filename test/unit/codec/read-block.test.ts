/** Reading: who may read, what is reported, several blocks in a text, key rotation, versions, channels. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { randomWord } from "../../../bench/codec/damage.ts";
import { blockOf } from "../../../bench/codec/profiles.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { CLASS_SIZE, findWord, POSITION_CLASSES, wordOf } from "../../../src/codec/alphabet.ts";
import { buildBlock } from "../../../src/codec/block.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { N } from "../../../src/codec/field.ts";
import { readBlock } from "../../../src/codec/read-block.ts";
import { deriveBlockKey } from "../../../src/codec/seal.ts";
import {
  build,
  carriedFacts,
  factsOf,
  KEY,
  MASTER,
  mustRead,
  READ,
  WRITE,
  wordsIn,
} from "../../fixtures/blocks.ts";

const FACTS = factsOf("Ada Okafor", "Sideband", "本田 🦊", "x");
const BLOCK = build(FACTS);
const EXPECTED = carriedFacts(BLOCK, FACTS);
const WORDS = wordsIn(BLOCK.text);

function frame(words: readonly string[]): string {
  return `[MEM] ${words.join(" ")} [/MEM]`;
}

/** Another word of the same class, or of the other. */
function otherWord(word: string, sameClass: boolean): string {
  const number = findWord(word);
  const wordClass = number >= CLASS_SIZE ? 1 : 0;
  return wordOf((sameClass ? wordClass : 1 - wordClass) as 0 | 1, (number + 1) % CLASS_SIZE);
}

test("an intact block reads as it was written, with nothing missing, wrong or used of the guard", () => {
  const result = mustRead(BLOCK.text);
  assert.deepEqual(result.facts, EXPECTED);
  const { missing, wrong, repaired, guardLeft, version, layout } = result;
  assert.deepEqual([missing, wrong, repaired], [0, 0, 0]);
  assert.equal(guardLeft, N - BLOCK.carriers);
  assert.equal(version, PLAIN_CODEBOOK.version);
  assert.deepEqual(layout, BLOCK.layout);
});

test("missing, wrong, repaired and guardLeft are right for damage that is known", () => {
  for (const [missing, wrong] of [
    [1, 0],
    [0, 1],
    [7, 0],
    [0, 40],
    [20, 30],
    [100, 50],
  ]) {
    const places = seededRandom(missing + 7 * wrong).shuffle(WORDS.map((_, t) => t));
    const words = [...WORDS];
    // A misspelt word and one of the other class are seen to be lost; one of the same class is found to be wrong.
    for (const t of places.slice(0, missing)) words[t] = t % 2 === 0 ? "qzxv" : otherWord(words[t], false);
    for (const t of places.slice(missing, missing + wrong)) words[t] = otherWord(words[t], true);
    const result = mustRead(frame(words));
    assert.deepEqual(result.facts, EXPECTED);
    assert.equal(result.missing, missing);
    assert.equal(result.wrong, wrong);
    assert.equal(result.repaired, missing + wrong);
    assert.equal(result.guardLeft, N - BLOCK.carriers - missing - 2 * wrong);
  }
});

test("words cut off are reported as missing, give or take the few whose place is in doubt", () => {
  const result = mustRead(frame(WORDS.slice(100)));
  assert.deepEqual(result.facts, EXPECTED);
  assert.ok(result.missing >= 95 && result.missing <= 110, `${result.missing}`);
  assert.ok(result.wrong <= 5);
});

test("all that a full block's guard allows is mended, and one wrong word more is refused", () => {
  const { block, facts } = blockOf(480, seededRandom(1), WRITE);
  const words = wordsIn(block.text);
  const damaged = (wrong: number) =>
    frame(words.map((word, t) => (t % 30 === 0 && t < 30 * wrong ? otherWord(word, true) : word)));
  assert.deepEqual(mustRead(damaged(16)).facts, carriedFacts(block, facts));
  assert.equal(mustRead(damaged(16)).guardLeft, 0);
  const refused = readBlock(damaged(17), READ);
  assert.ok(!refused.ok && refused.kind === "damaged");
});

test("another user, another account and another master key cannot read it, and are told so", () => {
  const strangers = [
    { ...READ, userId: "bob" },
    { ...READ, userId: "" },
    { ...READ, keys: () => deriveBlockKey(MASTER, 1, "other") },
    { ...READ, keys: () => deriveBlockKey(new Uint8Array(32), 1, "acme") },
    { ...READ, keys: () => undefined },
  ];
  for (const options of strangers) {
    const result = readBlock(BLOCK.text, options);
    assert.ok(!result.ok && result.kind === "foreign");
    assert.match(result.reason, /another key or for another user/);
  }
});

test("keys rotate by id: old blocks are read with the old key, new ones with the new", () => {
  const keys = [3, 4, 255].map((id) => deriveBlockKey(new Uint8Array(32).fill(id), id, "acme"));
  const options = { ...READ, keys: (id: number) => keys.find((key) => key.id === id) };
  for (const key of keys) {
    const { text } = buildBlock(FACTS, { ...WRITE, key });
    assert.deepEqual(mustRead(text, options).facts, EXPECTED);
    const without = { ...options, keys: (id: number) => (id === key.id ? undefined : options.keys(id)) };
    assert.equal(readBlock(text, without).ok, false, "a key that was withdrawn reads nothing");
  }
});

test("an unknown format version is refused by name, and old versions stay readable beside new ones", () => {
  const future = { ...PLAIN_CODEBOOK, version: 7 };
  const { text } = buildBlock(FACTS, { ...WRITE, codebook: future });
  const refused = readBlock(text, READ);
  assert.ok(!refused.ok && refused.kind === "unknown-version");
  assert.match(refused.reason, /format version 7\b.* knows 1, 9, 17$/);
  const both = { ...READ, codebooks: [PLAIN_CODEBOOK, future] };
  assert.equal(mustRead(text, both).version, 7);
  assert.equal(mustRead(BLOCK.text, both).version, 1);
  const own = buildBlock([{ ...FACTS[0], channel: 200 }], { ...WRITE, codebook: future });
  const ownRefused = readBlock(own.text, READ);
  assert.ok(!ownRefused.ok && /format version 23\b/.test(ownRefused.reason));
  assert.equal(mustRead(own.text, both).version, 23);
});

test("with channels, only those are decoded, and the rest of the report stays", () => {
  const result = mustRead(BLOCK.text, { ...READ, channels: [2, 0, 33] });
  assert.deepEqual(result.facts, [EXPECTED[0], EXPECTED[2]]);
  assert.deepEqual(result.layout, BLOCK.layout);
  assert.deepEqual(mustRead(BLOCK.text, { ...READ, channels: [] }).facts, []);
});

test("of several blocks the last readable one wins", () => {
  const older = build(factsOf("old")).text;
  const strange = buildBlock(FACTS, { ...WRITE, userId: "bob" }).text;
  const future = buildBlock(FACTS, { ...WRITE, codebook: { ...PLAIN_CODEBOOK, version: 6 } }).text;
  const random = seededRandom(5);
  const prose = (count: number) => Array.from({ length: count }, () => randomWord(random)).join(" ");
  const garbled = frame(seededRandom(2).shuffle([...WORDS]));
  const texts: [string, string][] = [
    ["two of ours", `${older}\nthen\n${BLOCK.text}`],
    ["another user's behind", `${older} ${BLOCK.text}\n${strange}`],
    ["a newer version's behind", `${older} ${BLOCK.text}\n${future}`],
    ["garbled behind", `${older} ${BLOCK.text} ${garbled}`],
    ["an empty one behind", `${BLOCK.text} [MEM] [/MEM] and [MEM]`],
    ["a mention of the marker behind", `${BLOCK.text} The words after [MEM] are the memory.`],
    ["a mention of the marker and a long text behind", `${BLOCK.text} Read after [MEM]. ${prose(3000)}`],
    ["long texts after several mentions", `${BLOCK.text} ${`[MEM] ${prose(1500)} `.repeat(3)}`],
    ["another user's before", `${strange} ${BLOCK.text}`],
  ];
  for (const [what, text] of texts) assert.deepEqual(mustRead(text).facts, EXPECTED, what);
  const onlyStrange = readBlock(`${strange} ${strange}`, READ);
  assert.ok(!onlyStrange.ok && onlyStrange.kind === "foreign");
});

test("a block is read in the middle of 60,000 other words, with and without its markers", () => {
  const random = seededRandom(3);
  const prose = (count: number) =>
    Array.from({ length: count }, () => (random.below(3) === 0 ? "xyzzy" : randomWord(random))).join(" ");
  const before = prose(30_000);
  const after = prose(30_000);
  for (const middle of [
    BLOCK.text,
    WORDS.join(" "),
    `[MEM] ${WORDS.join(" ")}`,
    WORDS.slice(60).join("\n"),
  ]) {
    assert.deepEqual(mustRead(`${before} ${middle} ${after}`).facts, EXPECTED);
  }
});

test("text around, changed case, line breaks, quotes, lists and lost markers do no harm", () => {
  const disguises: [string, string][] = [
    ["no closing marker", `[MEM] ${WORDS.join(" ")}`],
    ["no opening marker", `${WORDS.join(" ")} [/MEM]`],
    ["no markers", WORDS.join(" ")],
    ["text around", `You are an agent. ${BLOCK.text} Answer the user's question about water.`],
    ["one word a line", WORDS.join("\n")],
    ["upper case", BLOCK.text.toUpperCase()],
    ["a numbered list in quotes", WORDS.map((word, i) => `${i + 1}. "${word}"`).join("\n")],
    ["cut at the start, with the opening marker lost", WORDS.slice(200).join(" ")],
    [
      "cut at the end, in the middle of a word",
      `[MEM] ${WORDS.slice(0, 250).join(" ")} ${WORDS[250].slice(0, 2)}`,
    ],
    ["wrapped in prose without markers", `so it was said: ${WORDS.join(" ")} and so it was done`],
  ];
  for (const [what, text] of disguises) assert.deepEqual(mustRead(text).facts, EXPECTED, what);
});

test("the classes stand in the text as the positions say", () => {
  WORDS.forEach((word, t) => {
    assert.equal(Math.floor(findWord(word) / CLASS_SIZE), POSITION_CLASSES[t]);
  });
  assert.equal(KEY.id, 1);
});
