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
import { CHANNEL_COUNT_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import {
  type Context,
  HEAD_SCALE,
  type Matrix,
  type Operations,
  type Ring,
  type Turns,
} from "./operations.ts";
import type { ModelShape, StoredLayer, StoredMatrix, Weights } from "./weights.ts";

/** The most positions that are computed together. */
export const BATCH_MAX = 32;
// biome-ignore lint/suspicious/noApproximativeNumericConstant: the standard leaves Math.LOG2E's last bits open
const LOG2E = 1.4426950408889634;
/** The label, and a symbol for each byte. */
const POSITIONS_MAX = 1 + VALUE_BYTES_MAX;

interface Layer {
  readonly mix: Float64Array;
  readonly taps: readonly [Float64Array, Float64Array]; // [taps][W]
  readonly query: Matrix;
  readonly key: Matrix;
  readonly value: Matrix;
  readonly output: Matrix;
  readonly expand: Matrix;
  readonly contract: Matrix; // by column, because three quarters of what it is multiplied with are zero
  readonly context: Context;
  readonly before: readonly [Float64Array, Float64Array]; // [taps][W], the normed rows before the batch
}

/** The bytes that the operations need for a model of this shape. */
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
  const turns = (8 * POSITIONS_MAX * width) / heads;
  return matrices + layers * perLayer + batch + turns + 65536;
}

