/**
 * The weights file: what training/weights_file.py writes. Little-endian, sections padded to 16 bytes:
 *   header  "SBRM", u16 format, u16 model version, u16 layers, width, heads, hidden, vocabulary, labels, window,
 *           taps, u32 merges, u32 length of the rest, u32 CRC-32 of the rest
 *   merges  u16 pairs
 *   turn    f64 cosine, then sine, of one position's turn for each rotary pair
 *   embed   f32 scale a row, int8 rows: the symbols, then the labels
 *   layer   f32 mix (2), gain (heads), taps (2 × taps × width), scales of q k v o, fc, proj; int8 q k v o, fc, proj
 * A file that is not whole, or not of this format, is refused with a sentence that says why.
 */

import { crc32 } from "../base/bytes.ts";
import { OperatorError } from "../base/errors.ts";

export interface ModelShape {
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly hidden: number;
  readonly vocabulary: number;
  readonly labels: number;
  /** Positions that attention looks back on, the current one included. */
  readonly window: number;
  /** Positions before the current one that the short convolution sees. */
  readonly taps: number;
}

/** An int8 matrix, row by row, and the factor of each row. */
export interface StoredMatrix {
  readonly weights: Int8Array;
  readonly scales: Float32Array;
}

export interface StoredLayer {
  readonly mix: Float32Array;
  readonly gain: Float32Array;
  readonly taps: Float32Array;
  readonly query: StoredMatrix;
  readonly key: StoredMatrix;
  readonly value: StoredMatrix;
  readonly output: StoredMatrix;
  readonly expand: StoredMatrix;
  readonly contract: StoredMatrix;
}

export interface Weights {
  readonly version: number;
  readonly shape: ModelShape;
  readonly merges: Uint16Array;
  readonly turnCos: Float64Array;
  readonly turnSin: Float64Array;
  readonly embed: StoredMatrix;
  readonly layers: readonly StoredLayer[];
}

/** A weights file that cannot be used. */
export class WeightsError extends OperatorError {
  override name = "WeightsError";
}

const MAGIC = "SBRM";
const FORMAT = 1;
const HEADER_BYTES = 48;
const ALIGNMENT = 16;

/** CRC-32 of some bytes. */
export type Checksum = (bytes: Uint8Array) => number;

/** @param checksum a faster one, where the program has it */
export function parseWeights(file: Uint8Array, checksum: Checksum = crc32): Weights {
  if (file.length < HEADER_BYTES) throw new WeightsError(`the weights file has only ${file.length} bytes`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const magic = String.fromCharCode(...file.subarray(0, 4));
  if (magic !== MAGIC) throw new WeightsError("this is not a weights file of the reader model");
  const format = view.getUint16(4, true);
  if (format !== FORMAT)
    throw new WeightsError(`the weights file has format ${format}; this program reads format ${FORMAT}`);
  const field = (index: number) => view.getUint16(8 + 2 * index, true);
  const [layers, width, heads, hidden, vocabulary, labels, window, taps] = [0, 1, 2, 3, 4, 5, 6, 7].map(
    field,
  );
  const mergeCount = view.getUint32(24, true);
  const length = view.getUint32(28, true);
  if (file.length !== HEADER_BYTES + length)
    throw new WeightsError(`the weights file has ${file.length} bytes instead of ${HEADER_BYTES + length}`);
  // Sections are views into the file's own bytes, copied only where those are not aligned.
  const body = (file.byteOffset % ALIGNMENT === 0 ? file : new Uint8Array(file)).subarray(HEADER_BYTES);
  if (checksum(body) !== view.getUint32(32, true))
    throw new WeightsError("the weights file is damaged: its checksum does not match");
  if (vocabulary !== 257 + mergeCount || width % (2 * heads) !== 0 || width % 16 !== 0 || hidden % 16 !== 0)
    throw new WeightsError("the shapes in the weights file do not fit together");

  const sections = new Sections(body);
  const shape = { layers, width, heads, hidden, vocabulary, labels, window, taps };
  const merges = sections.take(Uint16Array, 2 * mergeCount);
  const half = width / heads / 2;
  const turn = sections.take(Float64Array, 2 * half);
  const rows = vocabulary + labels;
  const embed = matrix(sections.take(Float32Array, rows), sections.take(Int8Array, rows * width));
  const stored = Array.from({ length: layers }, () => takeLayer(sections, shape));
  if (!sections.atEnd) throw new WeightsError("the weights file has more sections than its shapes call for");
  return {
    version: view.getUint16(6, true),
    shape,
    merges,
    turnCos: turn.subarray(0, half),
    turnSin: turn.subarray(half),
    embed,
    layers: stored,
  };
}

interface TypedArray<T> {
  new (buffer: ArrayBufferLike, offset: number, count: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

/** The sections of a file's body, one after another. */
class Sections {
  readonly #body: Uint8Array;
  #at = 0;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  take<T>(type: TypedArray<T>, count: number): T {
    const start = this.#body.byteOffset + this.#at;
    this.#at += Math.ceil((count * type.BYTES_PER_ELEMENT) / ALIGNMENT) * ALIGNMENT;
    if (this.#at > this.#body.length) throw new WeightsError("the weights file ends before its last section");
    return new type(this.#body.buffer, start, count);
  }

  get atEnd(): boolean {
    return this.#at === this.#body.length;
  }
}

function takeLayer(sections: Sections, { width, heads, hidden, taps }: Weights["shape"]): StoredLayer {
  const floats = sections.take(Float32Array, 2 + heads + 2 * taps * width + 5 * width + hidden);
  let from = 0;
  const next = (count: number) => {
    from += count;
    return floats.subarray(from - count, from);
  };
  const [mix, gain, tapped] = [next(2), next(heads), next(2 * taps * width)];
  const attentionScales = [next(width), next(width), next(width), next(width)];
  const [expandScales, contractScales] = [next(hidden), next(width)];
  const attention = sections.take(Int8Array, 4 * width * width);
  const [query, key, value, output] = attentionScales.map((scales, n) =>
    matrix(scales, attention.subarray(n * width * width, (n + 1) * width * width)),
  );
  const expand = matrix(expandScales, sections.take(Int8Array, hidden * width));
  const contract = matrix(contractScales, sections.take(Int8Array, width * hidden));
  return { mix, gain, taps: tapped, query, key, value, output, expand, contract };
}

const matrix = (scales: Float32Array, weights: Int8Array): StoredMatrix => ({ scales, weights });
