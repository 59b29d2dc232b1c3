/**
 * Codebooks by their version, loaded with the first block of a format version that they read. Version 1 is part of the
 * codec. Version 7 needs the reader model: its module is imported, its weights are fetched, and `onProgress` is called
 * on the way. Nothing else on the website knows about models.
 */

import { type Codebook, codebookVersionOf, PLAIN_CODEBOOK } from "../../codec/codebook.ts";
import { fetchBytes, type OnProgress } from "./fetch-bytes.ts";

/** The address of the weights; its name has a hash, so the build puts it in. */
declare const READER_WEIGHTS_URL: string;

export type CodebookLoader = (onProgress: OnProgress) => Promise<Codebook>;

const CODEBOOK_LOADERS: Readonly<Record<number, CodebookLoader>> = {
  [PLAIN_CODEBOOK.version]: async () => PLAIN_CODEBOOK,
  7: async (onProgress) => {
    const [{ readerCodebook }, weights] = await Promise.all([
      import("../../reader/codebook.ts"),
      fetchBytes(READER_WEIGHTS_URL, onProgress),
    ]);
    return readerCodebook(weights);
  },
};

export class Codebooks {
  readonly #loaders: Readonly<Record<number, CodebookLoader>>;
  readonly #loaded = new Map<number, Promise<Codebook>>();

  constructor(loaders: Readonly<Record<number, CodebookLoader>> = CODEBOOK_LOADERS) {
    this.#loaders = loaders;
  }

  /** The codebooks of these format versions. Versions without a loader are left out. */
  async of(formatVersions: readonly number[], onProgress: OnProgress): Promise<Codebook[]> {
    const versions = new Set(formatVersions.map(codebookVersionOf));
    const known = [...versions].filter((version) => this.#loaders[version] !== undefined);
    return Promise.all(known.map((version) => this.#load(version, onProgress)));
  }

  #load(version: number, onProgress: OnProgress): Promise<Codebook> {
    let loading = this.#loaded.get(version);
    if (loading === undefined) {
      loading = this.#loaders[version](onProgress);
      // A load that failed, for example offline, is repeated the next time.
      loading.catch(() => this.#loaded.delete(version));
      this.#loaded.set(version, loading);
    }
    return loading;
  }
}
