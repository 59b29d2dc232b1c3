/**
 * CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320), table-driven. It detects accidental changes, not forged ones.
 * Also numbers in base 62 (0-9A-Za-z).
 */

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let remainder = index;
  for (let bit = 0; bit < 8; bit++)
    remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

export const CRC32_BYTES = 4;

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  // By index, which is faster than for…of: the reader's weights are megabytes.
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[i]!) & 0xff]!;
  return (crc ^ 0xffffffff) >>> 0;
}

export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The number in base 62, padded with 0 to `length` digits. */
export function toBase62(value: number, length: number): string {
  let out = "";
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) out = BASE62[rest % 62] + out;
  return out.padStart(length, "0");
}
