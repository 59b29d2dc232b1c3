/** The form of API keys. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOfKey, isWellFormedKey, newApiKey, toBase62 } from "../../../src/memory/key-format.ts";

/** All checksums here, and the hash, were computed by other implementations of CRC-32 and SHA-256. */
const KEY = "sb_live_0123456789ABCDEFGHIJabcdefghij3KY4Hi";

test("a key with the right checksum is well formed", () => {
  assert.equal(isWellFormedKey(KEY), true);
});

test("a new key is well formed, and no other key", () => {
  const keys = Array.from({ length: 100 }, newApiKey);
  assert.ok(keys.every(isWellFormedKey));
  assert.equal(new Set(keys).size, 100);
});

test("a key with any one character changed is not well formed", () => {
  for (let at = 0; at < KEY.length; at++) {
    const other = KEY[at] === "x" ? "y" : "x";
    assert.equal(isWellFormedKey(KEY.slice(0, at) + other + KEY.slice(at + 1)), false, `character ${at}`);
  }
});

test("a key with two neighbours swapped is not well formed", () => {
  for (let at = 0; at + 1 < KEY.length; at++) {
    if (KEY[at] === KEY[at + 1]) continue;
    const swapped = KEY.slice(0, at) + KEY[at + 1] + KEY[at] + KEY.slice(at + 2);
    assert.equal(isWellFormedKey(swapped), false, `characters ${at} and ${at + 1}`);
  }
});

test("a text of another form is not well formed, also with the right checksum", () => {
  for (const text of [
    "",
    `${KEY}\n`,
    "sb_test_0123456789ABCDEFGHIJabcdefghij1h2hfN",
    "sb_live_0123456789ABCDEFGHIJabcdefghi0yLnfd",
    "sb_live_0123456789ABCDEFGHIJabcdefghijk3s3Gn3",
    "sb_live_0123456789ABCDEFGHIJabcdefghi-1hxQ89",
    " sb_live_0123456789ABCDEFGHIJabcdefghij3hyZu9",
  ])
    assert.equal(isWellFormedKey(text), false, JSON.stringify(text));
});

test("a key is stored as its SHA-256 in hexadecimal", () => {
  assert.equal(hashOfKey(KEY), "e56ddf87bc7785b327c488c2d2c0ba3d07547f74fc284f4d3ca5605dd7a41504");
});

test("a number in base 62 has its digits in order of value, padded with 0", () => {
  assert.equal(toBase62(0, 3), "000");
  assert.equal(toBase62(61, 2), "0z");
  assert.equal(toBase62(62, 2), "10");
  assert.equal(toBase62(0xffffffff, 6), "4gfFC3");
});
