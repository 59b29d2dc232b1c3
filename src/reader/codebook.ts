/** Format version 2: values are coded by the reader model, or plainly where that is shorter. */

import type { Codebook } from "../codec/codebook.ts";
import { plainPredictor } from "../codec/plain-predictor.ts";
import { ReaderPredictor } from "./predictor.ts";

export const READER_FORMAT_VERSION = 2;

export function readerCodebook(weightsFile: Uint8Array): Codebook {
  return { version: READER_FORMAT_VERSION, predictors: [new ReaderPredictor(weightsFile), plainPredictor] };
}
