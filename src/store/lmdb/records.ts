/**
 * Values of the tables as bytes. Numbers are big-endian; 48 bits hold any revision and any time in milliseconds. The
 * environment has checked the checksums before records get here.
 */

import { assert, assertInteger } from "../../base/assert.ts";
import { CRC32_BYTES } from "../../base/crc32.ts";
import { CHANNEL_COUNT, TIME_MS_MAX } from "../../base/limits.ts";
import type { FactRecord } from "../../memory/ports.ts";
import type { TableName } from "./environment.ts";

/** In `meta`: when something was first forgotten since the last compaction. */
export const FORGOTTEN = Buffer.from("forgotten");

export function isForgetting(table: TableName, key: Buffer): boolean {
  return table === "meta" && key.equals(FORGOTTEN);
}

const FACT_HEADER_BYTES = 21;
const USER_BYTES = 17;
const CHANNELS_BYTES = CHANNEL_COUNT / 8;
/** Of six bytes. */
const NUMBER_MAX = 2 ** 48 - 1;

/**
 * revision 6 · time of writing 6 · time of expiry 6 (0: it does not expire) · codebook version 1 (0: no code) · code
 * length in bits 2 · with a code: its checksum 4, its bits · value
 */
export function packFact(fact: Omit<FactRecord, "channel">): Buffer {
  const codeBytes = fact.code === undefined ? 0 : CRC32_BYTES + Math.ceil(fact.code.bits.length / 8);
  const value = Buffer.from(fact.value);
  assert(value.length > 0, "a value has a byte");
  assertInteger(fact.revision, 1, NUMBER_MAX, "the revision of a fact");
  assertInteger(fact.updatedAtMs, 0, TIME_MS_MAX, "the time of a fact");
  const out = Buffer.allocUnsafe(FACT_HEADER_BYTES + codeBytes + value.length);
  out.writeUIntBE(fact.revision, 0, 6);
  out.writeUIntBE(fact.updatedAtMs, 6, 6);
  out.writeUIntBE(0, 12, 6);
  out[18] = fact.code?.version ?? 0;
  out.writeUInt16BE(fact.code?.bits.length ?? 0, 19);
  if (fact.code !== undefined) {
    assert(fact.code.version > 0 && fact.code.version < 256, "a codebook version fits a byte");
    assert(fact.code.bits.length < 2 ** 16, "the length of a code fits two bytes");
    assert(fact.code.bits.bytes.length >= codeBytes - CRC32_BYTES, "a code has the bytes of its bits");
    out.writeUInt32BE(fact.code.checksum, FACT_HEADER_BYTES);
    out.set(fact.code.bits.bytes.subarray(0, codeBytes - CRC32_BYTES), FACT_HEADER_BYTES + CRC32_BYTES);
  }
  out.set(value, FACT_HEADER_BYTES + codeBytes);
  return out;
}

/** @param withCode false if only the value is needed */
export function unpackFact(channel: number, bytes: Buffer, withCode = true): FactRecord {
  const version = bytes[18];
  const bitsLength = bytes.readUInt16BE(19);
  const codeStart = FACT_HEADER_BYTES + (version === 0 ? 0 : CRC32_BYTES);
  const valueStart = codeStart + Math.ceil(bitsLength / 8);
  const fact = {
    channel,
    value: bytes.toString("utf8", valueStart, bytes.length),
    revision: bytes.readUIntBE(0, 6),
    updatedAtMs: bytes.readUIntBE(6, 6),
  };
  if (version === 0 || !withCode) return fact;
  const bits = { length: bitsLength, bytes: Uint8Array.from(bytes.subarray(codeStart, valueStart)) };
  return { ...fact, code: { version, bits, checksum: bytes.readUInt32BE(FACT_HEADER_BYTES) } };
}

export interface UserRecord {
  /** Random, new whenever a forgotten user is written again: so no stamp is ever used twice. */
  readonly life: Buffer;
  revision: number;
  /** Bit c of the 40 is set if channel c holds a fact. */
  readonly channels: Buffer;
}

