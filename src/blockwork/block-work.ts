/**
 * Builds and reads blocks, in small tasks that the scheduler runs in threads. Facts are coded newest first, until the
 * block is full. Codes kept with the facts are used; newly computed codes are handed to `keep`, even when the rest of
 * the work fails.
 */

import type { Requester } from "../base/accounts.ts";
import { assert } from "../base/assert.ts";
import { newestFirst } from "../codec/block.ts";
import { bitsMaxAlone, CARRIERS_MAX, PREFIX_CARRIERS } from "../codec/block-room.ts";
import { digitsFor } from "../codec/digits.ts";
import { compareSlots, type Slot, type SlotValue } from "../codec/free-labels.ts";
import type { BlockReport } from "../codec/read-block.ts";
import type { BlockKey } from "../codec/seal.ts";
import { type UnreadableBlock, unreadable } from "../codec/unreadable.ts";
import type { BlockScheduler, Work } from "./block-scheduler.ts";
import type { AssembledBlock, BlockMessage, BlockResults, BlockTaskKind } from "./block-tasks.ts";
import { type CodableFact, type ComputedCode, type FactCode, keptCode } from "./fact-code.ts";

interface BuildJob {
  readonly facts: readonly CodableFact[];
  readonly key: BlockKey;
  readonly userId: string;
  /** Receives the codes that had to be computed. */
  readonly keep: (codes: readonly ComputedCode[]) => void;
}

interface ReadJob {
  readonly text: string;
  readonly keys: readonly BlockKey[];
  readonly userId: string;
  /** Reads only the values of these channels; all where undefined. */
  readonly channels?: readonly number[] | undefined;
}

export type ReadOutcome =
  | (Omit<BlockReport, "version" | "layout"> & {
      /** In the order of the block; the channels of free labels are counted from 256 on. */
      readonly facts: readonly SlotValue[];
    })
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
    // There is no room for those without a code.
    const coded = facts.flatMap(({ channel, label, value, revision: order }) => {
      const code = codes.get(channel)?.bits;
      return code === undefined ? [] : { channel, label, value, order, code };
    });
    const block = await this.#runOne(work, "assemble", { kind: "assemble", facts: coded, key, userId });
    const carried = new Set(block.carried);
    const left = facts.filter(({ channel }) => !carried.has(channel)).sort(compareSlots);
    return { ...block, overflow: left.map(({ channel }) => channel) };
  }

  /** The codes of the facts that a block may have room for, by channel. Stops when `isNeeded` returns false. */
  async code(
    work: Work,
    facts: readonly CodableFact[],
    keep: BuildJob["keep"],
    isNeeded = () => true,
  ): Promise<ReadonlyMap<number, FactCode>> {
    const codes = new Map<number, FactCode>();
    const ordered = newestFirst(facts.map((fact) => ({ ...fact, order: fact.revision })));
    let carriers = PREFIX_CARRIERS;
    for (const fact of ordered) {
      // Those that are older have no room.
      if (carriers >= CARRIERS_MAX) break;
      const code = keptCode(fact, this.version);
      if (code === undefined) continue;
      codes.set(fact.channel, code);
      carriers += carriersOf(fact, code);
    }
    const computed: ComputedCode[] = [];
    const tasks = ordered
      .filter(({ channel }) => !codes.has(channel))
      .map(({ channel, label, revision, value }) => ({
        size: value.length,
        message: () =>
          isFull(ordered, codes) || !isNeeded()
            ? undefined
            : ({ kind: "code", channel, label, value } as const),
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
    const read = new Map<number, SlotValue | undefined>();
    const tasks = wanted.map((code) => ({
      size: code.bits.length,
      message: () => ({ kind: "value", version, ...code }) as const,
      done: (fact: SlotValue | undefined) => void read.set(code.channel, fact),
    }));
    await this.#scheduler.run(work, "value", tasks);
    const facts: SlotValue[] = [];
    for (const { channel } of wanted) {
      assert(read.has(channel), "every wanted code was read");
      const fact = read.get(channel);
      if (fact === undefined) return unreadable({ kind: "unknown-value", channel });
      facts.push(fact);
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
function isFull(ordered: readonly Slot[], codes: ReadonlyMap<number, FactCode>): boolean {
  let carriers = PREFIX_CARRIERS;
  for (const slot of ordered) {
    const code = codes.get(slot.channel);
    if (code === undefined) return false;
    carriers += carriersOf(slot, code);
    if (carriers >= CARRIERS_MAX) return true;
  }
  return false;
}

/** A value that does not fit in any block takes no room in this one. */
function carriersOf(slot: Slot, { bits }: FactCode): number {
  return bits.length <= bitsMaxAlone(slot) ? digitsFor(bits.length) : 0;
}