export class Forward {
  readonly shape: ModelShape;
  readonly #operations: Operations;
  readonly #slots: number;
  readonly #layers: Layer[];
  readonly #embed: Matrix;
  readonly #turns: Turns;
  readonly #x: Float64Array; // [C][W]
  readonly #x0: Float64Array; // [C][W]
  readonly #normed: Float64Array; // [taps + C][W]
  readonly #u: Float64Array; // [C][W]
  readonly #out: Float64Array; // [C][W]
  readonly #queries: Ring<Int16Array>;
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
    this.#queries = this.#ring(BATCH_MAX, (n) => operations.shorts(n));
    this.#layers = weights.layers.map((layer) => this.#layer(layer));
    const { cos, sin } = turnsOf(weights.turnCos, weights.turnSin);
    this.#turns = { cos: this.#doubles(cos), sin: this.#doubles(sin) };
    this.#x = operations.doubles(BATCH_MAX * width);
    this.#x0 = operations.doubles(BATCH_MAX * width);
    this.#normed = operations.doubles((taps + BATCH_MAX) * width);
    this.#u = operations.doubles(BATCH_MAX * width);
    this.#out = operations.doubles(BATCH_MAX * width);
    this.#hidden = operations.doubles(BATCH_MAX * hidden);
    this.#scores = operations.doubles(BATCH_MAX * vocabulary);
    this.#frequencies = operations.counts(BATCH_MAX * vocabulary);
  }

  /** Multiply-adds of one position, those of attention not counted. */
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
    assertInteger(channel, 0, CHANNEL_COUNT_MAX - 1, "channel");
    // The last label is "any": the model was trained with it, and it stands for every own label.
    return this.shape.vocabulary + Math.min(channel, this.shape.labels - 1);
  }

  /**
   * Reads the rows given (symbols, or a label first) and returns the frequencies of the symbol after each of them:
   * [rows][vocabulary]. The array is reused: it is valid until the next call.
   */
  read(rows: readonly number[]): Uint32Array {
    const { width, vocabulary } = this.shape;
    const n = rows.length;
    assert(n >= 1 && n <= BATCH_MAX, `a batch has 1 to ${BATCH_MAX} positions`);
    assert(this.#position + n <= POSITIONS_MAX, "a value has no more symbols than bytes");
    rows.forEach((row, i) => {
      for (let j = 0; j < width; j++) this.#x[i * width + j] = this.#embed.weights[row * width + j];
    });
    const x = this.#x.subarray(0, n * width);
    this.#operations.norm(x, width, this.#x0);
    x.set(this.#x0.subarray(0, n * width));
    for (const layer of this.#layers) this.#readLayer(layer, n);
    this.#operations.norm(x, width, this.#u);
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
    const { width, hidden } = this.shape;
    const operations = this.#operations;
    const [x, u, out] = [this.#x, this.#u, this.#out].map((rows) => rows.subarray(0, n * width));
    const h = this.#hidden.subarray(0, n * hidden);
    operations.blend(x, layer.mix[0], this.#x0, layer.mix[1]);
    this.#convolve(layer, 0, x, u);
    this.#attention(layer, n, u, out);
    operations.blend(x, 1, out, 1);
    this.#convolve(layer, 1, x, u);
    operations.product(layer.expand, u, n, 1, h);
    operations.squareAboveZero(h);
    operations.sparseProduct(layer.contract, h, n, 1, out);
    operations.blend(x, 1, out, 1);
  }

  /** u = normed x, plus the normed rows before it times their taps. */
  #convolve(layer: Layer, site: 0 | 1, x: Float64Array, u: Float64Array): void {
    const { width } = this.shape;
    const before = layer.before[site];
    const normed = this.#normed.subarray(0, before.length + x.length);
    normed.set(before);
    this.#operations.norm(x, width, normed.subarray(before.length));
    this.#operations.convolve(normed, layer.taps[site], width, u);
    before.set(normed.subarray(x.length));
  }

  /** out = the result of attention for u; u is overwritten. */
  #attention(layer: Layer, n: number, u: Float64Array, out: Float64Array): void {
    const operations = this.#operations;
    const position = this.#position;
    operations.product(layer.key, u, n, 1, out);
    operations.turn(out, position, this.#turns, layer.context.keys);
    operations.product(layer.value, u, n, 1, out);
    operations.keep(out, position, layer.context.values);
    operations.product(layer.query, u, n, 1, out);
    operations.turn(out, position, this.#turns, layer.context.queries);
    operations.attend(layer.context, position, n, u);
    operations.product(layer.output, u, n, 1, out);
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

  #ring<Numbers>(slots: number, make: (n: number) => Numbers): Ring<Numbers> {
    const { width, heads } = this.shape;
    return { heads, slots, size: width / heads, numbers: make(slots * width) };
  }

  #layer(stored: StoredLayer): Layer {
    const { width, hidden, taps, window } = this.shape;
    const half = taps * width;
    return {
      mix: this.#doubles(stored.mix),
      taps: [this.#doubles(stored.taps.subarray(0, half)), this.#doubles(stored.taps.subarray(half))],
      query: this.#stored(stored.query, width, width),
      key: this.#stored(stored.key, width, width),
      value: this.#stored(stored.value, width, width),
      output: this.#stored(stored.output, width, width),
      expand: this.#stored(stored.expand, hidden, width),
      contract: this.#stored(byColumn(stored.contract, width, hidden), width, hidden),
      context: {
        queries: this.#queries,
        keys: this.#ring(this.#slots, (n) => this.#operations.shorts(n)),
        values: this.#ring(this.#slots, (n) => this.#operations.doubles(n)),
        factors: this.#doubles(Array.from(stored.gain, (gain) => (gain * LOG2E) / (HEAD_SCALE * HEAD_SCALE))),
        window,
      },
      before: [this.#operations.doubles(taps * width), this.#operations.doubles(taps * width)],
    };
  }
}

function byColumn({ weights, scales }: StoredMatrix, rows: number, columns: number): StoredMatrix {
  const turned = new Int8Array(weights.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      turned[column * rows + row] = weights[row * columns + column];
  return { weights: turned, scales };
}

/** Cosine and sine of every position's turn, by turning the one before once more: [positions][pairs] each. */
function turnsOf(cos1: Float64Array, sin1: Float64Array): Turns {
  const pairs = cos1.length;
  const cos = new Float64Array(POSITIONS_MAX * pairs).fill(1, 0, pairs);
  const sin = new Float64Array(POSITIONS_MAX * pairs);
  for (let i = pairs; i < cos.length; i++) {
    const [c, s, j] = [cos[i - pairs], sin[i - pairs], i % pairs];
    cos[i] = c * cos1[j] - s * sin1[j];
    sin[i] = s * cos1[j] + c * sin1[j];
  }
  return { cos, sin };
}
