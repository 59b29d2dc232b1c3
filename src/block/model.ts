/**
 * The reader model, which makes values shorter. Its weights (8 MB) are loaded with the first block that
 * needs them, and once for each place that they come from.
 */

import type { Codebook } from "../codec/codebook.ts";
import { readerCodebook } from "../reader/codebook.ts";
import { BlockError } from "./errors.ts";

/** Where the weights are: their address, or their bytes. */
export type ModelSource = string | URL | ArrayBuffer | Uint8Array;

export interface ModelOptions {
  /**
   * The weights of the reader model, `models/reader-5.bin` of this package. Default: that file, where there are files. In a
   * browser and in a worker: the address that your application serves it at, or its bytes.
   */
  model?: ModelSource | undefined;
  /**
   * The compiled kernel, where code must not be compiled from bytes: in Cloudflare Workers,
   * `import kernel from "@sideband/block/kernel.wasm"`.
   */
  kernel?: WebAssembly.Module | undefined;
}

const byAddress = new Map<string, Promise<Codebook>>();
const byBuffer = new WeakMap<ArrayBufferLike, Promise<Codebook>>();

export function loadReader({ model, kernel }: ModelOptions): Promise<Codebook> {
  const loading = () => load(model, kernel);
  if (model instanceof ArrayBuffer) return once(byBuffer, model, loading);
  if (model instanceof Uint8Array) return once(byBuffer, model.buffer, loading);
  return once(byAddress, String(model), loading);
}

function once<P>(
  loads: {
    get(place: P): Promise<Codebook> | undefined;
    set(place: P, loading: Promise<Codebook>): unknown;
    delete(place: P): unknown;
  },
  place: P,
  load: () => Promise<Codebook>,
): Promise<Codebook> {
  const known = loads.get(place);
  if (known !== undefined) return known;
  const loading = load();
  loads.set(place, loading);
  // A load that failed, for example offline, is tried again the next time.
  loading.catch(() => loads.delete(place));
  return loading;
}

async function load(
  model: ModelSource | undefined,
  kernel: WebAssembly.Module | undefined,
): Promise<Codebook> {
  try {
    // Loaded only where it is needed: bundles and workers do not know where they are.
    const source = model ?? (await import("../reader/weights-path.ts")).READER_WEIGHTS;
    const bytes = typeof source === "string" || source instanceof URL ? await bytesAt(source) : source;
    return readerCodebook(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes), { kernel });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BlockError(
      "no_model",
      `the reader model cannot be loaded: ${reason}; say where it is (\`model\`), or seal with \`compress: false\``,
      { cause },
    );
  }
}

async function bytesAt(address: string | URL): Promise<Uint8Array> {
  const url = new URL(address, globalThis.location?.href);
  // Not an import: bundlers for browsers and workers would look for it.
  const files = url.protocol === "file:" ? globalThis.process?.getBuiltinModule?.("node:fs") : undefined;
  if (files !== undefined) return files.promises.readFile(url);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
