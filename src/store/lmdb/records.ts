/**
 * Records as bytes. Numbers are big-endian; 48 bits hold any revision and any time in milliseconds. The first
 * byte is the record's form, checked on every read: another one is corruption, and said so.
 */

import { randomBytes } from "node:crypto";
import { assert } from "../../base/assert.ts";
import type { StoredFact } from "../../memory/ports.ts";

export class CorruptRecordError extends Error {
  override name = "CorruptRecordError";
}

const FORM = 1;
/** Of a fact with a code. A code in a fact of the other form has no checksum, and is passed over. */
const CODED_FORM = 2;
const CHECKSUM_BYTES = 4;
const FACT_HEADER_BYTES = 16;
const USER_BYTES = 18;

/** form 1 · revision 6 · time 6 · codebook version 1 · code length in bits 2 · in the form with a code: checksum 4, code · value */
export function packFact(fact: Omit<StoredFact, "channel">): Buffer {
  const codeBytes = fact.code === undefined ? 0 : CHECKSUM_BYTES + Math.ceil(fact.code.bits.length / 8);
  const value = Buffer.from(fact.value);
  const out = Buffer.allocUnsafe(FACT_HEADER_BYTES + codeBytes + value.length);
  out[0] = fact.code === undefined ? FORM : CODED_FORM;
  out.writeUIntBE(fact.revision, 1, 6);
  out.writeUIntBE(fact.updatedAtMs, 7, 6);
  out[13] = fact.code?.version ?? 0;
  out.writeUInt16BE(fact.code?.bits.length ?? 0, 14);
  if (fact.code !== undefined) {
    assert(fact.code.version > 0 && fact.code.version < 256, "a codebook version fits a byte");
    out.writeUInt32BE(fact.code.checksum, FACT_HEADER_BYTES);
    out.set(fact.code.bits.bytes.subarray(0, codeBytes - CHECKSUM_BYTES), FACT_HEADER_BYTES + CHECKSUM_BYTES);
  }
  out.set(value, FACT_HEADER_BYTES + codeBytes);
  return out;
}

/** @param withCode false where only the value is wanted */
export function unpackFact(channel: number, bytes: Buffer, withCode = true): StoredFact {
  const form = bytes.length > FACT_HEADER_BYTES ? bytes[0] : 0;
  const codeBytes = form > 0 ? Math.ceil(bytes.readUInt16BE(14) / 8) : 0;
  const codeStart = FACT_HEADER_BYTES + (form === CODED_FORM ? CHECKSUM_BYTES : 0);
  const valueStart = codeStart + codeBytes;
  if ((form !== FORM && form !== CODED_FORM) || valueStart >= bytes.length)
    throw new CorruptRecordError("a fact's record is damaged");
  return {
    channel,
    value: bytes.toString("utf8", valueStart, bytes.length),
    revision: bytes.readUIntBE(1, 6),
    updatedAtMs: bytes.readUIntBE(7, 6),
    ...(form === CODED_FORM && withCode
      ? {
          code: {
            version: bytes[13],
            bits: {
              length: bytes.readUInt16BE(14),
              bytes: Uint8Array.from(bytes.subarray(codeStart, valueStart)),
            },
            checksum: bytes.readUInt32BE(FACT_HEADER_BYTES),
          },
        }
      : {}),
  };
}

export interface UserRecord {
  /** Random for each life of a user, so that no stamp comes back after forgetting. */
  readonly incarnation: Buffer;
  revision: number;
  /** Bit c of the 40 is set where channel c holds a fact. */
  readonly channels: Buffer;
}

const INCARNATION_BYTES = 6;
/** Random bytes are fetched for many users at once: a call costs the same for few and for many. */
let random = { bytes: Buffer.alloc(0), used: 0 };

export function newUser(): UserRecord {
  if (random.used === random.bytes.length) random = { bytes: randomBytes(512 * INCARNATION_BYTES), used: 0 };
  const start = random.used;
  random.used += INCARNATION_BYTES;
  const incarnation = random.bytes.subarray(start, random.used);
  return { incarnation, revision: 0, channels: Buffer.alloc(5) };
}

/** form 1 · incarnation 6 · revision 6 · channels 5 */
export function packUser(user: UserRecord): Buffer {
  const out = Buffer.allocUnsafe(USER_BYTES);
  out[0] = FORM;
  out.set(user.incarnation, 1);
  out.writeUIntBE(user.revision, 7, 6);
  out.set(user.channels, 13);
  return out;
}

export function unpackUser(bytes: Buffer): UserRecord {
  if (bytes.length !== USER_BYTES || bytes[0] !== FORM)
    throw new CorruptRecordError("a user's record is damaged");
  return {
    incarnation: Buffer.from(bytes.subarray(1, 7)),
    revision: bytes.readUIntBE(7, 6),
    channels: Buffer.from(bytes.subarray(13)),
  };
}

export function stampOf(bytes: Buffer): string {
  if (bytes.length !== USER_BYTES || bytes[0] !== FORM)
    throw new CorruptRecordError("a user's record is damaged");
  return bytes.toString("base64url", 1, 13);
}

export function markChannel(user: UserRecord, channel: number, used: boolean): void {
  const bit = 1 << (channel & 7);
  if (used) user.channels[channel >> 3] |= bit;
  else user.channels[channel >> 3] &= ~bit;
}

export function channelCount(user: UserRecord): number {
  let count = 0;
  for (const byte of user.channels) for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
  return count;
}

export function packNumber(value: number): Buffer {
  const out = Buffer.alloc(6);
  out.writeUIntBE(value, 0, 6);
  return out;
}

export function unpackNumber(bytes: Buffer | undefined): number {
  return bytes === undefined ? 0 : bytes.readUIntBE(0, 6);
}

export interface IdempotencyRecord {
  readonly fingerprint: Buffer;
  readonly channelCount: number;
  readonly expiresAtMs: number;
}

/** fingerprint 32 · channel count 1 · expiry 6 */
export function packIdempotency(record: {
  fingerprint: Uint8Array;
  channelCount: number;
  expiresAtMs: number;
}): Buffer {
  assert(record.fingerprint.length === 32, "a fingerprint has 32 bytes");
  const out = Buffer.alloc(39);
  out.set(record.fingerprint);
  out[32] = record.channelCount;
  out.writeUIntBE(record.expiresAtMs, 33, 6);
  return out;
}

export function unpackIdempotency(bytes: Buffer): IdempotencyRecord {
  if (bytes.length !== 39) throw new CorruptRecordError("an idempotency record is damaged");
  return {
    fingerprint: bytes.subarray(0, 32),
    channelCount: bytes[32],
    expiresAtMs: bytes.readUIntBE(33, 6),
  };
}
