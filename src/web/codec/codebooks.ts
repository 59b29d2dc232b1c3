/**
 * Codebooks by their version, loaded with the first block of a format version that they read. Version 1 is part of the
 * codec. Version 7 needs the reader model: its module is imported, its weights are fetched, and `onProgress` is called
 * on the way. Nothing else on the website knows about models.
 */

import { type Codebook, codebookVersionOf, PLAIN_CODEBOOK } from "../../codec/codebook.ts";

/** The address of the weights; its name has a hash, so the build puts it in. */
declare const READER_WEIGHTS_URL: string;

type OnProgress = (loadedBytes: number, totalBytes: number) => void;
type CodebookLoader = (onProgress: OnProgress) => Promise<Codebook>;

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

/** Fetches a large file and reports its progress. */
async function fetchBytes(url: string, onProgress: OnProgress): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) {
    throw new Error(`The reader model could not be loaded (${response.status}).`);
  }
  // The file is served without compression, so content-length is the number of bytes.
  const totalBytes = Number(response.headers.get("content-length") ?? 0);
  const chunks: Uint8Array[] = [];
  let loadedBytes = 0;
  const stream = response.body.getReader();
  for (let part = await stream.read(); !part.done; part = await stream.read()) {
    chunks.push(part.value);
    loadedBytes += part.value.length;
    onProgress(loadedBytes, totalBytes);
  }
  const bytes = new Uint8Array(loadedBytes);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
