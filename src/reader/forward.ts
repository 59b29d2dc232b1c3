/**
 * The forward pass: the label and the symbols of a value in, integer frequencies of the next symbol out.
 *
 * A decoder-only transformer (training/model.py): embedding; per layer a mixture with the embedding, RMS norm, a
 * short causal convolution, attention over the last `window` positions with rotary positions, and a feed-forward
 * with squared ReLU; the embedding again as output. Positions are computed in batches of up to 32, one after the
 * other or all at once: each is computed by the same operations on the same numbers, so the result is the same to
 * the last bit. Arrays are named with their shapes; C is the positions of a batch, W the width.
 */

import { assert, assertInteger } from "../base/assert.ts";
import { VALUE_BYTES_MAX } from "../base/limits.ts";
import type { Matrix, Operations } from "./operations.ts";
import type { ModelShape, StoredLayer, StoredMatrix, Weights } from "./weights.ts";

/** Positions computed together at most. */
export const BATCH_MAX = 32;
const NORM_EPSILON = 1e-6;
// biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard leaves Math.LOG2E's last bits open
const LOG2E = 1.4426950408889634;
/** Queries and keys are integers in units of 1/4096. */
const HEAD_SCALE = 4096;
/** The label, and a symbol for each byte. */
const POSITIONS_MAX = 1 + VALUE_BYTES_MAX;

interface Layer {
  readonly mix: Float64Array;
  readonly taps: Float64Array; // [2][taps][W]
  readonly factors: Float64Array; // [heads], score in bits of an integer product
  readonly query: Matrix;
  readonly key: Matrix;
  readonly value: Matrix;
  readonly output: Matrix;
  readonly expand: Matrix;
  readonly contract: Matrix;
  readonly keys: Int16Array; // [slots][W], a ring
  readonly values: Float64Array; // [slots][W], a ring
  readonly before: readonly [Float64Array, Float64Array]; // [taps][W], the normed rows before the batch
}

/** What the operations must be able to hold for a model of this shape, in bytes. */
export function forwardBytes({
  layers,
  width,
  heads,
  hidden,
  vocabulary,
  labels,
  window,
  taps,
}: ModelShape): number {
  const slots = window + BATCH_MAX;
  const matrices = (vocabulary + labels) * (width + 8) + layers * (4 * width * width + 2 * width * hidden);
  const perLayer = 8 * (5 * width + hidden + heads + 4 * taps * width + 2) + slots * width * (2 + 8);
  const batch = BATCH_MAX * (8 * (8 * width + hidden + vocabulary) + 4 * width + 4 * vocabulary);
  return matrices + layers * perLayer + batch + 65536;
}

export class Forward {
  readonly shape: ModelShape;
  readonly #operations: Operations;
  readonly #slots: number;
  readonly #layers: Layer[];
  readonly #embed: Matrix;
  readonly #turnCos: Float64Array; // [positions][W / heads / 2]
  readonly #turnSin: Float64Array;
  readonly #x: Float64Array; // [C][W]
  readonly #x0: Float64Array; // [C][W]
  readonly #normed: Float64Array; // [taps + C][W]
  readonly #u: Float64Array; // [C][W]
  readonly #out: Float64Array; // [C][W]
  readonly #queries: Int16Array; // [C][W]
  readonly #hidden: Float64Array; // [C][hidden]
  readonly #scores: Float64Array; // [C][vocabulary]
  readonly #frequencies: Uint32Array; // [C][vocabulary]
  #position = 0;

