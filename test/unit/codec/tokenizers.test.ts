/**
 * Real blocks, tokenised by real vocabularies: the promise that a block costs exactly 512 tokens. A few blocks
 * for each vocabulary here; `npm run test:tokenizers` does 1,000 and every word singly.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { measureBlocks } from "../../tokenizers/measure.ts";
import { VOCABULARY_LOADERS } from "../../tokenizers/vocabularies.ts";

const BLOCKS = 15;
/** What the markers cost beside the 512 tokens, as the documentation says. */
const MARKER_TOKENS_MAX = 7;

for (const [name, load] of VOCABULARY_LOADERS) {
  test(`a block's body is exactly 512 tokens in ${name}`, async () => {
    const { faults, markerTokens } = measureBlocks(await load(), BLOCKS, 2);
    assert.deepEqual(faults, []);
    assert.ok(markerTokens <= MARKER_TOKENS_MAX, `the markers cost ${markerTokens} tokens`);
  });
}

test("the measurement sees a vocabulary in which a word is two tokens", () => {
  const vocabulary = {
    name: "letters",
    encode: (text: string) => [...text].map((character) => character.charCodeAt(0)),
    decode: (token: number) => String.fromCharCode(token),
  };
  assert.equal(measureBlocks(vocabulary, 1, 3).faults.length, 1);
});
