/** CRC-32 and base 62 against known answers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 as nativeCrc32 } from "node:zlib";
import { crc32, toBase62 } from "../../../src/base/crc32.ts";
import { seededRandom } from "../../../src/base/random.ts";

test("crc32 gives the check value of the standard, and what zlib gives", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  const random = seededRandom(1);
  for (let length = 0; length < 300; length++) {
    const bytes = random.bytes(length);
    assert.equal(crc32(bytes), nativeCrc32(bytes), `${length} bytes`);
  }
});

test("a number in base 62 has its digits in order of value, padded with 0", () => {
  assert.equal(toBase62(0, 3), "000");
  assert.equal(toBase62(61, 2), "0z");
  assert.equal(toBase62(62, 2), "10");
  assert.equal(toBase62(0xffffffff, 6), "4gfFC3");
});