const LIFE_BYTES = 6;
/** Users whose random bytes are fetched at once: a call costs about the same for few bytes and for many. */
const LIVES_AT_ONCE = 512;

/** Random bytes for new users. */
export class LifeSource {
  readonly #randomBytes: (length: number) => Buffer;
  #bytes: Buffer = Buffer.alloc(0);
  #used = 0;

  constructor(randomBytes: (length: number) => Buffer) {
    this.#randomBytes = randomBytes;
  }

  next(): Buffer {
    if (this.#used === this.#bytes.length) {
      this.#bytes = this.#randomBytes(LIVES_AT_ONCE * LIFE_BYTES);
      assert(
        this.#bytes.length === LIVES_AT_ONCE * LIFE_BYTES,
        "there are as many random bytes as were asked for",
      );
      this.#used = 0;
    }
    this.#used += LIFE_BYTES;
    return this.#bytes.subarray(this.#used - LIFE_BYTES, this.#used);
  }
}

export function newUser(life: Buffer): UserRecord {
  assert(life.length === LIFE_BYTES, `the life of a user has ${LIFE_BYTES} bytes`);
  return { life, revision: 0, channels: Buffer.alloc(CHANNELS_BYTES) };
}

/** life 6 · revision 6 · channels 5 */
export function packUser(user: UserRecord): Buffer {
  assertInteger(user.revision, 1, NUMBER_MAX, "the revision of a user");
  assert(user.channels.length === CHANNELS_BYTES, "a user has a bit for each channel");
  const out = Buffer.allocUnsafe(USER_BYTES);
  out.set(user.life);
  out.writeUIntBE(user.revision, 6, 6);
  out.set(user.channels, 12);
  return out;
}

export function unpackUser(bytes: Buffer): UserRecord {
  assert(bytes.length === USER_BYTES, "a user's record");
  return {
    life: Buffer.from(bytes.subarray(0, 6)),
    revision: bytes.readUIntBE(6, 6),
    channels: Buffer.from(bytes.subarray(12)),
  };
}

export function stampOf(bytes: Buffer): string {
  assert(bytes.length === USER_BYTES, "a stamp is made of a user's record");
  return bytes.toString("base64url", 0, 12);
}

export function markChannel(user: UserRecord, channel: number, used: boolean): void {
  assertInteger(channel, 0, CHANNEL_COUNT - 1, "channel");
  const bit = 1 << (channel & 7);
  if (used) user.channels[channel >> 3] |= bit;
  else user.channels[channel >> 3] &= ~bit;
}

export function hasChannel(user: UserRecord, channel: number): boolean {
  return (user.channels[channel >> 3] & (1 << (channel & 7))) !== 0;
}

export function channelCount(user: UserRecord): number {
  let count = 0;
  for (const byte of user.channels) for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
  return count;
}

export function packNumber(value: number): Buffer {
  assertInteger(value, 0, NUMBER_MAX, "a stored number");
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
  assertInteger(record.channelCount, 1, CHANNEL_COUNT, "the channel count of an answer");
  assertInteger(record.expiresAtMs, 0, TIME_MS_MAX, "the expiry of an answer");
  const out = Buffer.alloc(39);
  out.set(record.fingerprint);
  out[32] = record.channelCount;
  out.writeUIntBE(record.expiresAtMs, 33, 6);
  return out;
}

export function unpackIdempotency(bytes: Buffer): IdempotencyRecord {
  assert(bytes.length === 39, "an idempotency record");
  return {
    fingerprint: bytes.subarray(0, 32),
    channelCount: bytes[32],
    expiresAtMs: bytes.readUIntBE(33, 6),
  };
}

/** Keys, accounts and key requests are JSON: there are few, and people can read them in an emergency. */
export function packJson(record: unknown): Buffer {
  return Buffer.from(JSON.stringify(record));
}

export function unpackJson<T>(bytes: Buffer): T {
  return JSON.parse(bytes.toString()) as T;
}
