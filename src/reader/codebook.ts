/** Format version 3: values are coded by reader model 2, or plainly where that is shorter. */

import type { Codebook } from "../codec/codebook.ts";
import { plainPredictor } from "../codec/plain-predictor.ts";
import { ReaderPredictor } from "./predictor.ts";
import { parseWeights, WeightsError } from "./weights.ts";

export const READER_FORMAT_VERSION = 3;
/** For ever: another model writes another format version. */
const MODEL_VERSION = 2;

export function readerCodebook(weightsFile: Uint8Array): Codebook {
  const reader = new ReaderPredictor(weightsFile);
  requireModel(reader.version);
  return { version: READER_FORMAT_VERSION, predictors: [reader, plainPredictor] };
}

/** Throws a WeightsError where `readerCodebook` would, for a fraction of the work. */
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
