/** Building: the same facts give the same block, whatever fits is carried whole, and the guard band stays silent. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomFacts, randomFactsWithFree, randomFactsWithOwn } from "../../../bench/codec/profiles.ts";
import { AssertionError } from "../../../src/base/assert.ts";
import { utf8 } from "../../../src/base/bytes.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../../../src/base/limits.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { CLASS_SIZE, findWord, POSITION_CLASSES } from "../../../src/codec/alphabet.ts";
import { type BlockFact, type BuiltBlock, buildBlock } from "../../../src/codec/block.ts";
import { CARRIERS_MAX, PREFIX_CARRIERS } from "../../../src/codec/block-room.ts";
import {
  CODEBOOK_VERSION_MAX,
  encodeValue,
  formatVersionOf,
  PLAIN_CODEBOOK,
} from "../../../src/codec/codebook.ts";
import { N } from "../../../src/codec/field.ts";
import { compareSlots } from "../../../src/codec/free-labels.ts";
import { GUARD_MIN } from "../../../src/codec/reed-solomon.ts";
import { deriveBlockKey } from "../../../src/codec/seal.ts";
import { toSpectrum } from "../../../src/codec/transform.ts";
import {
  anySeed,
  build,
  carriedFacts,
  factsOf,
  KEY,
  MASTER,
  mustRead,
  WRITE,
  wordsIn,
} from "../../fixtures/blocks.ts";

const anyFacts = anySeed.map((seed) =>
  [randomFacts, randomFactsWithOwn, randomFactsWithFree][seed % 3](seededRandom(seed)),
);

function spectrumOf(block: BuiltBlock): Uint16Array {
  return toSpectrum(Uint16Array.from(wordsIn(block.text), (word) => findWord(word) % CLASS_SIZE));
}

/** A value of this many letters that do not compress: about 6 bits each. */
function noise(seed: number, length: number): string {
  const random = seededRandom(seed);
  return Array.from({ length }, () => String.fromCharCode(33 + random.below(94))).join("");
}

test("the same facts give the same block byte by byte, in whatever order they are given", () => {
  fc.assert(
    fc.property(anyFacts, anySeed, (facts, seed) => {
      const block = build(facts);
      assert.equal(build(facts).text, block.text);
      assert.deepEqual(build(seededRandom(seed).shuffle([...facts])), block);
    }),
    { numRuns: 30 },
  );
});

test("a block is 512 words of the right classes, with at least 32 silent carriers, for any facts", () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const block = build(facts);
      const words = wordsIn(block.text);
      assert.equal(words.length, N);
      words.forEach((word, t) => {
        assert.equal(Math.floor(findWord(word) / CLASS_SIZE), POSITION_CLASSES[t]);
      });
      const spectrum = spectrumOf(block);
      assert.ok(block.carriers <= CARRIERS_MAX && N - block.carriers >= GUARD_MIN);
      for (let k = block.carriers; k < N; k++) assert.equal(spectrum[k], 0);
      const last = block.carried.at(-1) ?? 0;
      const form = last >= CHANNEL_COUNT_MAX ? "free" : last >= CHANNEL_COUNT ? "own" : "standard";
      assert.equal(spectrum[0], 256 * formatVersionOf(PLAIN_CODEBOOK, form) + KEY.id);
    }),
    { numRuns: 60 },
  );
});

test("carried and overflow are all the facts, each once and in order, and the layout is theirs", () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const { carried, overflow, layout, carriers } = build(facts);
      const slots = new Map(facts.map((fact) => [fact.channel, fact]));
      const sorted = (channels: number[]) =>
        channels
          .map((channel) => slots.get(channel)!)
          .sort(compareSlots)
          .map(({ channel }) => channel);
      assert.deepEqual(carried, sorted(carried));
      assert.deepEqual(overflow, sorted(overflow));
      assert.deepEqual(sorted([...carried, ...overflow]), sorted(facts.map(({ channel }) => channel)));
      let next = PREFIX_CARRIERS + layout.directory.count;
      assert.equal(layout.directory.start, PREFIX_CARRIERS);
      layout.channels.forEach(({ channel, start, count }, i) => {
        assert.equal(channel, carried[i]);
        assert.equal(start, next);
        next += count;
      });
      assert.equal(layout.end, next);
      assert.equal(carriers, next);
    }),
    { numRuns: 60 },
  );
});

test("no facts at all: 512 words, an empty directory, and the reader finds no facts", () => {
  const block = build([]);
  assert.equal(wordsIn(block.text).length, N);
  assert.equal(block.carriers, PREFIX_CARRIERS + 1);
  assert.deepEqual(mustRead(block.text).facts, []);
});

test("other facts change the block's version while they ride in it; left out, they leave the block as it was", () => {
  const standard = factsOf("one", "two", "three");
  const own = { channel: 40, order: 9, value: "peanuts" };
  const free = { channel: 256, label: "HEALTH.allergy", order: 10, value: "peanuts" };
  assert.equal(mustRead(build(standard).text).version, 1);
  assert.equal(mustRead(build([...standard, own]).text).version, 17);
  assert.equal(mustRead(build([...standard, free]).text).version, 9);
  assert.equal(mustRead(build([...standard, own, free]).text).version, 9);
  const monster = noise(1, 1024);
  for (const other of [own, free]) {
    const more = [...standard, { ...other, value: monster }];
    assert.deepEqual(build(more).overflow, [other.channel]);
    assert.equal(build(more).text, build(standard).text);
  }
  assert.equal(build([...standard, own, { ...free, value: monster }]).text, build([...standard, own]).text);
});

