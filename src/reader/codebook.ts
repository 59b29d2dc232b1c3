/**
 * The codebook of reader model 5, with the plain predictor for values that it codes shorter: format version 7. Blocks of
 * versions 3 to 6 need the weights of older models, which were never released: such blocks are refused.
 */

import type { Codebook } from "../codec/codebook.ts";
import { plainPredictor } from "../codec/plain-predictor.ts";
import { BoundedReader } from "./bounded-predictor.ts";
import { ReaderPredictor } from "./predictor.ts";
import { type Checksum, parseWeights, WeightsError } from "./weights.ts";

/** The version that blocks are written in. */
export const READER_FORMAT_VERSION = 7;
/** Never changes: another model needs another format version. */
const MODEL_VERSION = 5;

/** @param options `kernel`: the compiled kernel, where a program may not compile it */
export function readerCodebook(
  weightsFile: Uint8Array,
  options: { checksum?: Checksum | undefined; kernel?: WebAssembly.Module | undefined } = {},
): Codebook {
  const reader = new ReaderPredictor(weightsFile, options);
  requireModel(reader.version);
  return { version: READER_FORMAT_VERSION, predictors: [new BoundedReader(reader), plainPredictor] };
}

/** Throws a WeightsError where `readerCodebook` would, for a fraction of the work. */
export function checkWeights(weightsFile: Uint8Array, checksum?: Checksum): void {
  requireModel(parseWeights(weightsFile, checksum).version);
}

function requireModel(version: number): void {
  if (version !== MODEL_VERSION) {
    throw new WeightsError(
      `the weights file holds model ${version}; this program reads with model ${MODEL_VERSION}`,
    );
  }
}
