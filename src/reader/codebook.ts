/**
 * The codebooks of reader model 2, plain where that is shorter. Format version 4 writes; version 3, in which the model
 * coded all symbols of a value however many, is still read. Both share one model.
 */

import type { Codebook } from "../codec/codebook.ts";
import { plainPredictor } from "../codec/plain-predictor.ts";
import { BoundedReader } from "./bounded-predictor.ts";
import { ReaderPredictor } from "./predictor.ts";
import { parseWeights, WeightsError } from "./weights.ts";

/** The version that writes. */
export const READER_FORMAT_VERSION = 4;
/** For ever: another model writes another format version. */
const MODEL_VERSION = 2;

/** The one that writes first. */
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
