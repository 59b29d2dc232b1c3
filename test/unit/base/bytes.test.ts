/** Bytes and text: exact in both directions, strict about what is not text. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 as nativeCrc32 } from "node:zlib";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { crc32, equalBytesConstantTime, textOf, utf8 } from "../../../src/base/bytes.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { anyCharacter } from "../../fixtures/characters.ts";

const wellFormed = fc.string({ unit: anyCharacter });
const anyBytes = fc.uint8Array({ maxLength: 64 });

test("well-formed text comes back from its bytes unchanged, byte order mark included", () => {
  fc.assert(fc.property(wellFormed, (text) => assert.equal(textOf(utf8(text)), text)));
  assert.equal(textOf(utf8("\uFEFFa\u0000b")), "\uFEFFa\u0000b");
});

test("bytes that have a text are exactly the bytes of that text", () => {
  const property = fc.property(anyBytes, (bytes) => {
    const text = textOf(bytes);
    if (text !== undefined) assert.deepEqual(utf8(text), bytes);
  });
  fc.assert(property, { numRuns: 1000 });
});

test("malformed UTF-8 has no text", () => {
  const malformed = {
    "a continuation byte alone": [0x80],
    "a sequence cut short": [0xe2, 0x82],
    "an overlong slash": [0xc0, 0xaf],
    "an encoded surrogate": [0xed, 0xa0, 0x80],
    "beyond the last code point": [0xf4, 0x90, 0x80, 0x80],
    "a byte that never occurs": [0xff],
  };
  for (const [name, bytes] of Object.entries(malformed)) {
    assert.equal(textOf(Uint8Array.from(bytes)), undefined, name);
  }
});

test("text with a lone surrogate has no bytes", () => {
  for (const text of ["\ud800", "a\udc00b", "\udc00\ud800", "\ud83d"])
    assert.throws(() => utf8(text), AssertionError);
  assert.equal(utf8("\ud83d\ude00").length, 4);
});

test("the equality in constant time is that of the bytes", () => {
  const pair = fc.oneof(
    fc.tuple(anyBytes, anyBytes),
    anyBytes.map((bytes): [Uint8Array, Uint8Array] => [bytes, bytes.slice()]),
    fc
      .tuple(anyBytes, fc.nat(), fc.integer({ min: 1, max: 255 }))
      .map(([bytes, at, flip]): [Uint8Array, Uint8Array] => {
        const changed = bytes.slice();
        if (changed.length > 0) changed[at % changed.length] ^= flip;
        return [bytes, changed];
      }),
  );
  const property = fc.property(pair, ([a, b]) => {
    assert.equal(equalBytesConstantTime(a, b), Buffer.compare(a, b) === 0);
  });
  fc.assert(property, { numRuns: 500 });
});

test("crc32 gives the check value of the standard, and what zlib gives", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  const random = seededRandom(1);
  for (let length = 0; length < 300; length++) {
    const bytes = random.bytes(length);
    assert.equal(crc32(bytes), nativeCrc32(bytes), `${length} bytes`);
  }
});
