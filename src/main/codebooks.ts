/**
 * The codebooks of this release, the one that writes first, and the reader model behind it. The only place to plug
 * another reader model in: docs/FORMAT.md says which format version is read by which model.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Codebook, PLAIN_CODEBOOK } from "../codec/codebook.ts";
import { plainPredictor } from "../codec/plain-predictor.ts";
import { ReaderPredictor } from "../reader/predictor.ts";
import { parseWeights, WeightsError } from "../reader/weights.ts";
import { READER_WEIGHTS } from "../reader/weights-path.ts";

/** The version that new blocks are written with: known without loading the model. */
export const CODEBOOK_VERSION = 2;

/** The model that version 2 is written with, for ever: another model means another format version. */
const MODEL_VERSION = 1;

/** Whether computing a code is dear enough for the code to be kept with its fact. */
export const KEEPS_CODES = true;

/** Every codebook there is, with a reader model of its own: about 22 MiB. */
export function loadCodebooks(weights: URL = READER_WEIGHTS): readonly [Codebook, ...Codebook[]] {
  const reader = openWeights(weights, (bytes) => new ReaderPredictor(bytes));
  return [{ version: CODEBOOK_VERSION, predictors: [reader, plainPredictor] }, PLAIN_CODEBOOK];
}

/** Throws a WeightsError with a sentence for the operator where the reader cannot work. */
export function checkReader(weights: URL = READER_WEIGHTS): void {
  openWeights(weights, parseWeights);
}

function openWeights<T extends { readonly version: number }>(url: URL, open: (bytes: Uint8Array) => T): T {
  const path = fileURLToPath(url);
  try {
    const opened = open(readFileSync(path));
    if (opened.version === MODEL_VERSION) return opened;
    throw new WeightsError(
      `it holds model ${opened.version}, and this release reads with model ${MODEL_VERSION}`,
    );
  } catch (error) {
    if (!(error instanceof WeightsError || (error instanceof Error && "syscall" in error))) throw error;
    throw new WeightsError(
      `the reader's weights ${path} cannot be used: ${error.message}; install the package again`,
    );
  }
}