  constructor(weights: Weights, operations: Operations) {
    const { shape } = weights;
    const { width, hidden, vocabulary, labels, window, taps } = shape;
    this.shape = shape;
    this.#operations = operations;
    this.#slots = window + BATCH_MAX;
    this.#embed = this.#stored(weights.embed, vocabulary + labels, width);
    this.#layers = weights.layers.map((layer) => this.#layer(layer));
    [this.#turnCos, this.#turnSin] = turns(weights.turnCos, weights.turnSin);
    this.#x = operations.doubles(BATCH_MAX * width);
    this.#x0 = operations.doubles(BATCH_MAX * width);
    this.#normed = operations.doubles((taps + BATCH_MAX) * width);
    this.#u = operations.doubles(BATCH_MAX * width);
    this.#out = operations.doubles(BATCH_MAX * width);
    this.#queries = operations.shorts(BATCH_MAX * width);
    this.#hidden = operations.doubles(BATCH_MAX * hidden);
    this.#scores = operations.doubles(BATCH_MAX * vocabulary);
    this.#frequencies = operations.counts(BATCH_MAX * vocabulary);
  }

  /** Multiply-adds of one position, attention over itself alone. */
  get multiplyAdds(): number {
    const { layers, width, hidden, vocabulary } = this.shape;
    return layers * (4 * width * width + 2 * width * hidden) + vocabulary * width;
  }

  /** Forgets the value read so far. */
  restart(): void {
    this.#position = 0;
    for (const layer of this.#layers) for (const rows of layer.before) rows.fill(0);
  }

  /** The row of a channel's label in the embedding. */
  labelRow(channel: number): number {
    assertInteger(channel, 0, this.shape.labels - 1, "channel");
    return this.shape.vocabulary + channel;
  }

  /**
   * Reads the rows given (symbols, or a label first) and returns the frequencies of the symbol after each of them:
   * [rows][vocabulary]. The array is the pass's own; it holds until the next call.
   */
  read(rows: readonly number[]): Uint32Array {
    const { width, vocabulary } = this.shape;
    const n = rows.length;
    assert(n >= 1 && n <= BATCH_MAX, `a batch has 1 to ${BATCH_MAX} positions`);
    assert(this.#position + n <= POSITIONS_MAX, "a value has no more symbols than bytes");
    rows.forEach((row, i) => {
      for (let j = 0; j < width; j++) this.#x0[i * width + j] = this.#embed.weights[row * width + j];
      norm(this.#x0, i * width, width, this.#x0, i * width);
    });
    this.#x.set(this.#x0.subarray(0, n * width));
    for (const layer of this.#layers) this.#readLayer(layer, n);
    for (let i = 0; i < n; i++) norm(this.#x, i * width, width, this.#u, i * width);
    const output = { ...this.#embed, rows: vocabulary };
    this.#operations.product(output, this.#u, n, LOG2E, this.#scores);
    for (let i = 0; i < n; i++)
      this.#operations.frequencies(
        this.#scores.subarray(i * vocabulary, (i + 1) * vocabulary),
        this.#frequencies.subarray(i * vocabulary, (i + 1) * vocabulary),
      );
    this.#position += n;
    return this.#frequencies.subarray(0, n * vocabulary);
  }

  #readLayer(layer: Layer, n: number): void {
    const { width } = this.shape;
    const [x, out] = [this.#x, this.#out];
    const [a, b] = layer.mix;
    for (let i = 0; i < n * width; i++) x[i] = a * x[i] + b * this.#x0[i];
    this.#convolve(layer, 0, n);
    this.#attention(layer, n);
    for (let i = 0; i < n * width; i++) x[i] += out[i];
    this.#convolve(layer, 1, n);
    const h = this.#hidden;
    this.#operations.product(layer.expand, this.#u, n, 1, h);
    for (let i = 0; i < n * this.shape.hidden; i++) h[i] = h[i] > 0 ? h[i] * h[i] : 0;
    this.#operations.product(layer.contract, h, n, 1, out);
    for (let i = 0; i < n * width; i++) x[i] += out[i];
  }

  /** u = normed x, plus the normed rows before it times their taps. */
  #convolve(layer: Layer, site: 0 | 1, n: number): void {
    const { width, taps } = this.shape;
    const [normed, before] = [this.#normed, layer.before[site]];
    normed.set(before);
    for (let i = 0; i < n; i++) norm(this.#x, i * width, width, normed, (taps + i) * width);
    for (let i = 0; i < n * width; i++) {
      let sum = normed[taps * width + i];
      for (let tap = 0; tap < taps; tap++)
        sum += normed[(taps - 1 - tap) * width + i] * layer.taps[(site * taps + tap) * width + (i % width)];
      this.#u[i] = sum;
    }
    before.set(normed.subarray(n * width, (n + taps) * width));
  }

  #attention(layer: Layer, n: number): void {
    const { width, window } = this.shape;
    const slots = this.#slots;
    this.#operations.product(layer.key, this.#u, n, 1, this.#out);
    for (let i = 0; i < n; i++) this.#headIntegers(i, layer.keys, ((this.#position + i) % slots) * width);
    this.#operations.product(layer.value, this.#u, n, 1, this.#out);
    for (let i = 0; i < n; i++)
      layer.values.set(
        this.#out.subarray(i * width, (i + 1) * width),
        ((this.#position + i) % slots) * width,
      );
    this.#operations.product(layer.query, this.#u, n, 1, this.#out);
    for (let i = 0; i < n; i++) this.#headIntegers(i, this.#queries, i * width);
    for (let i = 0; i < n; i++) {
      const position = this.#position + i;
      const oldest = Math.max(0, position + 1 - window);
      this.#operations.attend(
        this.#queries.subarray(i * width, (i + 1) * width),
        {
          keys: layer.keys,
          values: layer.values,
          slots,
          first: oldest % slots,
          count: position + 1 - oldest,
        },
        layer.factors,
        this.#u.subarray(i * width, (i + 1) * width),
      );
    }
    this.#operations.product(layer.output, this.#u, n, 1, this.#out);
  }

  /** Row i of #out: normed per head, turned by its position, rounded, written to `to` from `start` on. */
  #headIntegers(i: number, to: Int16Array, start: number): void {
    const { width, heads } = this.shape;
    const size = width / heads;
    const half = size / 2;
    const turn = (this.#position + i) * half;
    for (let head = 0; head < heads; head++) {
      const from = i * width + head * size;
      norm(this.#out, from, size, this.#out, from);
      for (let j = 0; j < half; j++) {
        const [p, q] = [this.#out[from + j], this.#out[from + half + j]];
        const [cos, sin] = [this.#turnCos[turn + j], this.#turnSin[turn + j]];
        const at = start + head * size + j;
        to[at] = Math.floor(HEAD_SCALE * (p * cos - q * sin) + 0.5);
        to[at + half] = Math.floor(HEAD_SCALE * (q * cos + p * sin) + 0.5);
      }
    }
  }

  #stored({ weights, scales }: StoredMatrix, rows: number, columns: number): Matrix {
    const own = this.#operations.bytes(rows * columns);
    own.set(weights);
    return { rows, columns, weights: own, scales: this.#doubles(scales) };
  }

  #doubles(from: ArrayLike<number>): Float64Array {
    const own = this.#operations.doubles(from.length);
    own.set(from);
    return own;
  }

  #layer(stored: StoredLayer): Layer {
    const { width, hidden, taps } = this.shape;
    return {
      mix: this.#doubles(stored.mix),
      taps: this.#doubles(stored.taps),
      factors: this.#doubles(Array.from(stored.gain, (gain) => (gain * LOG2E) / (HEAD_SCALE * HEAD_SCALE))),
      query: this.#stored(stored.query, width, width),
      key: this.#stored(stored.key, width, width),
      value: this.#stored(stored.value, width, width),
      output: this.#stored(stored.output, width, width),
      expand: this.#stored(stored.expand, hidden, width),
      contract: this.#stored(stored.contract, width, hidden),
      keys: this.#operations.shorts(this.#slots * width),
      values: this.#operations.doubles(this.#slots * width),
      before: [this.#operations.doubles(taps * width), this.#operations.doubles(taps * width)],
    };
  }
}

/** RMS norm: to = from × 1 / sqrt(mean of squares + ε), the squares summed in order. */
function norm(from: Float64Array, start: number, length: number, to: Float64Array, at: number): void {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += from[start + i] * from[start + i];
  const factor = 1 / Math.sqrt(sum / length + NORM_EPSILON);
  for (let i = 0; i < length; i++) to[at + i] = from[start + i] * factor;
}

/** Cosine and sine of every position's turn, by turning the one before once more: [positions][pairs] each. */
function turns(cos1: Float64Array, sin1: Float64Array): [Float64Array, Float64Array] {
  const pairs = cos1.length;
  const cos = new Float64Array(POSITIONS_MAX * pairs).fill(1, 0, pairs);
  const sin = new Float64Array(POSITIONS_MAX * pairs);
  for (let i = pairs; i < cos.length; i++) {
    const [c, s, j] = [cos[i - pairs], sin[i - pairs], i % pairs];
    cos[i] = c * cos1[j] - s * sin1[j];
    sin[i] = s * cos1[j] + c * sin1[j];
  }
  return [cos, sin];
}
