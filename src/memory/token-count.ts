/**
 * How many tokens of o200k a text has: what a prompt pays for it, in the vocabulary that most people know the prices of.
 *
 * Byte-pair encoding as tiktoken does it: the pattern cuts the text into pieces; in each piece the neighbours whose
 * joined bytes have the lowest rank are joined, until no two have one. The places that can be joined are in a heap, so
 * that a piece of n bytes takes n · log n steps: a value of 1,024 letters must not hold up others.
 *
 * The vocabulary is loaded at the first count. It is one run of bytes with a hash table over it, 5 MiB instead of the
 * 30 that 200,000 strings in a Map take.
 */

import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { assert } from "../base/assert.ts";
import { PACKAGE_ROOT } from "../base/package-root.ts";

export const O200K_FILE = new URL("models/o200k.bin", PACKAGE_ROOT);

const ENDING = "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?";
export const PIECES = new RegExp(
  [
    `[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+${ENDING}`,
    `[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*${ENDING}`,
    "\\p{N}{1,3}",
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*",
    "\\s*[\\r\\n]+",
    "\\s+(?!\\S)",
    "\\s+",
  ].join("|"),
  "gu",
);

/** More than twice the tokens, so that few slots are looked at. */
const SLOTS = 2 ** 19;
const NO_RANK = -1;

let vocabulary: Vocabulary | undefined;

export function countTokens(text: string): number {
  vocabulary ??= new Vocabulary(brotliDecompressSync(readFileSync(O200K_FILE)));
  let count = 0;
  for (const [piece] of text.matchAll(PIECES)) count += vocabulary.tokensOf(Buffer.from(piece));
  return count;
}

class Vocabulary {
  /** Of each token by its rank its length and its bytes. */
  readonly #bytes: Buffer;
  /** Where the bytes of a rank begin. */
  readonly #starts: number[] = [];
  /** Ranks, at the slot of their hash or after it. */
  readonly #slots = new Int32Array(SLOTS).fill(NO_RANK);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    for (let at = 0; at < bytes.length; at += bytes[at] + 1) {
      const rank = this.#starts.push(at + 1) - 1;
      let slot = slotOf(bytes, at + 1, at + 1 + bytes[at]);
      while (this.#slots[slot] !== NO_RANK) slot = (slot + 1) % SLOTS;
      this.#slots[slot] = rank;
    }
    assert(this.#starts.length * 2 < SLOTS, "the table has room");
  }

  tokensOf(piece: Buffer): number {
    const { length } = piece;
    if (length === 1 || this.#rankOf(piece, 0, length) !== NO_RANK) return 1;
    // A part is named by where it begins; next and previous ones as a list that is joined.
    const next = Int32Array.from({ length }, (_, i) => i + 1);
    const previous = Int32Array.from({ length }, (_, i) => i - 1);
    const isJoined = new Uint8Array(length);
    const heap = new JoinHeap();
    const offer = (start: number) => {
      if (start < 0 || next[start] >= length) return;
      const end = next[next[start]];
      const rank = this.#rankOf(piece, start, end);
      if (rank !== NO_RANK) heap.push({ rank, start, end });
    };
    for (let start = 0; start < length - 1; start++) offer(start);
    let count = length;
    for (let join = heap.pop(); join !== undefined; join = heap.pop()) {
      const { start, end } = join;
      const second = next[start];
      // One of the two was joined with another meanwhile.
      if (isJoined[start] || second >= length || next[second] !== end) continue;
      isJoined[second] = 1;
      next[start] = end;
      if (end < length) previous[end] = start;
      count -= 1;
      offer(previous[start]);
      offer(start);
    }
    return count;
  }

  #rankOf(piece: Buffer, start: number, end: number): number {
    for (let slot = slotOf(piece, start, end); ; slot = (slot + 1) % SLOTS) {
      const rank = this.#slots[slot];
      if (rank === NO_RANK) return NO_RANK;
      const at = this.#starts[rank];
      const length = this.#bytes[at - 1];
      if (length === end - start && piece.compare(this.#bytes, at, at + length, start, end) === 0)
        return rank;
    }
  }
}

/** FNV-1a. */
function slotOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

interface Join {
  readonly rank: number;
  /** Where the first part begins. */
  readonly start: number;
  /** Where the second part ends. */
  readonly end: number;
}

/** The lowest rank first, and of equal ranks the first place. */
class JoinHeap {
  readonly #joins: Join[] = [];

  push(join: Join): void {
    const joins = this.#joins;
    let at = joins.push(join) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(join, joins[parent])) break;
      joins[at] = joins[parent];
      at = parent;
    }
    joins[at] = join;
  }

  pop(): Join | undefined {
    const joins = this.#joins;
    const first = joins[0];
    const last = joins.pop();
    if (joins.length === 0 || last === undefined) return first;
    let at = 0;
    for (let child = 1; child < joins.length; child = 2 * at + 1) {
      if (child + 1 < joins.length && isBefore(joins[child + 1], joins[child])) child += 1;
      if (!isBefore(joins[child], last)) break;
      joins[at] = joins[child];
      at = child;
    }
    joins[at] = last;
    return first;
  }
}

function isBefore(a: Join, b: Join): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.start < b.start);
}
