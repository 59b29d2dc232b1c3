/** Choosing facts one at a time gives what looking at all of them gives, and codes nothing for nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../../../src/base/limits.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { buildBlock, newestFirst } from "../../../src/codec/block.ts";
import { BlockRoom, bitsMaxAlone, CARRIERS_MAX, PREFIX_CARRIERS } from "../../../src/codec/block-room.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { capacityBits, digitsFor } from "../../../src/codec/digits.ts";
import { writeDirectory } from "../../../src/codec/directory.ts";
import { plainPredictor } from "../../../src/codec/plain-predictor.ts";
import { anySeed, WRITE } from "../../fixtures/blocks.ts";

interface Coded {
  readonly channel: number;
  readonly order: number;
  readonly bitCount: number;
}

/** The oracle: all facts at first; then those that would not fit alone leave, then the oldest, until the rest fits. */
function chooseFromAll(facts: readonly Coded[]): Uint16Array {
  const counts = new Uint16Array(CHANNEL_COUNT_MAX);
  for (const { channel, bitCount } of facts) counts[channel] = digitsFor(bitCount);
  const alone = ({ channel }: Coded) => {
    const one = new Uint16Array(CHANNEL_COUNT_MAX);
    one[channel] = counts[channel];
    return fits(one) ? 1 : 0;
  };
  const leaving = facts
    .map((fact) => ({ ...fact, alone: alone(fact) }))
    .sort((a, b) => a.alone - b.alone || a.order - b.order || a.channel - b.channel);
  for (const { channel } of leaving) {
    if (fits(counts)) break;
    counts[channel] = 0;
  }
  return counts;
}

function fits(counts: Uint16Array): boolean {
  const carriers = counts.reduce((sum, count) => sum + count, PREFIX_CARRIERS);
  return carriers < CARRIERS_MAX && carriers + writeDirectory(counts).length <= CARRIERS_MAX;
}

function chooseOneByOne(facts: readonly Coded[]): Uint16Array {
  const room = new BlockRoom();
  for (const { channel, bitCount } of newestFirst(facts)) {
    if (room.full) break;
    room.add(channel, bitCount);
  }
  return room.counts;
}

/** Profiles whose codes are short, long, about as large as a block, or of sizes that fill a block exactly. */
const anyCodes = anySeed.map((seed): Coded[] => {
  const random = seededRandom(seed);
  const count = random.pick([CHANNEL_COUNT, 60, random.below(8) === 0 ? CHANNEL_COUNT_MAX : 80]);
  const channels = random.shuffle(Array.from({ length: count }, (_, channel) => channel));
  const orders = 1 + random.below(60);
  const longest = random.pick([30, 160, 300, 900, 3_000, 7_000]);
  return channels.slice(0, 1 + random.below(count)).map((channel) => ({
    channel,
    order: random.below(orders),
    bitCount: random.below(12) === 0 ? 5_900 + random.below(200) : random.below(longest),
  }));
});

test("the facts chosen one by one are those chosen from all of them", () => {
  fc.assert(
    fc.property(anyCodes, (facts) => {
      assert.deepEqual(chooseOneByOne(facts), chooseFromAll(facts));
    }),
    { numRuns: 500 },
  );
});

test("the most bits that a further channel may have fit, and one more does not", () => {
  fc.assert(
    fc.property(anyCodes, (facts) => {
      const after = (extra?: Coded) => {
        const room = new BlockRoom();
        for (const { channel, bitCount } of newestFirst(facts.slice(1))) room.add(channel, bitCount);
        return { room, added: extra !== undefined && room.add(extra.channel, extra.bitCount) };
      };
      const bitsMax = after().room.bitsMaxFor(facts[0].channel);
      if (bitsMax >= 0) assert.equal(after({ ...facts[0], bitCount: bitsMax }).added, true);
      assert.equal(after({ ...facts[0], bitCount: bitsMax + 1 }).added, false);
    }),
    { numRuns: 500 },
  );
});

test("a room is full exactly when not even one carrier more would be taken", () => {
  const [channel, bitCount] = [7, bitsMaxAlone(7)];
  const room = new BlockRoom();
  assert.equal(room.add(channel, bitCount + 1), false);
  assert.equal(room.full, false, "a value that fits no block takes no room");
  assert.equal(room.add(channel, bitCount), true);
  assert.equal(room.full, true);
  assert.equal(room.bitsMaxFor(8), -1);
  const nearly = new BlockRoom();
  nearly.add(channel, bitCount - capacityBits(2));
  assert.equal(nearly.full, false);
  assert.equal(nearly.add(8, bitCount), false);
  assert.equal(nearly.full, true, "the first that fits alone but not beside the newer ones ends the choice");
  assert.equal(nearly.add(9, 1), false);
});

test("a block codes the newest facts, none any more once it is full, and none whose code is known", () => {
  let coded = 0;
  const split = (value: Uint8Array) => {
    coded++;
    return plainPredictor.split(value);
  };
  const counting = { ...PLAIN_CODEBOOK, predictors: [{ ...plainPredictor, split }] };
  const random = seededRandom(5);
  const facts = Array.from({ length: CHANNEL_COUNT }, (_, channel) => ({
    channel,
    order: channel,
    value: Array.from({ length: 300 }, () => String.fromCharCode(33 + random.below(94))).join(""),
  }));
  const block = buildBlock(facts, { ...WRITE, codebook: counting });
  assert.ok(block.carried.length > 0 && block.overflow.length > 30);
  assert.equal(coded, block.carried.length + 1, "the carried ones, and the one that did not fit");
  coded = 0;
  const known = facts.map((fact) => {
    const code = block.codes.get(fact.channel);
    return code === undefined ? fact : { ...fact, code };
  });
  assert.equal(buildBlock(known, { ...WRITE, codebook: counting }).text, block.text);
  assert.equal(coded, 1);
});
