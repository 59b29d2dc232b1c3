/** Choosing facts one at a time gives what looking at all of them gives, and codes nothing for nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomLabel } from "../../../bench/codec/profiles.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../../../src/base/limits.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { buildBlock, newestFirst } from "../../../src/codec/block.ts";
import { BlockRoom, bitsMaxAlone, CARRIERS_MAX, PREFIX_CARRIERS } from "../../../src/codec/block-room.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { capacityBits, digitsFor } from "../../../src/codec/digits.ts";
import { type Directory, writeDirectory } from "../../../src/codec/directory.ts";
import { compareSlots, type Slot, writeGroups } from "../../../src/codec/free-labels.ts";
import { plainPredictor } from "../../../src/codec/plain-predictor.ts";
import { anySeed, WRITE } from "../../fixtures/blocks.ts";

interface Coded extends Slot {
  readonly order: number;
  readonly bitCount: number;
}

/** The oracle: all facts at first; then those that would not fit alone leave, then the oldest, until the rest fits. */
function chooseFromAll(facts: readonly Coded[]): Directory {
  const leaving = facts
    .map((fact) => ({ fact, alone: fits([fact]) ? 1 : 0 }))
    .sort((a, b) => a.alone - b.alone || a.fact.order - b.fact.order || compareSlots(a.fact, b.fact))
    .map(({ fact }) => fact);
  while (!fits(leaving)) leaving.shift();
  return directoryOf(leaving);
}

function directoryOf(facts: readonly Coded[]): Directory {
  const carriers = new Uint16Array(CHANNEL_COUNT_MAX);
  const free = facts.filter(({ label }) => label !== undefined).sort(compareSlots);
  for (const { channel, label, bitCount } of facts)
    if (label === undefined) carriers[channel] = digitsFor(bitCount);
  if (free.length === 0) return { carriers, free: [] };
  const groups = digitsFor(writeGroups(free.map(({ label }) => label!)).length);
  return { carriers, free: [groups, ...free.map(({ bitCount }) => digitsFor(bitCount))] };
}

function fits(facts: readonly Coded[]): boolean {
  const directory = directoryOf(facts);
  const used = [...directory.carriers, ...directory.free].reduce(
    (sum, count) => sum + count,
    PREFIX_CARRIERS,
  );
  return used < CARRIERS_MAX && used + writeDirectory(directory).length <= CARRIERS_MAX;
}

function chooseOneByOne(facts: readonly Coded[]): Directory {
  const room = new BlockRoom();
  for (const fact of newestFirst(facts)) {
    if (room.full) break;
    room.add(fact, fact.bitCount);
  }
  return room.directory;
}

/** Profiles whose codes are short, long, about as large as a block, or of sizes that fill a block exactly; half have free labels. */
const anyCodes = anySeed.map((seed): Coded[] => {
  const random = seededRandom(seed);
  const count = random.pick([CHANNEL_COUNT, 60, random.below(8) === 0 ? CHANNEL_COUNT_MAX : 80]);
  const channels = random.shuffle(Array.from({ length: count }, (_, channel) => channel));
  const orders = 1 + random.below(60);
  const longest = random.pick([30, 160, 300, 900, 3_000, 7_000]);
  const slots: Slot[] = channels.slice(0, 1 + random.below(count)).map((channel) => ({ channel }));
  const labels = new Set(Array.from({ length: random.pick([0, 30]) }, () => randomLabel(random)));
  for (const label of labels) slots.push({ channel: CHANNEL_COUNT_MAX + slots.length, label });
  return random.shuffle(slots).map((slot) => ({
    ...slot,
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
        for (const fact of newestFirst(facts.slice(1))) room.add(fact, fact.bitCount);
        return { room, added: extra !== undefined && room.add(extra, extra.bitCount) };
      };
      const bitsMax = after().room.bitsMaxFor(facts[0]);
      if (bitsMax >= 0) assert.equal(after({ ...facts[0], bitCount: bitsMax }).added, true);
      assert.equal(after({ ...facts[0], bitCount: bitsMax + 1 }).added, false);
    }),
    { numRuns: 500 },
  );
});

test("a room is full exactly when not even one carrier more would be taken", () => {
  const [slot, bitCount] = [{ channel: 7 }, bitsMaxAlone({ channel: 7 })];
  const room = new BlockRoom();
  assert.equal(room.add(slot, bitCount + 1), false);
  assert.equal(room.full, false, "a value that fits no block takes no room");
  assert.equal(room.add(slot, bitCount), true);
  assert.equal(room.full, true);
  assert.equal(room.bitsMaxFor({ channel: 8 }), -1);
  const nearly = new BlockRoom();
  nearly.add(slot, bitCount - capacityBits(2));
  assert.equal(nearly.full, false);
  assert.equal(nearly.add({ channel: 8 }, bitCount), false);
  assert.equal(nearly.full, true, "the first that fits alone but not beside the newer ones ends the choice");
  assert.equal(nearly.add({ channel: 9 }, 1), false);
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
