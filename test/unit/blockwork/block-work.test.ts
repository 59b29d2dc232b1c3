/** Blocks built and read in small tasks: what is coded, in which order, and what is kept of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { BlockScheduler } from "../../../src/blockwork/block-scheduler.ts";
import { BlockWork } from "../../../src/blockwork/block-work.ts";
import { type CodableFact, type ComputedCode, codeOf } from "../../../src/blockwork/fact-code.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { deriveBlockKey } from "../../../src/codec/seal.ts";
import { unreadable } from "../../../src/codec/unreadable.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { DirectWorkers, FakeClock, FakeWorkers } from "./fake-workers.ts";

const work = { account: "acme", tier: "free" } as const;
const key = deriveBlockKey(new Uint8Array(32), 1, "acme");
const userId = "ada";

function setUp() {
  const workers = new DirectWorkers();
  const clock = new FakeClock();
  const scheduler = new BlockScheduler({ workers, clock, queueMax: 1000, metrics: new Metrics() });
  const blockWork = new BlockWork(scheduler, PLAIN_CODEBOOK.version);
  const kept: ComputedCode[] = [];
  const keep = (codes: readonly ComputedCode[]) => void kept.push(...codes);
  const build = (facts: readonly CodableFact[]) => blockWork.build(work, { facts, key, userId, keep });
  return { workers, blockWork, kept, keep, build };
}

const factOf = (value: string, channel: number): CodableFact => ({ channel, value, revision: channel + 1 });
const FACTS = ["Ada", "London", "chess"].map(factOf);

test("a block that was built is read back with every fact", async () => {
  const { blockWork, build } = setUp();
  const { text, carried, overflow } = await build(FACTS);
  assert.deepEqual([carried, overflow], [[0, 1, 2], []]);
  const reading = await blockWork.read(work, { text, keys: [key], userId });
  assert.ok(reading.ok);
  assert.deepEqual(
    reading.facts,
    FACTS.map(({ channel, value }) => ({ channel, value })),
  );
});

test("values without a code are coded newest first, and their codes are kept", async () => {
  const { kept, build } = setUp();
  await build(FACTS);
  assert.deepEqual(
    kept.map(({ channel, revision, value }) => ({ channel, revision, value })),
    FACTS.toReversed(),
  );
  assert.deepEqual(kept[0].code, codeOf(PLAIN_CODEBOOK, { channel: 2, value: "chess" }));
});

test("a code that is kept with its fact is not computed again", async () => {
  const { workers, kept, build } = setUp();
  const [first, ...rest] = FACTS;
  await build([{ ...first, code: codeOf(PLAIN_CODEBOOK, first) }, ...rest]);
  assert.equal(workers.countOf("code"), 2);
  assert.deepEqual(kept.map(({ channel }) => channel).sort(), [1, 2]);
});

test("a user's first own fact changes the block's version, and every kept code stays good", async () => {
  const { workers, blockWork, kept, build } = setUp();
  await build(FACTS);
  const coded = FACTS.map((fact) => ({
    ...fact,
    code: kept.find(({ channel }) => channel === fact.channel)!.code,
  }));
  const { text, carried } = await build([...coded, factOf("peanuts", 255)]);
  assert.equal(workers.countOf("code"), FACTS.length + 1);
  assert.deepEqual(carried, [0, 1, 2, 255]);
  const reading = await blockWork.read(work, { text, keys: [key], userId });
  assert.ok(reading.ok);
  assert.deepEqual(reading.facts.at(-1), { channel: 255, value: "peanuts" });
});

test("facts under free labels ride after the others, by label, and of a thousand the newest have room", async () => {
  const { workers, blockWork, build } = setUp();
  const note = (i: number) => ({
    channel: 300 - i,
    label: `NOTE.n${i}`,
    value: `note ${i}`,
    revision: 10 + i,
  });
  const { text, carried } = await build([note(2), ...FACTS, note(1)]);
  assert.deepEqual(carried, [0, 1, 2, 299, 298]);
  const reading = await blockWork.read(work, { text, keys: [key], userId, channels: [1, 257] });
  assert.ok(reading.ok);
  const second = { channel: 257, label: "NOTE.n2", value: "note 2" };
  assert.deepEqual(reading.facts, [{ channel: 1, value: "London" }, second]);
  const before = workers.countOf("code");
  const many = Array.from({ length: 1_000 }, (_, i) => ({ ...note(i), channel: 300 + i }));
  const full = await build(many);
  const left = new Set(full.overflow);
  assert.equal(full.carried.length + left.size, 1_000);
  assert.ok(many.every(({ channel }, i) => left.has(channel) === i < left.size));
  assert.ok(full.carried.length > 50 && workers.countOf("code") - before < full.carried.length + 20);
});

test("no value is coded that a full block has no room for", async () => {
  const { workers, build } = setUp();
  const random = seededRandom(1);
  const text = () => Array.from({ length: 60 }, () => String.fromCodePoint(0x21 + random.below(94))).join("");
  const { carried, overflow } = await build(
    Array.from({ length: 40 }, (_, channel) => factOf(text(), channel)),
  );
  assert.ok(overflow.length > 10, `${overflow.length} did not fit`);
  const coded = workers.countOf("code");
  assert.ok(
    coded >= carried.length && coded <= carried.length + 2,
    `${coded} coded, ${carried.length} carried`,
  );
});

test("a new value is coded beside kept codes that fill a block, and values beside one that fits in no block", async () => {
  const { kept, build } = setUp();
  const random = seededRandom(1);
  const text = (length: number) =>
    Array.from({ length }, () => String.fromCodePoint(0x21 + random.below(94))).join("");
  const older = Array.from({ length: 39 }, (_, channel) => {
    const fact = factOf(text(60), channel);
    return { ...fact, code: codeOf(PLAIN_CODEBOOK, fact) };
  });
  const { carried } = await build([...older, factOf("new", 39)]);
  assert.ok(carried.includes(39));
  assert.deepEqual(fieldsOf(kept, "channel"), [39]);
  kept.length = 0;
  await build([...FACTS, factOf(text(1024), 3)]);
  assert.deepEqual(fieldsOf(kept, "channel"), [3, 2, 1, 0]);
});

test("codes that were computed are kept although a later value fails", async () => {
  const { workers, kept, build } = setUp();
  workers.distort = (message, result) => {
    if (message.kind === "code" && message.channel === 0) throw new Error("broken");
    return result;
  };
  await assert.rejects(build(FACTS), /block task failed: Error/);
  assert.deepEqual(fieldsOf(kept, "channel"), [2, 1]);
});

test("coding stops when the codes are not needed any more", async () => {
  const { workers, blockWork, kept, keep } = setUp();
  const codes = await blockWork.code(work, FACTS, keep, () => workers.countOf("code") < 2);
  assert.deepEqual([...codes.keys()], [2, 1]);
  assert.equal(kept.length, 2);
});

test("only the values of the channels asked for are read", async () => {
  const { workers, blockWork, build } = setUp();
  const { text } = await build(FACTS);
  const reading = await blockWork.read(work, { text, keys: [key], userId, channels: [1, 7] });
  assert.ok(reading.ok);
  assert.deepEqual(reading.facts, [{ channel: 1, value: "London" }]);
  assert.equal(workers.countOf("value"), 1);
});

test("a block with a value that cannot be read is unreadable as a whole", async () => {
  const { workers, blockWork, build } = setUp();
  const { text } = await build(FACTS);
  workers.distort = (message, result) =>
    message.kind === "value" && message.channel === 1 ? undefined : result;
  const reading = await blockWork.read(work, { text, keys: [key], userId });
  assert.deepEqual(reading, unreadable({ kind: "unknown-value", channel: 1 }));
});

test("no value is coded that is older than kept codes which fill a block", async () => {
  const { workers, build } = setUp();
  const random = seededRandom(1);
  const text = () => Array.from({ length: 60 }, () => String.fromCodePoint(0x21 + random.below(94))).join("");
  const newer = Array.from({ length: 39 }, (_, i) => {
    const fact = factOf(text(), i + 1);
    return { ...fact, code: codeOf(PLAIN_CODEBOOK, fact) };
  });
  const { overflow } = await build([factOf("oldest", 0), ...newer]);
  assert.ok(overflow.includes(0));
  assert.equal(workers.countOf("code"), 0);
});

test("threads are asked for, looked after and ended through the scheduler", async () => {
  const workers = new FakeWorkers(1);
  const scheduler = new BlockScheduler({
    workers,
    clock: new FakeClock(),
    queueMax: 10,
    metrics: new Metrics(),
  });
  const blockWork = new BlockWork(scheduler, PLAIN_CODEBOOK.version);
  blockWork.warm();
  assert.deepEqual([workers.grown, blockWork.healthy], [1, true]);
  workers.healthy = false;
  assert.equal(blockWork.healthy, false);
  await blockWork.close();
  assert.equal(workers.closed, true);
});

test("a block of another user is not opened", async () => {
  const { workers, blockWork, build } = setUp();
  const { text } = await build(FACTS);
  const reading = await blockWork.read(work, { text, keys: [key], userId: "eve" });
  assert.equal(reading.ok, false);
  assert.equal(workers.countOf("value"), 0);
});
