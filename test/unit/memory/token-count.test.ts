/** Tokens are counted as the tokenizer of o200k counts them, here the one of js-tiktoken; each text once, in slices. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { FairTurns } from "../../../src/base/fair-turns.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { O200K_FILE, TokenCounts } from "../../../src/memory/token-count.ts";
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

const counts = new TokenCounts(new FairTurns());
const countTokens = (text: string) => counts.of("acme", text);

test("any text has as many tokens as the tokenizer of o200k finds", async () => {
  const random = seededRandom(SEED);
  const count = o200kCounter();
  for (let i = 0; i < TEXTS; i++) {
    const parts = Array.from({ length: random.below(60) }, () => PARTS[random.below(PARTS.length)]);
    const text = parts.join("");
    assert.equal(await countTokens(text), count(text), JSON.stringify(text));
  }
});

test("pieces without a pause are counted right, however long", async () => {
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
    assert.equal(await countTokens(text), count(text), text.slice(0, 5));
});

/** The facts of a user with as many long values as there may be, which cost most to count. */
function longIndex(): string {
  const random = seededRandom(SEED);
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const value = () => Array.from({ length: 1_024 }, () => random.pick(letters)).join("");
  return Array.from({ length: 256 }, (_, i) => `USER.label_${i}=${value()}`).join("\n");
}

test("a long text is counted in slices, and accounts take turns between them", async () => {
  const text = longIndex();
  await countTokens("the vocabulary is loaded");
  let turns = 0;
  let isOver = false;
  const counting = countTokens(text).finally(() => {
    isOver = true;
  });
  const tick = () => {
    turns += 1;
    if (!isOver) setImmediate(tick);
  };
  tick();
  const short = counts.of("another account", "a short text");
  await Promise.race([short, counting]);
  assert.equal(isOver, false, "a short text of another account waits for the whole of a long one");
  await counting;
  // It takes 300 ms or more. In one go it would be one turn.
  assert.ok(turns > 20, `${turns} turns of the event loop`);
});

test("a text is counted once for each account, also where it is asked for twice at once", async (context) => {
  const turns = new FairTurns();
  const next = context.mock.method(turns, "next");
  const ownCounts = new TokenCounts(turns);
  const [first, second] = await Promise.all([
    ownCounts.of("acme", "one text"),
    ownCounts.of("acme", "one text"),
  ]);
  assert.deepEqual([first, second, next.mock.callCount()], [2, 2, 1]);
  await ownCounts.of("acme", "one text");
  assert.equal(next.mock.callCount(), 1);
  await ownCounts.of("other", "one text");
  assert.equal(next.mock.callCount(), 2);
});

test("a count that was refused is made at the next call", async (context) => {
  const turns = new FairTurns();
  context.mock.method(turns, "next", () => Promise.reject(new Error("too many")), { times: 1 });
  const ownCounts = new TokenCounts(turns);
  await assert.rejects(ownCounts.of("acme", "one text"), /too many/);
  assert.equal(await ownCounts.of("acme", "one text"), 2);
});
