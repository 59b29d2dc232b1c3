/** The checksum of kept code bits. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { type CodableFact, codeOf, keptCode } from "../../../src/blockwork/fact-code.ts";
import { bitsMaxAlone } from "../../../src/codec/block-room.ts";
import { decodeValue, PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";

const { version } = PLAIN_CODEBOOK;

test("a kept code holds for its fact; not with any bit, the length, the value, the channel or the version changed", () => {
  const code = codeOf(PLAIN_CODEBOOK, { channel: 7, value: "Ada Lovelace" });
  const fact: CodableFact = { channel: 7, value: "Ada Lovelace", revision: 1, code };
  assert.equal(keptCode(fact, version), code);
  assert.equal(keptCode(fact, version + 1), undefined);
  assert.equal(keptCode({ ...fact, value: "Ada Lovelacf" }, version), undefined);
  assert.equal(keptCode({ ...fact, channel: 8 }, version), undefined);
  assert.equal(keptCode({ ...fact, channel: 256, label: "USER.name" }, version), undefined);
  const other = { ...code, version: version + 1 };
  assert.equal(keptCode({ ...fact, code: other }, version + 1), undefined);
  const { length, bytes } = code.bits;
  assert.equal(
    keptCode({ ...fact, code: { ...code, bits: { length: length - 1, bytes } } }, version),
    undefined,
  );
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Uint8Array.from(bytes);
    flipped[bit >> 3] ^= 0x80 >> (bit & 7);
    const planted = { ...code, bits: { length, bytes: flipped } };
    assert.equal(keptCode({ ...fact, code: planted }, version), undefined, `bit ${bit}`);
  }
});

test("a value that does not fit in any block keeps a code that is too long for one, and is not tried again", () => {
  const random = seededRandom(1);
  const value = Array.from({ length: 1024 }, () => String.fromCodePoint(0x21 + random.below(94))).join("");
  const code = codeOf(PLAIN_CODEBOOK, { channel: 3, value });
  assert.ok(code.bits.length > bitsMaxAlone({ channel: 3 }));
  assert.equal(code.bits.bytes.length, Math.ceil(code.bits.length / 8));
  assert.equal(keptCode({ channel: 3, value, revision: 1, code }, version), code);
});

test("a value that fits is read back from its code", () => {
  const { bits } = codeOf(PLAIN_CODEBOOK, { channel: 3, value: "RTX 5090" });
  assert.equal(Buffer.from(decodeValue(PLAIN_CODEBOOK, 3, bits)!).toString(), "RTX 5090");
});

test("the code of a fact under a free label is of its name and value, whatever its number and its group are", () => {
  const wife = { channel: 256, label: "FAMILY.wife", value: "Grace", revision: 1 };
  const code = codeOf(PLAIN_CODEBOOK, wife);
  assert.equal(keptCode({ ...wife, code }, version), code);
  assert.equal(keptCode({ ...wife, channel: 999, code }, version), code);
  assert.equal(keptCode({ ...wife, label: "FAMILY.dog", code }, version), undefined);
  assert.equal(keptCode({ ...wife, value: "Ruth", code }, version), undefined);
  assert.equal(keptCode({ ...wife, channel: 40, code }, version), undefined, "once it is declared");
});
