/** Free labels: every label and value comes back, groups cost once, and whatever is read is a label or nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomLabel, randomValue } from "../../../bench/codec/profiles.ts";
import { AssertionError } from "../../../src/base/assert.ts";
import { utf8 } from "../../../src/base/bytes.ts";
import { groupOf, LABEL_FORM } from "../../../src/base/channel-labels.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX, VALUE_BYTES_MAX } from "../../../src/base/limits.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { findWord } from "../../../src/codec/alphabet.ts";
import { CODED_BYTES_MAX, encodeValue, PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { P } from "../../../src/codec/field.ts";
import { writeFrame } from "../../../src/codec/framing.ts";
import {
  assertSlots,
  codedText,
  compareSlots,
  decodeFact,
  encodeFact,
  readGroups,
  writeGroups,
} from "../../../src/codec/free-labels.ts";
import { readBlock } from "../../../src/codec/read-block.ts";
import { toBlock, toSpectrum } from "../../../src/codec/transform.ts";
import { anySeed, build, carriedFacts, KEY, mustRead, READ, wordsIn } from "../../fixtures/blocks.ts";
import { fieldsOf } from "../../fixtures/fields.ts";

const channel = CHANNEL_COUNT_MAX;

/** The fact that is read from these coded bytes, under a label of the group NOTE. */
function read(coded: string | Uint8Array, group: string | undefined = "NOTE") {
  const bytes = typeof coded === "string" ? utf8(coded) : coded;
  return decodeFact(PLAIN_CODEBOOK, { channel, group }, encodeValue(PLAIN_CODEBOOK, CHANNEL_COUNT, bytes));
}

test("a label and its value are one text, as people write it, and come back from it", () => {
  const texts: [label: string, value: string, text: string][] = [
    ["FAMILY.wife", "Grace", "Wife: Grace"],
    ["HEALTH.blood_type", "O negative", "Blood type: O negative"],
    ["NOTE.a", ": ", "A: : "],
    ["NOTE._", "x", " : x"],
    ["NOTE.__x_", "y", "  x : y"],
    ["NOTE.9lives", "z", "9lives: z"],
  ];
  for (const [label, value, text] of texts) {
    assert.equal(codedText({ channel, label, value }), text);
    assert.deepEqual(read(text, groupOf(label)), { channel, label, value });
  }
});

test("any label and any value come back from the fact's code", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      const fact = { channel, label: randomLabel(random), value: randomValue(random, VALUE_BYTES_MAX) };
      const bits = encodeFact(PLAIN_CODEBOOK, fact, 20_000)!;
      assert.deepEqual(decodeFact(PLAIN_CODEBOOK, { channel, group: groupOf(fact.label) }, bits), fact);
    }),
  );
  const longest = { channel, label: `NOTE.${"n".repeat(48)}`, value: "v".repeat(VALUE_BYTES_MAX) };
  assert.equal(utf8(codedText(longest)).length, CODED_BYTES_MAX);
  assert.deepEqual(read(codedText(longest)), longest);
});

test("a text that no fact has is none: no name, another spelling of one, no value, one that is too long, no UTF-8", () => {
  const wrong = [
    "Grace",
    ": Grace",
    "wife: Grace",
    "Blood_type: x",
    "Blood Type: x",
    "Ⅷ: x",
    "\u212aey: x",
    "W\u0131fe: x",
    "W!: x",
    `${"N".repeat(49)}: x`,
    "Wife: ",
    `Wife: ${"x".repeat(VALUE_BYTES_MAX + 1)}`,
    Uint8Array.of(0x57, 0x3a, 0x20, 0xff),
  ];
  for (const text of wrong) assert.equal(read(text), undefined, String(text));
  assert.equal(read("x".repeat(VALUE_BYTES_MAX + 1), undefined), undefined, "nor on a channel");
});

test("the groups of any labels come back, and each costs once", () => {
  fc.assert(
    fc.property(anySeed, fc.integer({ min: 0, max: 300 }), (seed, count) => {
      const random = seededRandom(seed);
      const labels = Array.from({ length: count }, () => randomLabel(random)).sort();
      assert.deepEqual(readGroups(writeGroups(labels), count), labels.map(groupOf));
    }),
  );
  const people = Array.from({ length: 40 }, (_, i) => `PEOPLE.p${i}`);
  assert.ok(writeGroups(people.slice(0, 1)).length <= 6);
  assert.ok(writeGroups(people).length <= 6 + 5.4 + 1);
  assert.ok(
    writeGroups(people.map((label) => label.replace("PEOPLE", "GARDENING"))).length <= 6 + 5.4 + 44 + 1,
  );
});

test("any bits at all are a list of groups or none: never an exception, never a group that no label has", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 0, max: 400 }), (bytes, count) => {
      const groups = readGroups({ length: 8 * bytes.length, bytes }, count);
      assert.ok(groups === undefined || groups.length === count);
      for (const group of groups ?? []) assert.match(`${group}.a`, LABEL_FORM);
    }),
    { numRuns: 500 },
  );
});

test("facts under free labels come after all others, by label, whatever numbers they were given", () => {
  const facts = [
    { channel: 900, label: "A.b", value: "1", order: 1 },
    { channel: 256, label: "A_B.a", value: "2", order: 4 },
    { channel: 300, label: "AB.a", value: "3", order: 3 },
    { channel: 255, value: "4", order: 2 },
    { channel: 3, value: "5", order: 5 },
  ];
  assert.deepEqual(fieldsOf(facts.toSorted(compareSlots), "value"), ["5", "4", "1", "3", "2"]);
  const block = build(facts);
  assert.deepEqual(block.carried, [3, 255, 900, 300, 256]);
  assert.deepEqual(mustRead(block.text).facts, carriedFacts(block, facts));
  assert.deepEqual(
    mustRead(block.text, { ...READ, channels: [3, 257] }).facts,
    [
      { channel: 3, value: "5" },
      { channel: 257, label: "AB.a", value: "3" },
    ],
    "one of them alone, by its place",
  );
  const renumbered = facts.map((fact, i) =>
    fact.label === undefined ? fact : { ...fact, channel: 256 + i },
  );
  assert.equal(build(renumbered).text, block.text);
});

test("a label twice, one of another form, and none where there is no channel are the programmer's error", () => {
  const label = "NOTE.a";
  for (const slots of [
    [
      { channel, label },
      { channel: channel + 1, label },
    ],
    [
      { channel, label },
      { channel, label: "NOTE.b" },
    ],
    [{ channel, label: "note" }],
    [{ channel }],
    [{ channel: -1 }],
  ])
    assert.throws(() => assertSlots(slots), AssertionError);
});

test("a reader that does not know a block's version refuses it by its number", () => {
  const { text } = build([{ channel, label: "NOTE.a", value: "x", order: 0 }]);
  const reasonOf = (block: string, version: number) => {
    const result = readBlock(block, { ...READ, codebooks: [{ ...PLAIN_CODEBOOK, version }] });
    return result.ok ? "" : result.reason;
  };
  assert.equal(reasonOf(text, 7), "the block has format version 9; this reader knows 7, 15, 23");
  for (const version of [2, 8, 10, 24, 25, 29]) {
    const spectrum = toSpectrum(Uint16Array.from(wordsIn(text), (word) => findWord(word) % P));
    spectrum[0] = 256 * version + KEY.id;
    const other = writeFrame(toBlock(spectrum));
    assert.equal(reasonOf(other, 1), `the block has format version ${version}; this reader knows 1, 9, 17`);
  }
});
