/** The reader's weights at the start of the service: what cannot be used is refused with a sentence that says why. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { CODEBOOK_VERSION, checkReader, loadCodebooks } from "../../../src/blockwork/codebooks.ts";
import { WeightsError } from "../../../src/reader/weights.ts";
import { READER_WEIGHTS } from "../../../src/reader/weights-path.ts";
import { fieldsOf } from "../../fixtures/fields.ts";

const genuine = readFileSync(READER_WEIGHTS);
const FLAWS: readonly (readonly [what: string, bytes: Uint8Array | undefined, says: RegExp])[] = [
  ["missing", undefined, /no such file.*reader\.bin'; install the package again$/],
  ["empty", new Uint8Array(), /only 0 bytes/],
  ["truncated", genuine.subarray(0, 5_000_000), /5000000 bytes instead of/],
  ["damaged", changed(7_000_000, genuine[7_000_000] ^ 1), /checksum/],
  ["of another format", changed(4, 9), /format 9/],
  ["of another model", changed(6, 1), /holds model 1/],
  ["another file altogether", new TextEncoder().encode("x".repeat(100)), /not a weights file/],
];

function changed(at: number, byte: number): Uint8Array {
  const bytes = Uint8Array.from(genuine);
  bytes[at] = byte;
  return bytes;
}

for (const [what, bytes, says] of FLAWS) {
  test(`weights that are ${what}: the start is refused, and the file and the reason are named`, () => {
    const folder = mkdtempSync(join(tmpdir(), "sideband-weights-"));
    try {
      const path = join(folder, "reader.bin");
      if (bytes !== undefined) writeFileSync(path, bytes);
      for (const open of [checkReader, loadCodebooks]) {
        assert.throws(
          () => open(pathToFileURL(path)),
          (error) =>
            error instanceof WeightsError && says.test(error.message) && error.message.includes(path),
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test("the first codebook writes, and that of version 1 still reads", () => {
  assert.deepEqual(fieldsOf(loadCodebooks(), "version"), [CODEBOOK_VERSION, 1]);
});
