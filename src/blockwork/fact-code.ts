/**
 * A fact's code bits as they are kept with it, under a checksum over everything they depend on: a block is assembled
 * only from bits that still belong to the fact beside them.
 */

import { assert, assertInteger } from "../base/assert.ts";
import { crc32, utf8 } from "../base/bytes.ts";
import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { bitsMaxAlone } from "../codec/block-room.ts";
import type { Codebook } from "../codec/codebook.ts";
import { codedText, encodeFact, type SlotValue } from "../codec/free-labels.ts";
import type { Bits } from "../codec/range-coder.ts";

/** A fact's code bits under one codebook version. */
export interface FactCode {
  readonly version: number;
  readonly bits: Bits;
  /** Over bits, value, channel or name, and version. */
  readonly checksum: number;
}

/** What coding needs of a stored fact. */
export interface CodableFact extends SlotValue {
  /** Larger than that of every fact of the user written before. */
  readonly revision: number;
  readonly code?: FactCode;
}

/** A code, and the fact that it was computed from: a user forgotten meanwhile may have come back with another. */
export interface ComputedCode extends Omit<CodableFact, "code"> {
  readonly code: FactCode;
}

/** The code of a value. One that does not fit in any block gets one bit more than would fit: it is passed over, and not tried again. */
export function codeOf(codebook: Codebook, fact: SlotValue): FactCode {
  const { version } = codebook;
  assertInteger(version, 0, 255, "codebook version");
  const bitsMax = bitsMaxAlone(fact);
  const bits = encodeFact(codebook, fact, bitsMax) ?? tooLong(bitsMax);
  assert(bits.length <= bitsMax + 1 && bits.length < 2 ** 16, "the length of a code fits two bytes");
  return { version, bits, checksum: checksumOf(version, bits, fact) };
}

/** The code kept with a fact, where it is of this version and whole. */
export function keptCode(fact: CodableFact, version: number): FactCode | undefined {
  const { code } = fact;
  if (code?.version !== version) return undefined;
  return code.checksum === checksumOf(version, code.bits, fact) ? code : undefined;
}

function checksumOf(version: number, bits: Bits, fact: SlotValue): number {
  const text = utf8(codedText(fact));
  const whole = new Uint8Array(4 + bits.bytes.length + text.length);
  // All labels without a standard channel are alike to the codebook: what they code is in the text.
  const channel = Math.min(fact.channel, CHANNEL_COUNT_MAX - 1);
  whole.set([version, channel, bits.length >> 8, bits.length & 255]);
  whole.set(bits.bytes, 4);
  whole.set(text, 4 + bits.bytes.length);
  return crc32(whole);
}

function tooLong(bitsMax: number): Bits {
  return { length: bitsMax + 1, bytes: new Uint8Array((bitsMax >> 3) + 1) };
}
