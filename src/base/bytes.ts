/**
 * Bytes: of text, and their checksum. UTF-8 is strict in both directions: text with lone surrogates has no bytes, and bytes that
 * are not well-formed UTF-8 have no text, so that whatever passes is returned exactly.
 */

import { assert } from "./assert.ts";

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes of well-formed text. Code that takes text from outside must refuse lone surrogates before. */
export function utf8(text: string): Uint8Array {
  // TextEncoder would write U+FFFD for a lone surrogate: two different texts would have the same bytes.
  assert(isWellFormed(text), "text with a lone surrogate has no UTF-8");
  return encoder.encode(text);
}

/** Whether each surrogate of a text is one of a pair. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** The text of well-formed UTF-8, or undefined. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Equality whose time does not depend on where the bytes differ; lengths are public. */
export function equalBytesConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let remainder = index;
  for (let bit = 0; bit < 8; bit++)
    remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

export const CRC32_BYTES = 4;

/** CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320), table-driven. It detects accidental changes, not forged ones. */

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  // By index, which is faster than for…of: the reader's weights are megabytes.
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[i]!) & 0xff]!;
  return (crc ^ 0xffffffff) >>> 0;
}
