/** Tokens are counted as the tokenizer of o200k counts them, here the one of js-tiktoken. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { seededRandom } from "../../../src/base/random.ts";
import { countTokens, O200K_FILE } from "../../../src/memory/token-count.ts";
import { o200kCounter, o200kTokens } from "../../fixtures/o200k.ts";

const SEED = 20261117;
const TEXTS = 400;

/** Each begins some piece of the pattern, or goes on with it. */
const PARTS = [
  ..."aAzZéßĲǅʰªاλ漢語のั̈0٣½ _-=./;:'\"!€😀👩🏽‍💻\u00a0\u3000\u200d\n",
  ...[
    "USER.name=",
    "'s",
    "'RE",
    "'ll",
    "  ",
    "\n\n",
    " \n",
    "://",
    "the",
    " The",
    "HTTP",
    "1234567",
    "x/\n/",
  ],
];

test("the vocabulary of the package is that of o200k", () => {
  const bytes = brotliDecompressSync(readFileSync(O200K_FILE));
  const tokens: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += bytes[at] + 1)
    tokens.push(bytes.subarray(at + 1, at + 1 + bytes[at]));
  const wanted = o200kTokens();
  assert.equal(tokens.length, wanted.length);
  assert.ok(tokens.every((token, rank) => token.equals(wanted[rank])));
});

test("any text has as many tokens as the tokenizer of o200k finds", () => {
  const random = seededRandom(SEED);
  const count = o200kCounter();
  for (let i = 0; i < TEXTS; i++) {
    const parts = Array.from({ length: random.below(60) }, () => PARTS[random.below(PARTS.length)]);
    const text = parts.join("");
    assert.equal(countTokens(text), count(text), JSON.stringify(text));
  }
});

test("pieces without a pause are counted right, however long", () => {
  const count = o200kCounter();
  for (const text of [
    "a".repeat(300),
    "漢字".repeat(60),
    "xyzzy".repeat(60),
    "=".repeat(200),
    " ".repeat(200),
    // Of equal pairs the first is joined first: from the other end these have one token more.
    "bbbaabbbbbabaabbbb",
    "/**//*/*/**/////**///",
  ])
    assert.equal(countTokens(text), count(text), text.slice(0, 5));
});
