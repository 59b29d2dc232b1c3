/**
 * The codebooks of reader model 2, each with the plain predictor for values that it codes shorter. Blocks are written in
 * format version 4. Version 3, in which the model coded every symbol of a value, is still read. Both share one model.
 */

import type { Codebook } from "../codec/codebook.ts";
import { plainPredictor } from "../codec/plain-predictor.ts";
import { BoundedReader } from "./bounded-predictor.ts";
import { ReaderPredictor } from "./predictor.ts";
import { parseWeights, WeightsError } from "./weights.ts";

/** The version that blocks are written in. */
export const READER_FORMAT_VERSION = 4;
/** Never changes: another model needs another format version. */
const MODEL_VERSION = 2;

/** The codebook that blocks are written with comes first. */
export function readerCodebooks(weightsFile: Uint8Array): readonly [Codebook, Codebook] {
  const reader = new ReaderPredictor(weightsFile);
  requireModel(reader.version);
  return [
    { version: READER_FORMAT_VERSION, predictors: [new BoundedReader(reader), plainPredictor] },
    { version: 3, predictors: [reader, plainPredictor] },
  ];
}

/** Throws a WeightsError where `readerCodebooks` would, for a fraction of the work. */
export function checkWeights(weightsFile: Uint8Array): void {
  requireModel(parseWeights(weightsFile).version);
}

function requireModel(version: number): void {
  if (version !== MODEL_VERSION) {
    throw new WeightsError(
      `the weights file holds model ${version}; this program reads with model ${MODEL_VERSION}`,
    );
  }
}