test("of facts on standard and own channels and under free labels the newest ride, whichever they are", () => {
  const facts = Array.from({ length: 80 }, (_, i) => ({
    ...(i % 3 === 0 ? { channel: 400 - i, label: `NOTE.n${i}` } : { channel: (i * 37) % 256 }),
    order: i,
    value: noise(i, 30),
  }));
  const { carried } = build(facts);
  const newest = facts.slice(-carried.length).map(({ channel }) => channel);
  for (const [from, end] of [
    [0, CHANNEL_COUNT],
    [CHANNEL_COUNT, CHANNEL_COUNT_MAX],
    [CHANNEL_COUNT_MAX, 401],
  ])
    assert.ok(carried.some((channel) => channel >= from && channel < end));
  assert.deepEqual(new Set(carried), new Set(newest));
});

test("one changed letter, user or key changes nearly every word", () => {
  const words = wordsIn(build(factsOf("Lyon", "Rust")).text);
  for (const other of [
    build(factsOf("Lyons", "Rust")).text,
    build(factsOf("Lyon", "Rusu")).text,
    buildBlock(factsOf("Lyon", "Rust"), { ...WRITE, userId: "bob" }).text,
    buildBlock(factsOf("Lyon", "Rust"), { ...WRITE, key: deriveBlockKey(MASTER, 1, "other") }).text,
  ]) {
    const same = wordsIn(other).filter((word, t) => word === words[t]).length;
    assert.ok(same < 8, `${same} words are the same`);
  }
});

test("what does not fit is left out whole, the least recently written first", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      const orders = random.shuffle(Array.from({ length: 40 }, (_, i) => i));
      const facts = orders.map((order, channel) => ({
        channel,
        order,
        value: noise(channel, 30 + random.below(60)),
      }));
      const block = build(facts);
      const left = new Set(block.overflow);
      assert.ok(left.size > 0 && left.size < 40);
      const newestLeftOut = Math.max(
        ...facts.filter(({ channel }) => left.has(channel)).map(({ order }) => order),
      );
      for (const { channel, order } of facts) assert.equal(left.has(channel), order <= newestLeftOut);
      assert.deepEqual(mustRead(block.text).facts, carriedFacts(block, facts));
      // One fact more, the newest of those left out, would not have fitted.
      const onemore = facts.filter(({ order }) => order >= newestLeftOut);
      assert.ok(build(onemore).overflow.length > 0);
    }),
    { numRuns: 15 },
  );
});

test("facts written at the same time leave in channel order", () => {
  const facts = Array.from({ length: 40 }, (_, channel) => ({
    channel,
    order: 7,
    value: noise(channel, 60),
  }));
  const { overflow } = build(facts);
  assert.ok(overflow.length > 0);
  assert.deepEqual(
    overflow,
    Array.from({ length: overflow.length }, (_, i) => i),
  );
});

test("a value that could not fit even alone is left out, however new, and drives out no other", () => {
  const monster = { channel: 20, order: 99, value: noise(1, 1024) };
  const facts: BlockFact[] = [...factsOf("one", "two", "three"), monster];
  const block = build(facts);
  assert.deepEqual(block.overflow, [20]);
  assert.deepEqual(mustRead(block.text).facts, carriedFacts(block, facts));
  assert.deepEqual(build([monster]).overflow, [20]);
  assert.equal(build([monster]).text, build([]).text);
});

test("a large value that fits alone stays when it is the newest, and leaves when it is the oldest", () => {
  const large = noise(2, 650);
  const others = Array.from({ length: 12 }, (_, i) => ({ channel: i, order: i + 10, value: noise(i, 40) }));
  const newest = build([...others, { channel: 30, order: 100, value: large }]);
  assert.ok(newest.carried.includes(30) && newest.overflow.length > 0);
  assert.deepEqual(build([...others, { channel: 30, order: 1, value: large }]).overflow, [30]);
});

test("a block is filled to the last carrier without error", () => {
  // Growing one value letter by letter passes every size up to the largest that fits.
  let fullest = 0;
  for (let length = 780; length <= 900; length++) {
    const block = build([{ channel: 0, order: 0, value: noise(3, length) }]);
    fullest = Math.max(fullest, block.carriers);
    assert.ok(block.carriers <= CARRIERS_MAX);
  }
  assert.equal(fullest, CARRIERS_MAX);
});

test("code bits that are known already give the same block", () => {
  const facts = factsOf("Ada", "prefers tabs");
  const coded = facts.map((fact) => ({
    ...fact,
    code: encodeValue(PLAIN_CODEBOOK, fact.channel, utf8(fact.value)),
  }));
  assert.equal(build(coded).text, build(facts).text);
});

test("bad facts are the programmer's error: channels, doubles, empty, too long, lone surrogates, versions", () => {
  const fact = { channel: 0, value: "x", order: 0 };
  for (const channel of [-1, 256, 0.5]) assert.throws(() => build([{ ...fact, channel }]), AssertionError);
  assert.throws(() => build([fact, fact]), AssertionError);
  for (const value of ["", "x".repeat(1025), "é".repeat(513), "\ud800"]) {
    assert.throws(() => build([{ ...fact, value }]), AssertionError);
  }
  for (const version of [-1, CODEBOOK_VERSION_MAX + 1]) {
    assert.throws(
      () => buildBlock([fact], { ...WRITE, codebook: { ...PLAIN_CODEBOOK, version } }),
      AssertionError,
    );
  }
});
