/** The website's side of the codec: damage by kind, inspection, codebooks that load once. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildBlock } from "../../../src/codec/block.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { readBlock } from "../../../src/codec/read-block.ts";
import { deriveBlockKey } from "../../../src/codec/seal.ts";
import { Codebooks } from "../../../src/web/codec/codebooks.ts";
import { damageText } from "../../../src/web/codec/damage.ts";
import { buildBlockView, inspect } from "../../../src/web/codec/inspect.ts";
import { DAMAGE_KINDS, type DamageKind, WORD_STATE } from "../../../src/web/codec/messages.ts";

const oldKey = deriveBlockKey(new Uint8Array(32).fill(1), 0, "@demo");
const key = deriveBlockKey(new Uint8Array(32).fill(2), 1, "@demo");
const options = { userId: "demo", keys: [oldKey, key], codebooks: [PLAIN_CODEBOOK] };
const FACTS = [
  { channel: 0, value: "Ada Okafor", order: 0 },
  { channel: 20, value: "Group commit für 🐝", order: 1 },
];
const { text: BLOCK } = buildBlock(FACTS, { key, userId: "demo", codebook: PLAIN_CODEBOOK });
const KINDS = Object.keys(DAMAGE_KINDS) as DamageKind[];
const wordsOf = (text: string) => text.split(/\s+/).slice(1, -1);
const look = (text: string) => inspect(text, options, () => 0);

test("no damage is no damage, of whatever kind; retyping changes the looks alone", () => {
  for (const kind of KINDS) {
    const text = damageText(BLOCK, kind, 0, 1);
    if (kind !== "retype") assert.equal(text, BLOCK);
    const { outcome } = look(text);
    assert.ok(outcome.ok && outcome.repaired === 0, kind);
  }
});

test("the share is that of the words, and the same seed strikes the same places first", () => {
  for (const kind of ["cut-end", "cut-start", "cut-middle", "drop"] as const) {
    assert.equal(wordsOf(damageText(BLOCK, kind, 0.25, 7)).length, 384, kind);
  }
  const original = wordsOf(BLOCK);
  const struck = (share: number) =>
    wordsOf(damageText(BLOCK, "replace", share, 7)).flatMap((word, t) => (word === original[t] ? [] : [t]));
  const few = struck(0.1);
  const many = struck(0.3);
  assert.deepEqual([few.length, many.length], [51, 154]);
  assert.ok(few.every((t) => many.includes(t)));
});

test("an inspection says what readBlock says, for every kind of damage", () => {
  for (const kind of KINDS) {
    for (const share of [0.1, 0.7, 0.95]) {
      const text = damageText(BLOCK, kind, share, 3);
      const { outcome } = look(text);
      const expected = readBlock(text, {
        keys: (id) => options.keys.find((one) => one.id === id),
        userId: "demo",
        codebooks: [PLAIN_CODEBOOK],
      });
      assert.equal(outcome.ok, expected.ok, `${kind} ${share}`);
      if (!outcome.ok || !expected.ok) continue;
      const { facts, missing, wrong, guardLeft } = expected;
      assert.deepEqual(
        [outcome.facts, outcome.missing, outcome.wrong, outcome.guardLeft],
        [facts, missing, wrong, guardLeft],
      );
      assert.equal(outcome.text, BLOCK, "the block is built again word for word");
    }
  }
});

test("places tell the intact from the missing and the wrong", () => {
  const cut = look(damageText(BLOCK, "cut-end", 0.5, 1)).outcome;
  assert.ok(cut.ok);
  const missing = cut.wordStates.filter((wordState) => wordState === WORD_STATE.missing).length;
  assert.ok(missing >= 256 && missing <= 264, `${missing} missing`);
  assert.ok(cut.wordStates.subarray(300).every((wordState) => wordState === WORD_STATE.missing));
  const replaced = look(damageText(BLOCK, "replace", 0.1, 1)).outcome;
  assert.ok(replaced.ok);
  assert.equal(replaced.wordStates.filter((wordState) => wordState !== WORD_STATE.intact).length, 51);
});

test("of two blocks in a text the one that was read is the one that is drawn", () => {
  const ruined = damageText(BLOCK, "replace", 0.95, 5);
  const { outcome } = look(`${BLOCK}\n${ruined}`);
  assert.ok(outcome.ok);
  assert.ok(outcome.wordStates.every((wordState) => wordState === WORD_STATE.intact));
});

test("what is no block is refused, with nothing to draw; a ruined one is drawn", () => {
  const prose = look("nothing but prose");
  assert.ok(!prose.outcome.ok && prose.received === undefined);
  const ruined = look(damageText(BLOCK, "replace", 0.9, 1));
  assert.ok(!ruined.outcome.ok);
  assert.ok(ruined.received!.filter((digit) => digit !== 0).length > 400, "noise on nearly every carrier");
});

test("a block that is built for show is the codec's block", () => {
  const built = buildBlockView(FACTS, options);
  assert.equal(built.text, BLOCK);
  assert.ok(built.spectrum.subarray(built.layout.end).every((digit) => digit === 0));
});

test("a block with facts on own channels is inspected like any other", () => {
  const facts = [...FACTS, { channel: 77, value: "peanuts", order: 2 }];
  const built = buildBlockView(facts, options);
  const { outcome } = look(damageText(built.text, "replace", 0.1, 3));
  assert.ok(outcome.ok);
  assert.deepEqual([outcome.version, outcome.text], [17, built.text]);
  assert.deepEqual(outcome.facts.at(-1), { channel: 77, value: "peanuts" });
});

test("a codebook loads once, again after a failure, and an unknown version is left out", async () => {
  let loads = 0;
  const progress: number[][] = [];
  const codebooks = new Codebooks({
    2: async (onProgress) => {
      loads += 1;
      onProgress(5, 10);
      if (loads === 1) throw new Error("offline");
      return { ...PLAIN_CODEBOOK, version: 2 };
    },
  });
  const onProgress = (loaded: number, total: number) => progress.push([loaded, total]);
  await assert.rejects(codebooks.of([2], onProgress), /offline/);
  const [first] = await codebooks.of([2, 9], onProgress);
  const [again] = await codebooks.of([2], onProgress);
  assert.equal(first, again);
  assert.deepEqual([loads, progress.length], [2, 2]);
  assert.deepEqual(await new Codebooks().of([1, 17], onProgress), [PLAIN_CODEBOOK]);
});
