/**
 * The seal: deterministic authenticated encryption of a spectrum's digits.
 *
 * AES-SIV (RFC 5297) in all but the last step. The tag is the library's S2V over the associated data and the
 * plaintext digits (two bytes each); the keystream is AES-CTR under the second half of the key, started at the tag
 * with two bits cleared (section 2.5). RFC 5297 adds the keystream to bytes by XOR; we add it to digits in
 * GF(7681), so that a ciphertext digit is again a digit and each fact stays on its own carriers. Keystream digits
 * are uniform: 16-bit words at or above 8 · 7681 are skipped. A test compares the tag with that of the library's
 * whole AES-SIV.
 *
 * The same facts give the same digits; another account's key, another user or a changed digit fails the tag.
 */

import { ctr, unsafe } from "@noble/ciphers/aes.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertInteger } from "../base/assert.ts";
import { equalBytesConstantTime, utf8 } from "../base/bytes.ts";
import { bitsToDigits, digitsToBits } from "./digits.ts";
import { add, P, subtract } from "./field.ts";

export const MASTER_KEY_BYTES = 32;
const KEY_ID_MAX = 255;
const TAG_BYTES = 16;
/** 128 bits of tag take ten digits, which hold 129. */
export const TAG_DIGITS = 10;
const HALF_KEY_BYTES = 32;
const ACCEPTED_BELOW = Math.floor(0x10000 / P) * P;
const CONTEXT = utf8("sideband block");

/** The key of one account's blocks. `id` travels in the block, so that keys can rotate. */
export interface BlockKey {
  readonly id: number;
  /** 64 bytes: S2V's half, then CTR's. */
  readonly material: Uint8Array;
}

/** What a seal is bound to besides the account, which is bound through its key. */
export interface SealContext {
  readonly version: number;
  readonly userId: string;
}

export function deriveBlockKey(master: Uint8Array, id: number, account: string): BlockKey {
  assert(master.length === MASTER_KEY_BYTES, `a master key has ${MASTER_KEY_BYTES} bytes`);
  assertInteger(id, 0, KEY_ID_MAX, "key id");
  const info = utf8(`sideband block key\0${account}`);
  return { id, material: hkdf(sha256, master, undefined, info, 2 * HALF_KEY_BYTES) };
}

/** Plain digits → the tag's ten digits and as many sealed digits. */
export function sealDigits(
  plain: Uint16Array,
  key: BlockKey,
  context: SealContext,
): { tag: Uint16Array; sealed: Uint16Array } {
  const tag = tagOf(plain, key, context);
  const sealed = keystream(key, tag, plain.length);
  for (let i = 0; i < plain.length; i++) sealed[i] = add(plain[i]!, sealed[i]!);
  return { tag: bitsToDigits({ length: 8 * TAG_BYTES, bytes: tag }, TAG_DIGITS), sealed };
}

/** The tag's bytes, or undefined where its digits are no tag. */
export function tagFromDigits(digits: Uint16Array): Uint8Array | undefined {
  const bits = digitsToBits(digits);
  // Ten digits hold 129 bits; the one left over is zero in every real tag.
  return bits === undefined || bits.bytes[TAG_BYTES] !== 0 ? undefined : bits.bytes.subarray(0, TAG_BYTES);
}

/** The first sealed digits → plain ones. They prove nothing before `isGenuine` has checked all of them. */
export function unsealUnchecked(sealed: Uint16Array, key: BlockKey, tag: Uint8Array): Uint16Array {
  const plain = keystream(key, tag, sealed.length);
  for (let i = 0; i < sealed.length; i++) plain[i] = subtract(sealed[i]!, plain[i]!);
  return plain;
}

export function isGenuine(plain: Uint16Array, key: BlockKey, tag: Uint8Array, context: SealContext): boolean {
  return equalBytesConstantTime(tagOf(plain, key, context), tag);
}

function tagOf(plain: Uint16Array, key: BlockKey, { version, userId }: SealContext): Uint8Array {
  const bytes = new Uint8Array(2 * plain.length);
  for (let i = 0; i < plain.length; i++) {
    bytes[2 * i] = plain[i]! >> 8;
    bytes[2 * i + 1] = plain[i]!;
  }
  return unsafe.s2v(key.material.subarray(0, HALF_KEY_BYTES), [associatedData(key, version, userId), bytes]);
}

/** Fixed lengths first, so that no two contexts give the same bytes. */
export function associatedData(key: BlockKey, version: number, userId: string): Uint8Array {
  const user = utf8(userId);
  const data = new Uint8Array(CONTEXT.length + 2 + user.length);
  data.set(CONTEXT);
  data[CONTEXT.length] = version;
  data[CONTEXT.length + 1] = key.id;
  data.set(user, CONTEXT.length + 2);
  return data;
}

function keystream(key: BlockKey, tag: Uint8Array, length: number): Uint16Array {
  const counter = tag.slice();
  counter[8]! &= 0x7f;
  counter[12]! &= 0x7f;
  // One word in sixteen is skipped. A quarter more, and 32, are too few in less than one of 2^128 keystreams.
  const words = length + (length >> 2) + 32;
  const stream = ctr(key.material.subarray(HALF_KEY_BYTES), counter).encrypt(new Uint8Array(2 * words));
  const digits = new Uint16Array(length);
  let filled = 0;
  for (let i = 0; i < words && filled < length; i++) {
    const word = (stream[2 * i]! << 8) | stream[2 * i + 1]!;
    if (word < ACCEPTED_BELOW) digits[filled++] = word % P;
  }
  assert(filled === length, "the keystream is long enough");
  return digits;
}
