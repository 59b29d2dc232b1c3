/**
 * The promise that a block costs exactly 512 tokens, as measured with the real vocabularies. They take about 1 GB, so
 * what they say is kept in test/tokenizers/one-token-words.json; `npm run test:tokenizers` measures again.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CHECKSUM } from "../../../src/codec/alphabet-data.ts";
import { rowsOf } from "../../fixtures/fields.ts";
import {
  alphabetWords,
  checksumOf,
  lockedIntegrity,
  packWords,
  readFixture,
  unpackWords,
} from "../../tokenizers/fixture.ts";
import { measureBlocks, wordsNotOneToken } from "../../tokenizers/measure.ts";
import { VOCABULARIES } from "../../tokenizers/vocabularies.ts";

const BLOCKS_MIN = 1000;
/** What the markers cost beside the 512 tokens, as the documentation says. */
const MARKER_TOKENS_MAX = 7;

const fixture = readFixture();

test("what the vocabularies say was measured on this alphabet and was not edited", () => {
  assert.equal(fixture.alphabet, CHECKSUM);
  assert.equal(fixture.checksum, checksumOf(fixture));
  assert.deepEqual(
    rowsOf(fixture.vocabularies, "name", "package"),
    VOCABULARIES.map(({ name, package: packageName }) => [name, packageName]),
  );
});

for (const vocabulary of fixture.vocabularies) {
  test(`every word is one token, and a block's body exactly 512, in ${vocabulary.name}`, () => {
    assert.equal(vocabulary.integrity, lockedIntegrity(vocabulary.package), "measured with another version");
    assert.deepEqual(unpackWords(alphabetWords(), vocabulary.one_token), []);
    assert.ok(fixture.blocks >= BLOCKS_MIN);
    assert.equal(vocabulary.exact_blocks, fixture.blocks);
    assert.ok(vocabulary.marker_tokens <= MARKER_TOKENS_MAX, `the markers cost ${vocabulary.marker_tokens}`);
  });
}

test("the measurement sees a vocabulary in which words are more than one token", () => {
  const letters = {
    name: "letters",
    encode: (text: string) => [...text].map((character) => character.charCodeAt(0)),
    decode: (token: number) => String.fromCharCode(token),
  };
  assert.equal(measureBlocks(letters, 1, 3).faults.length, 1);
  assert.equal(wordsNotOneToken(letters).length, alphabetWords().length);
});

test("the words that are not one token are kept in the fixture's form", () => {
  const words = alphabetWords();
  const notOneToken = [words[0], words[9], words[words.length - 1]];
  assert.deepEqual(unpackWords(words, packWords(words, new Set(notOneToken))), notOneToken);
});
