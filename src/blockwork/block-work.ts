/**
 * Builds and reads blocks, in small tasks that the scheduler runs in threads. Facts are coded newest first, until the
 * block is full. Codes kept with the facts are used; newly computed codes are handed to `keep`, even when the rest of
 * the work fails.
 */

import { assert } from "../base/assert.ts";
import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import type { Requester } from "../base/requester.ts";
import { newestFirst } from "../codec/block.ts";
import { bitsMaxAlone, CARRIERS_MAX, PREFIX_CARRIERS } from "../codec/block-room.ts";
import { digitsFor } from "../codec/digits.ts";
import type { BlockKey } from "../codec/seal.ts";
import { type UnreadableBlock, unreadable } from "../codec/unreadable.ts";
import type { BlockScheduler, Work } from "./block-scheduler.ts";
import type { AssembledBlock, BlockMessage, BlockResults, BlockTaskKind } from "./block-tasks.ts";
import { type CodableFact, type ComputedCode, type FactCode, keptCode } from "./fact-code.ts";

export interface BuildJob {
  readonly facts: readonly CodableFact[];
  readonly key: BlockKey;
  readonly userId: string;
  /** Receives the codes that had to be computed. */
  readonly keep: (codes: readonly ComputedCode[]) => void;
}

export interface ReadJob {
  readonly text: string;
  readonly keys: readonly BlockKey[];
  readonly userId: string;
  /** Reads only the values of these channels; all where undefined. */
  readonly channels?: readonly number[] | undefined;
}

export type ReadOutcome =
  | {
      readonly ok: true;
      readonly facts: readonly { readonly channel: number; readonly value: string }[];
      readonly missing: number;
      readonly wrong: number;
      readonly repaired: number;
      readonly guardLeft: number;
    }
  | UnreadableBlock;

export class BlockWork {
  /** The codebook version that blocks are written with. */
  readonly version: number;
  readonly #scheduler: BlockScheduler;

  constructor(scheduler: BlockScheduler, version: number) {
    this.#scheduler = scheduler;
    this.version = version;
  }

  get healthy(): boolean {
    return this.#scheduler.healthy;
  }

  begin(requester: Requester): Work {
    return this.#scheduler.begin(requester);
  }

  async build(work: Work, { facts, key, userId, keep }: BuildJob): Promise<AssembledBlock> {
    const codes = await this.code(work, facts, keep);
    const coded = facts.map(({ channel, value, revision: order }) => {
      const code = codes.get(channel);
      return { channel, value, order, ...(code === undefined ? {} : { code: code.bits }) };
    });
    const block = await this.#runOne(work, "assemble", { kind: "assemble", facts: coded, key, userId });
    assert(
      block.carried.length + block.overflow.length === facts.length,
      "a fact is in the block or in its overflow",
    );
    return block;
  }

  /** The codes of the facts that a block may have room for, by channel. Stops when `isNeeded` returns false. */
  async code(
    work: Work,
    facts: readonly CodableFact[],
    keep: BuildJob["keep"],
    isNeeded = () => true,
  ): Promise<ReadonlyMap<number, FactCode>> {
    assert(facts.length <= CHANNEL_COUNT_MAX, "a user has one fact a channel at most");
    const codes = new Map<number, FactCode>();
    for (const fact of facts) {
      const code = keptCode(fact, this.version);
      if (code !== undefined) codes.set(fact.channel, code);
    }
    const ordered = newestFirst(facts.map((fact) => ({ ...fact, order: fact.revision })));
    const computed: ComputedCode[] = [];
    const tasks = ordered
      .filter(({ channel }) => !codes.has(channel))
      .map(({ channel, revision, value }) => ({
        size: value.length,
        message: () =>
          isFull(ordered, codes) || !isNeeded() ? undefined : ({ kind: "code", channel, value } as const),
        done: (code: FactCode) => {
          assert(code.version === this.version, "a thread writes codes of the writing version");
          assert(!codes.has(channel), "a value is coded once");
          codes.set(channel, code);
          computed.push({ channel, revision, value, code });
        },
      }));
    try {
      await this.#scheduler.run(work, "code", isFull(ordered, codes) ? [] : tasks);
    } finally {
      if (computed.length > 0) keep(computed);
    }
    return codes;
  }

  async read(work: Work, { text, keys, userId, channels }: ReadJob): Promise<ReadOutcome> {
    const opened = await this.#runOne(work, "open", { kind: "open", text, keys, userId });
    if (!opened.ok) return opened;
    const { codes, version, missing, wrong, repaired, guardLeft } = opened;
    const wanted = codes.filter(({ channel }) => channels?.includes(channel) !== false);
    const values = new Map<number, string | undefined>();
    const tasks = wanted.map(({ channel, bits }) => ({
      size: bits.length,
      message: () => ({ kind: "value", version, channel, bits }) as const,
      done: (value: string | undefined) => void values.set(channel, value),
    }));
    await this.#scheduler.run(work, "value", tasks);
    const facts: { channel: number; value: string }[] = [];
    for (const { channel } of wanted) {
      assert(values.has(channel), "every wanted code was read");
      const value = values.get(channel);
      if (value === undefined) return unreadable({ kind: "unknown-value", channel });
      facts.push({ channel, value });
    }
    return { ok: true, facts, missing, wrong, repaired, guardLeft };
  }

  /** Starts a thread before it is needed. */
  warm(): void {
    this.#scheduler.warm();
  }

  close(): Promise<void> {
    return this.#scheduler.close();
  }

  async #runOne<K extends BlockTaskKind>(
    work: Work,
    kind: K,
    message: BlockMessage<K>,
  ): Promise<BlockResults[K]> {
    let result: BlockResults[K] | undefined;
    const done = (found: BlockResults[K]) => {
      result = found;
    };
    await this.#scheduler.run(work, kind, [{ size: 1, message: () => message, done }]);
    assert(result !== undefined, "a task that succeeded has a result");
    return result;
  }
}

/**
 * Whether a block has no room for facts older than those whose codes are known. The directory is left out, so this
 * may say no too often: then one more value is coded than was needed.
 */
function isFull(ordered: readonly { channel: number }[], codes: ReadonlyMap<number, FactCode>): boolean {
  let carriers = PREFIX_CARRIERS;
  for (const { channel } of ordered) {
    const bits = codes.get(channel)?.bits.length;
    if (bits === undefined) return false;
    // A value that does not fit in any block takes no room in this one.
    if (bits <= bitsMaxAlone(channel)) carriers += digitsFor(bits);
    if (carriers >= CARRIERS_MAX) return true;
  }
  return false;
}
