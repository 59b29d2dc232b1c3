/** The golden blocks of every format version: built the same and read the same for ever. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { utf8 } from "../../../src/base/bytes.ts";
import { CHANNEL_COUNT } from "../../../src/base/limits.ts";
import { loadCodebooks } from "../../../src/blockwork/codebooks.ts";
import { BLOCK_FORMS, type Codebook, formatVersionOf } from "../../../src/codec/codebook.ts";
import { readBlock } from "../../../src/codec/read-block.ts";
import { carriedFacts } from "../../fixtures/blocks.ts";
import { checkGoldenBlock, readOptionsOf } from "../../fixtures/golden-blocks.ts";
import { rememberingPredictor } from "../../fixtures/remembering-predictor.ts";
import { loadVectors } from "../../fixtures/vectors.ts";

/** SHA-256 of the blocks' texts, by format version. */
const DIGESTS: Record<number, string> = {
  1: "302cbc7e1d0aa8b481d8ecb91e8241f57caf58ecda5663ee7f325110a13c850c",
  7: "64c7745378e1974b1cf8c3b8a20666655af32ce0fd1e1b45a71e6f4a8fb9b6e9",
  9: "facfaa67003cd4dd29d536d52c406b00aeb3a191eca66e6f26ac37241e688923",
  15: "81aaf08942cb178014f7c39608684b0bab0da6cb18e8180f27f2506bfbf655ef",
  17: "fd32e7c89dac8fed00e8b4f191baa1f629d710ca265f5d95136f6d59ed73788b",
  23: "77523ca3b11987bc14120e817dba5962d27253900bf9957f0afe1e9097249cf2",
};

/** Their values take the model long, and are of the same kinds as the others': `npm run test:full` has all blocks. */
const LEFT_OUT: Record<number, readonly string[]> = {
  7: ["another random profile, of another user"],
  15: ["all scripts", "overflow", "another random profile, of another user"],
  23: ["all scripts", "overflow", "another random profile, of another user"],
};

for (const { version, predictors } of loadCodebooks()) {
  for (const form of BLOCK_FORMS) {
    // The model reads every value once. The blocks with other labels have the same standard channels as the others: there
    // a value is read by what the model gave when it was written.
    const knowsWritten = (channel: number) => form !== "standard" && channel < CHANNEL_COUNT;
    const remembering = predictors.map((predictor) => rememberingPredictor(predictor, knowsWritten));
    const codebook = { version, predictors: remembering };
    checkVectors(codebook, formatVersionOf(codebook, form));
  }
}

function checkVectors(codebook: Codebook, version: number): void {
  const { blocks, readings, formatVersion } = loadVectors(version);
  for (const vector of blocks.filter(({ name }) => LEFT_OUT[version]?.includes(name) !== true)) {
    test(`golden block ${version}, ${vector.name}: the same text is built, and the same facts are read`, () =>
      checkGoldenBlock(vector, codebook, version));
  }

  for (const { name, of, text, reads } of readings) {
    test(`golden reading ${version}, ${name}: ${reads ? "the same facts are read" : "refused"}`, () => {
      const vector = blocks.find((block) => block.name === of);
      assert.ok(vector !== undefined);
      const result = readBlock(text, readOptionsOf(vector, codebook));
      assert.equal(result.ok, reads);
      if (!result.ok) return;
      assert.deepEqual(result.facts, carriedFacts(vector, vector.facts));
    });
  }

  test(`the golden blocks of version ${version} themselves have not been touched`, () => {
    assert.equal(formatVersion, version);
    const digest = bytesToHex(sha256(utf8(blocks.map(({ text }) => text).join("\n"))));
    assert.equal(digest, DIGESTS[version]);
  });
}
