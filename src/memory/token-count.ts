/**
 * How many tokens of o200k a text has: what a prompt pays for it, in the vocabulary that most people know the prices of.
 *
 * Byte-pair encoding as tiktoken does it: the pattern cuts the text into pieces; in each piece the neighbours whose
 * joined bytes have the lowest rank are joined, until no two have one. The places that can be joined are in a heap, so
 * that a piece of n bytes takes n · log n steps.
 *
 * A long text takes half a second. It is counted once, in slices between which accounts take turns, and its count is kept
 * under its hash: the facts of a user are counted once for each of their revisions.
 *
 * The vocabulary is loaded at the first count. It is one run of bytes with a hash table over it, 5 MiB instead of the
 * 30 that 200,000 strings in a Map take.
 */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { assert } from "../base/assert.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import type { FairTurns } from "../base/fair-turns.ts";
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

/** How long the event loop is held at a time. One piece more may follow. */
const SLICE_MS = 4;
const TOKENS_IN_SLICE = 8_192;
const COUNTS_MAX = 10_000;

export class TokenCounts {
  readonly #turns: FairTurns;
  readonly #counts = new BoundedCache<Promise<number>>({ entriesMax: COUNTS_MAX });

  constructor(turns: FairTurns) {
    this.#turns = turns;
  }

  /** The tokens of a text of an account. */
  of(account: string, text: string): Promise<number> {
    const name = createHash("sha256").update(`${account}\n`).update(text).digest("base64url");
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    const count = this.counter(account)(text);
    this.#counts.set(name, count);
    count.catch(() => this.#counts.delete(name));
    return count;
  }

  /** Counts texts one after the other, and keeps no count: for many short ones, which share the slices. */
  counter(account: string): (text: string) => Promise<number> {
    let untilMs = 0;
    return async (text) => {
      const vocabulary = await loadedVocabulary();
      let count = 0;
      for (const [piece] of text.matchAll(PIECES)) {
        if (performance.now() >= untilMs) {
          await this.#turns.next(account);
          untilMs = performance.now() + SLICE_MS;
        }
        count += vocabulary.tokensOf(Buffer.from(piece));
      }
      return count;
    };
  }
}

let loading: Promise<Vocabulary> | undefined;

function loadedVocabulary(): Promise<Vocabulary> {
  loading ??= loadVocabulary().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function loadVocabulary(): Promise<Vocabulary> {
  const vocabulary = new Vocabulary(await promisify(brotliDecompress)(await readFile(O200K_FILE)));
  while (vocabulary.addTokens(TOKENS_IN_SLICE)) await nextTurn();
  return vocabulary;
}

class Vocabulary {
  /** Of each token by its rank its length and its bytes. */
  readonly #bytes: Buffer;
  /** Where the bytes of a rank begin. */
  readonly #starts: number[] = [];
  /** Ranks, at the slot of their hash or after it. */
  readonly #slots = new Int32Array(SLOTS).fill(NO_RANK);

  #next = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Puts more of the tokens into the table. False when all of them are there. */
  addTokens(count: number): boolean {
    const bytes = this.#bytes;
    for (let i = 0; i < count && this.#next < bytes.length; i++) {
      const start = this.#next + 1;
      this.#next = start + bytes[start - 1];
      const rank = this.#starts.push(start) - 1;
      let slot = slotOf(bytes, start, this.#next);
      while (this.#slots[slot] !== NO_RANK) slot = (slot + 1) % SLOTS;
      this.#slots[slot] = rank;
    }
    assert(this.#starts.length * 2 < SLOTS, "the table has room");
    return this.#next < bytes.length;
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
