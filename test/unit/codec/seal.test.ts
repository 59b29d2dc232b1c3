/** The seal: AES-SIV's own tag, digits that look random, and nothing opens that is not exactly what was sealed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { aessiv } from "@noble/ciphers/aes.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { P } from "../../../src/codec/field.ts";
import {
  associatedData,
  type BlockKey,
  deriveBlockKey,
  isGenuine,
  MASTER_KEY_BYTES,
  type SealContext,
  sealDigits,
  TAG_DIGITS,
  tagFromDigits,
  unsealUnchecked,
} from "../../../src/codec/seal.ts";
import { anySeed, anySymbol, KEY, MASTER, randomSymbols } from "../../fixtures/blocks.ts";

const CONTEXT: SealContext = { version: 1, userId: "ada" };
const anyPlain = fc.array(anySymbol, { maxLength: 60 }).map((digits) => Uint16Array.from(digits));

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function openSeal(
  { tag, sealed }: { tag: Uint16Array; sealed: Uint16Array },
  key: BlockKey,
  context: SealContext,
): Uint16Array | undefined {
  const bytes = tagFromDigits(tag);
  if (bytes === undefined) return undefined;
  const plain = unsealUnchecked(sealed, key, bytes);
  return isGenuine(plain, key, bytes, context) ? plain : undefined;
}

test("the library's AES-SIV gives the result of RFC 5297, appendix A.1", () => {
  const key = bytesOf("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
  const data = bytesOf("101112131415161718191a1b1c1d1e1f2021222324252627");
  const sealed = aessiv(key, data).encrypt(bytesOf("112233445566778899aabbccddee"));
  assert.equal(bytesToHex(sealed), "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c");
});

test("the tag is that of the library's whole AES-SIV over the same data and digits", () => {
  fc.assert(
    fc.property(anyPlain, fc.string({ maxLength: 40, unit: "grapheme" }), (plain, userId) => {
      const bytes = new Uint8Array(2 * plain.length);
      plain.forEach((digit, i) => {
        bytes.set([digit >> 8, digit & 255], 2 * i);
      });
      const expected = aessiv(KEY.material, associatedData(KEY, 1, userId))
        .encrypt(bytes)
        .subarray(0, 16);
      assert.deepEqual(tagFromDigits(sealDigits(plain, KEY, { version: 1, userId }).tag), expected);
    }),
  );
});

test("what was sealed opens to the same digits, and sealing again gives the same seal", () => {
  fc.assert(
    fc.property(anyPlain, (plain) => {
      const sealed = sealDigits(plain, KEY, CONTEXT);
      assert.equal(sealed.tag.length, TAG_DIGITS);
      assert.equal(sealed.sealed.length, plain.length);
      for (const digit of [...sealed.tag, ...sealed.sealed]) assert.ok(digit < P);
      assert.deepEqual(openSeal(sealed, KEY, CONTEXT), plain);
      assert.deepEqual(sealDigits(plain, KEY, CONTEXT), sealed);
    }),
  );
});

test("any changed digit, of the tag or of the rest, fails", () => {
  fc.assert(
    fc.property(anyPlain, anySeed, fc.integer({ min: 1, max: P - 1 }), (plain, at, change) => {
      const { tag, sealed } = sealDigits(plain, KEY, CONTEXT);
      const all = Uint16Array.from([...tag, ...sealed]);
      const place = at % all.length;
      all[place] = (all[place] + change) % P;
      const forged = { tag: all.subarray(0, TAG_DIGITS), sealed: all.subarray(TAG_DIGITS) };
      assert.equal(openSeal(forged, KEY, CONTEXT), undefined);
    }),
    { numRuns: 300 },
  );
});

test("a digit more or a digit less fails, be it zero", () => {
  const plain = Uint16Array.of(1, 2, 3, 0);
  const { tag, sealed } = sealDigits(plain, KEY, CONTEXT);
  assert.equal(openSeal({ tag, sealed: sealed.subarray(0, 3) }, KEY, CONTEXT), undefined);
  assert.equal(openSeal({ tag, sealed: Uint16Array.from([...sealed, 0]) }, KEY, CONTEXT), undefined);
});

test("another user, account, master key, version or key id fails", () => {
  const plain = Uint16Array.of(5, 6, 7, 8, 9);
  const sealed = sealDigits(plain, KEY, CONTEXT);
  const otherMaster = MASTER.map((byte, i) => (i === 31 ? byte ^ 1 : byte));
  const strangers: [string, BlockKey, SealContext][] = [
    ["user", KEY, { ...CONTEXT, userId: "ada " }],
    ["user in other case", KEY, { ...CONTEXT, userId: "Ada" }],
    ["no user", KEY, { ...CONTEXT, userId: "" }],
    ["version", KEY, { ...CONTEXT, version: 2 }],
    ["account", deriveBlockKey(MASTER, 1, "acme2"), CONTEXT],
    ["account in other case", deriveBlockKey(MASTER, 1, "Acme"), CONTEXT],
    ["master key", deriveBlockKey(otherMaster, 1, "acme"), CONTEXT],
    ["key id, same material", { ...KEY, id: 2 }, CONTEXT],
  ];
  for (const [what, key, context] of strangers) assert.equal(openSeal(sealed, key, context), undefined, what);
  assert.deepEqual(openSeal(sealed, KEY, CONTEXT), plain);
});

test("contexts that run together as text do not: the data of no two contexts are equal", () => {
  const contexts = [
    [1, 1, "ab"],
    [1, 1, "a"],
    [1, 97, "b"],
    [97, 1, "b"],
    [1, 1, ""],
  ] as const;
  const all = contexts.map(([version, id, user]) =>
    bytesToHex(associatedData({ ...KEY, id }, version, user)),
  );
  assert.equal(new Set(all).size, contexts.length);
});

test("ten digits that hold more than 128 bits are no tag", () => {
  assert.equal(tagFromDigits(new Uint16Array(10).fill(P - 1)), undefined);
  // The 129th bit alone: the smallest number that is too large stands in the last place.
  assert.equal(tagFromDigits(Uint16Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), undefined);
  assert.ok(tagFromDigits(Uint16Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 2)) !== undefined);
});

test("sealed digits are uniform: zeros come out as random as anything else", () => {
  const counts = new Uint32Array(P);
  const random = seededRandom(3);
  const samples = 600;
  for (let i = 0; i < samples; i++) {
    const key = { id: 0, material: random.bytes(64) };
    for (const digit of sealDigits(new Uint16Array(512), key, CONTEXT).sealed) counts[digit]++;
  }
  const expected = (samples * 512) / P;
  const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // 7,680 degrees of freedom: mean 7,680, standard deviation 124; five of them to either side.
  assert.ok(Math.abs(chiSquare - (P - 1)) < 620, `chi-square ${chiSquare}`);
});

test("the first digits can be unsealed alone", () => {
  const plain = randomSymbols(seededRandom(4), 400);
  const { tag, sealed } = sealDigits(plain, KEY, CONTEXT);
  const first = unsealUnchecked(sealed.subarray(0, 64), KEY, tagFromDigits(tag)!);
  assert.deepEqual(first, plain.subarray(0, 64));
});

test("keys are derived the same for ever, and bad ones are the programmer's error", () => {
  assert.equal(
    bytesToHex(deriveBlockKey(MASTER, 1, "acme").material),
    "f36e5529ae261a1deab1aeea98cf184a514fd377509bb0dd5ec90859c422925d7c874f7e1fb8800812476ff7115ec07571bca6056294a4b6e2f4992d3cdd0de3",
  );
  assert.throws(() => deriveBlockKey(new Uint8Array(MASTER_KEY_BYTES - 1), 0, "a"), AssertionError);
  for (const id of [-1, 256, 1.5]) assert.throws(() => deriveBlockKey(MASTER, id, "a"), AssertionError);
});
