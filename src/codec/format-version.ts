/**
 * Format versions, as they stand on carrier 0. A codebook has two: its own number for blocks with standard channels
 * only, and 16 more where the directory goes on after channel 39. Values are coded the same in both.
 */

import { assertInteger } from "../base/assert.ts";
import type { Codebook } from "./codebook.ts";

const OWN_CHANNELS = 16;
/** So that version · 256 + key id is a symbol, below 7681, in both forms. */
export const CODEBOOK_VERSION_MAX = 13;

export function formatVersionOf({ version }: Codebook, hasOwnChannels: boolean): number {
  assertInteger(version, 0, CODEBOOK_VERSION_MAX, "codebook version");
  return hasOwnChannels ? version + OWN_CHANNELS : version;
}

/** Whether the directory of a block of this version goes on after channel 39. */
export function hasOwnDirectory(formatVersion: number): boolean {
  return formatVersion >= OWN_CHANNELS;
}

/** The version of the codebook that reads blocks of this format version. */
export function codebookVersionOf(formatVersion: number): number {
  return formatVersion % OWN_CHANNELS;
}

/** The codebook that reads blocks of this format version. */
export function findCodebook<C extends Codebook>(
  codebooks: readonly C[],
  formatVersion: number,
): C | undefined {
  return codebooks.find(({ version }) => version === codebookVersionOf(formatVersion));
}

/** The format versions that these codebooks read. */
export function knownVersions(codebooks: readonly Codebook[]): number[] {
  return [false, true].flatMap((hasOwn) => codebooks.map((book) => formatVersionOf(book, hasOwn)));
}
