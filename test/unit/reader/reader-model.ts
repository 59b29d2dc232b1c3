/** The model that the tests read, loaded once, and values of many kinds to read with it. */

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { PlainOperations } from "../../../bench/plain-operations.ts";
import { ReaderPredictor } from "../../../src/reader/predictor.ts";
import { READER_WEIGHTS } from "../../../src/reader/weights-path.ts";

export const WEIGHTS_FILE = readFileSync(READER_WEIGHTS);

let kernel: ReaderPredictor | undefined;
let plain: ReaderPredictor | undefined;

export function kernelReader(): ReaderPredictor {
  kernel ??= new ReaderPredictor(WEIGHTS_FILE);
  return kernel;
}

/** The oracle: the same model without WebAssembly, about a hundred times slower. */
export function plainReader(): ReaderPredictor {
  plain ??= new ReaderPredictor(WEIGHTS_FILE, { operations: new PlainOperations() });
  return plain;
}

const SCRIPTS = [
  [0x20, 0x7e],
  [0xa1, 0x24f],
  [0x370, 0x3ff],
  [0x400, 0x4ff],
  [0x590, 0x6ff],
  [0x900, 0x97f],
  [0xe00, 0xe7f],
  [0x3040, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0x1f300, 0x1f6ff],
] as const;

/** Text of one script, or of several mixed. */
const text = (lengthMax: number) =>
  fc
    .array(
      fc
        .constantFrom(...SCRIPTS)
        .chain(([low, high]) =>
          fc
            .array(fc.integer({ min: low, max: high }), { minLength: 1, maxLength: lengthMax })
            .map((points) => String.fromCodePoint(...points)),
        ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => new TextEncoder().encode(parts.join(" ")));

/** Values of 1 to `bytesMax` bytes: any bytes, texts of all scripts, words. */
export const anyValue = (bytesMax: number) =>
  fc
    .oneof(
      fc.uint8Array({ minLength: 1, maxLength: bytesMax }),
      text(bytesMax),
      fc.lorem({ maxCount: 12 }).map((words) => new TextEncoder().encode(words)),
    )
    .map((bytes) => bytes.slice(0, bytesMax));
