/**
 * The codebooks of this release and their reader model. The first codebook writes, all of them read. Another reader
 * model is added here and nowhere else: docs/FORMAT.md says which format version is read by which model.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { type Codebook, PLAIN_CODEBOOK } from "../codec/codebook.ts";
import { checkWeights, READER_FORMAT_VERSION, readerCodebook } from "../reader/codebook.ts";
import { type Checksum, WeightsError } from "../reader/weights.ts";
import { READER_WEIGHTS } from "../reader/weights-path.ts";

/** The version that new blocks are written with: known without loading the model. */
export const CODEBOOK_VERSION = READER_FORMAT_VERSION;

/** Every codebook there is, with a reader model of their own: about 22 MiB. */
export function loadCodebooks(weights: URL = READER_WEIGHTS): readonly [Codebook, ...Codebook[]] {
  const reader = openWeights(weights, (bytes, checksum) => readerCodebook(bytes, { checksum }));
  return [reader, PLAIN_CODEBOOK];
}

/** Throws a WeightsError with a sentence for the operator where the reader cannot work. */
export function checkReader(weights: URL = READER_WEIGHTS): void {
  openWeights(weights, checkWeights);
}

/** With Node's own checksum: a tenth of the time, at each start and in each thread. */
function openWeights<T>(url: URL, open: (bytes: Uint8Array, checksum: Checksum) => T): T {
  const path = fileURLToPath(url);
  try {
    return open(readFileSync(path), crc32);
  } catch (error) {
    if (!(error instanceof WeightsError || (error instanceof Error && "syscall" in error))) throw error;
    const reason = error.message.replace(/\.$/, "");
    throw new WeightsError(
      `the reader's weights ${path} cannot be used: ${reason}; install the package again`,
    );
  }
}
