/**
 * The long run behind "exact": npm run test:reader [-- COUNT [SEED]]. First all golden vectors. Then COUNT values
 * (100,000) of all scripts and of up to 1,024 bytes are coded with the reader model and read back; for each tenth, a
 * code with a changed bit is read as well, which must end, within the limit. Prints the count, the symbols and the
 * bits; any difference ends the run.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { VALUE_BYTES_MAX } from "../../src/base/limits.ts";
import { type Codebook, decodeValue, encodeValue } from "../../src/codec/codebook.ts";
import { plainPredictor } from "../../src/codec/plain-predictor.ts";
import { BoundedReader, READER_FORMAT_VERSION } from "../../src/reader/codebook.ts";
import { anyValue, kernelReader } from "../unit/reader/reader-model.ts";
import { fingerprint, readVectors } from "./vectors.ts";

const count = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? 1);
const reader = kernelReader();
const bounded = new BoundedReader(reader);
// The model alone, so that every value is coded by it, however badly; then as a block would choose.
const alone: Codebook = { version: READER_FORMAT_VERSION, predictors: [bounded] };
const chosen: Codebook = { version: READER_FORMAT_VERSION, predictors: [bounded, plainPredictor] };
const { vectors } = readVectors();
for (const { channel, value, hash } of vectors)
  assert.equal(fingerprint(reader, channel, value), hash, value);
console.log(`${vectors.length} golden vectors hold`);
const totals = { values: 0, bytes: 0, bits: 0 };

fc.assert(
  fc.property(
    fc.integer({ min: 0, max: 39 }),
    // Mostly short: what can differ from machine to machine differs at the first symbol or never.
    fc.oneof(
      { weight: 900, arbitrary: anyValue(8) },
      { weight: 98, arbitrary: anyValue(40) },
      { weight: 2, arbitrary: anyValue(VALUE_BYTES_MAX) },
    ),
    fc.nat(),
    (channel, value, flip) => {
      const bits = encodeValue(alone, channel, value);
      assert.deepEqual(decodeValue(alone, channel, bits), value);
      if (totals.values % 10 === 0) {
        const bytes = bits.bytes.slice();
        bytes[(flip >> 3) % bytes.length] ^= 1 << (flip & 7);
        const other = decodeValue(alone, channel, { ...bits, bytes });
        assert.ok(other === undefined || other.length <= VALUE_BYTES_MAX);
        const shorter = encodeValue(chosen, channel, value);
        assert.deepEqual(decodeValue(chosen, channel, shorter), value);
      }
      totals.values++;
      totals.bytes += value.length;
      totals.bits += bits.length;
      if (totals.values % 1000 === 0) console.log(`${totals.values} values`);
    },
  ),
  { numRuns: count, seed },
);
console.log(
  `${totals.values} values of ${totals.bytes} bytes came back from ${totals.bits} bits; none wrong`,
);
