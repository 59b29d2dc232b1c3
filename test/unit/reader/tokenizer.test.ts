/** The tokenizer: every byte string is split and joined again; the split is the canonical one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Tokenizer, wordEnd } from "../../../src/reader/tokenizer.ts";
import { parseWeights } from "../../../src/reader/weights.ts";
import { anyValue, WEIGHTS_FILE } from "./reader-model.ts";

const tokenizer = new Tokenizer(parseWeights(WEIGHTS_FILE).merges);
const bytes = (text: string) => new TextEncoder().encode(text);

function words(value: Uint8Array): string[] {
  const found: string[] = [];
  for (let at = 0; at < value.length; ) {
    const stop = wordEnd(value, at);
    found.push(new TextDecoder().decode(value.subarray(at, stop)));
    at = stop;
  }
  return found;
}

test("the symbols of any bytes join to the same bytes", () => {
  fc.assert(
    fc.property(anyValue(1024), (value) => {
      const joined = tokenizer.split(value).flatMap((symbol) => Array.from(tokenizer.bytesOf(symbol)));
      assert.deepEqual(Uint8Array.from(joined), value);
    }),
    { numRuns: 300 },
  );
});

test("a value has no more symbols than bytes", () => {
  fc.assert(
    fc.property(anyValue(1024), (value) => {
      assert.ok(tokenizer.split(value).length <= value.length);
    }),
    { numRuns: 100 },
  );
});

test("words are cut by classes of bytes: a sign goes with the word after it, a space with the number", () => {
  assert.deepEqual(words(bytes("Use `foo_bar.py`, John's 2024-05-06 $5  == ok — café 日本")), [
    ...["Use", " ", "`foo", "_bar", ".py", "`,", " John", "'s", " 2024", "-", "05", "-", "06", " ", "$", "5"],
    ...["  ==", " ok", " —", " café", " 日本"],
  ]);
  assert.deepEqual(words(bytes("a  b")), ["a", " ", " b"]);
  assert.deepEqual(words(bytes("...")), ["..."]);
});

test("common text takes few symbols", () => {
  const value = bytes("The user prefers short answers and works on the project in the evening.");
  assert.ok(tokenizer.split(value).length <= value.length / 3.5);
});

test("a merge of two pieces is the piece of both", () => {
  const merges = Uint16Array.of(0x61, 0x62, 256, 0x63); // ab, then abc
  const small = new Tokenizer(merges);
  assert.deepEqual(small.split(bytes("abcab")), [257, 256]);
  assert.deepEqual(small.bytesOf(257), bytes("abc"));
  assert.equal(small.end, 258);
});
