/** The codebooks of this release, the one that writes first. The only place to plug a new reader model in. */

import { type Codebook, PLAIN_CODEBOOK } from "../codec/codebook.ts";

/** The version that new blocks are written with: known without loading any model. */
export const CODEBOOK_VERSION = PLAIN_CODEBOOK.version;

/** Whether computing a code is dear enough for the code to be kept with its fact. */
export const KEEPS_CODES = false;

export async function loadCodebooks(): Promise<readonly Codebook[]> {
  return [PLAIN_CODEBOOK];
}
