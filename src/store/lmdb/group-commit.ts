/**
 * Group commit: the one writer of the store. Writes that arrive while the disk is busy wait in a queue and go into
 * one transaction together. Each runs against the store and what the group has written so far, so what it checks
 * (limits, idempotency keys) is exact. All are answered when the transaction is on disk, or all are refused.
 *
 * If the disk does not confirm a group in time, its outcome is unknown, and its callers are told so. Nothing else is
 * written until the disk has answered: queued and new writes are refused as not stored.
 */

import { assert, assertInteger } from "../../base/assert.ts";
import type { MonotonicClock } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { AtStep } from "../../base/steps.ts";
import { CommitMetrics } from "../../memory/commit-metrics.ts";
import {
  type Change,
  CommitError,
  type Entry,
  type Environment,
  KEY_BYTES_MAX,
  type TableName,
} from "./environment.ts";
import { packNumber, unpackNumber } from "./records.ts";

/** Must be synchronous. */
export type Write<T> = (writer: Writer) => T;

export interface GroupCommitOptions {
  readonly queueMax: number;
  /** How long the disk may take to confirm a group. */
  readonly confirmMs?: number;
  readonly metrics: Metrics;
  readonly monotonic: MonotonicClock;
  readonly atStep: AtStep;
  /** Whether what is written is still in the data folder. Asked before and after each commit. */
  readonly isOwner: () => boolean;
  /** Free bytes of the disk. lmdb can end the process on a full disk, so a group is refused before that. */
  readonly freeBytes?: () => number;
  /** Called when a failed commit has left an environment that lmdb neither reads nor writes any more. */
  readonly onPanic: (error: CommitError) => void;
  /** Called for each group that is on disk. */
  readonly onCommitted: (changes: readonly Change[]) => void;
}

interface Queued {
  readonly write: Write<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The answer, given when the group is on disk. */
  result: unknown;
}

/** What a commit takes on disk at most: some pages for each change, and a reserve for what others write meanwhile. */
const CHANGE_BYTES_MAX = 16_384;
const ROOM_BYTES_MIN = 2 ** 18;
const GROUP_MAX = 512;
/** A group that has held the event loop for so long takes no further write: forgetting many users takes seconds. */
const GROUP_MS_MAX = 10;
/** A counter has six bytes. */
const COUNT_MAX = 2 ** 48 - 1;
const CONFIRM_MS = 10_000;
const RETRY_AFTER_S = 5;
const LOST = "The data folder was moved, removed or replaced.";

export class GroupCommit {
  readonly #environment: () => Environment;
  readonly #options: GroupCommitOptions;
  readonly #metrics: CommitMetrics;
  #queue: Queued[] = [];
  /** Work that runs alone, between two groups. */
  readonly #alone: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  /** The disk has not confirmed the last group yet, although its time is up. */
  #stuck = false;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  /** @param environment what a group is written to; asked anew for each group, because a compaction replaces it */
  constructor(environment: () => Environment, options: GroupCommitOptions) {
    assert(options.queueMax >= 1, "the queue has room for a write");
    this.#environment = environment;
    this.#options = options;
    this.#metrics = new CommitMetrics(options.metrics, options.monotonic, () => this.#queue.length);
  }

  run<T>(write: Write<T>): Promise<T> {
    if (this.#closed) return Promise.reject(storeUnavailable("The store is closed."));
    if (this.#stuck) return Promise.reject(storeUnavailable("The disk does not answer."));
    if (this.#queue.length >= this.#options.queueMax) {
      return Promise.reject(new Failure("overloaded", "Too many writes are waiting.", { retryAfterS: 1 }));
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        write,
        resolve: resolve as (result: unknown) => void,
        reject,
        result: undefined,
      });
      this.#running ??= this.#drain();
    });
  }

  /** Runs `work` between two groups. */
  between(work: () => Promise<void>): Promise<void> {
    if (this.#closed) return Promise.reject(storeUnavailable("The store is closed."));
    return new Promise((resolve, reject) => {
      this.#alone.push(() => work().then(resolve, reject));
      this.#running ??= this.#drain();
    });
  }

  /** Refuses new writes and finishes the queued ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    assert(this.#queue.length === 0 && this.#alone.length === 0, "nothing waits in a closed store");
  }

  /** The failure of a group in the last few seconds, if there was one. */
  get recentFailure(): Failure | undefined {
    return this.#options.monotonic.now() - this.#failedAtMs < RETRY_AFTER_S * 1000
      ? storeUnavailable("The last commit failed.")
      : undefined;
  }

  async #drain(): Promise<void> {
    // Writes of the same event-loop turn go into one group.
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const alone = this.#alone.shift();
      if (alone !== undefined) await alone();
      else if (this.#queue.length > 0) await this.#commit();
      else break;
    }
    this.#running = undefined;
  }

  async #commit(): Promise<void> {
    assert(this.#queue.length > 0, "a group has a write");
    assert(!this.#stuck, "nothing is written before the disk has confirmed the last group");
    const { atStep, freeBytes, isOwner, onCommitted, onPanic } = this.#options;
    const ended = this.#metrics.begin();
    const environment = this.#environment();
    const writer = new Writer(environment);
    const { count, answers } = this.#runGroup(writer);
    const changes = writer.changes();
    atStep("group: checked");
    // This is asked also where nothing changes: the answer would come from a store that another process owns by now.
    if (!isOwner()) return this.#refuse(answers, storeUnavailable(LOST));
    if (changes.length > 0) {
      const bytesMax = ROOM_BYTES_MIN + changes.length * CHANGE_BYTES_MAX;
      if (freeBytes !== undefined && freeBytes() < bytesMax)
        return this.#refuse(answers, storeUnavailable("The disk is nearly full."));
      const committed = environment.commit(changes);
      atStep("group: sent");
      try {
        await this.#confirmed(committed, answers);
      } catch (error) {
        this.#refuse(answers, commitFailure(error));
        if (error instanceof CommitError && !error.nothingStored) onPanic(error);
        return;
      }
      onCommitted(changes);
      atStep("group: on disk");
      // The folder may have been copied before, and replaced by the copy after the first look.
      if (!isOwner()) return this.#refuse(answers, outcomeUnknown(LOST));
    }
    for (const { resolve, result } of answers) resolve(result);
    ended(count);
  }

  /** Takes writes from the queue and runs them, as many as a group may have; those that did not throw are to be answered. */
  #runGroup(writer: Writer): { count: number; answers: readonly Queued[] } {
    const { monotonic } = this.#options;
    const endMs = monotonic.now() + GROUP_MS_MAX;
    const answers: Queued[] = [];
    let count = 0;
    do {
      const queued = this.#queue[count++];
      if (run(queued, writer)) answers.push(queued);
    } while (count < Math.min(this.#queue.length, GROUP_MAX) && monotonic.now() < endMs);
    this.#queue.splice(0, count);
    return { count, answers };
  }

  /** Waits for the disk, however long it takes. After `confirmMs` the callers are told that the outcome is unknown. */
  async #confirmed(committed: Promise<void>, answers: readonly Queued[]): Promise<void> {
    let settled = false;
    const giveUp = () => {
      if (settled) return;
      this.#stuck = true;
      this.#refuse(answers, outcomeUnknown("The disk has not confirmed this write in time."));
      this.#refuse(this.#queue.splice(0), storeUnavailable("The disk does not answer."));
    };
    // After a stop and a continue of the process, timer and answer are due together: the answer is handled first.
    const afterEvents = () => setImmediate(() => setImmediate(giveUp));
    const timer = setTimeout(afterEvents, this.#options.confirmMs ?? CONFIRM_MS);
    try {
      await committed;
    } finally {
      settled = true;
      this.#stuck = false;
      clearTimeout(timer);
    }
  }

  #refuse(queued: readonly Queued[], failure: Failure): void {
    this.#metrics.failed();
    this.#failedAtMs = this.#options.monotonic.now();
    for (const { reject } of queued) reject(failure);
  }
}

/** What a write sees of the store: what is on disk, and what its group has written so far. */
export class Writer {
  readonly environment: Environment;
  readonly #changes = new Map<string, Change>();
  /** Most writes of a group change the same few counters: each is stored once, at the end of the group. */
  readonly #counts = new Map<string, { count: number; changed: boolean }>();

  /** How to take back what the present write has changed. */
  #undo: Undo[] = [];

  constructor(environment: Environment) {
    this.environment = environment;
  }

  get(table: TableName, key: Buffer): Buffer | undefined {
    const change = this.#changes.get(entryName(table, key));
    return change === undefined ? this.environment.get(table, key) : change.value;
  }

  has(table: TableName, key: Buffer): boolean {
    const change = this.#changes.get(entryName(table, key));
    return change === undefined ? this.environment.has(table, key) : change.value !== undefined;
  }

  /** The keys of a range, in order. It looks at every change of the group. */
  keys(table: TableName, range: { start: Buffer; end: Buffer }): Buffer[] {
    return this.#overlay(table, range, this.environment.keys(table, range), (key) => key);
  }

  /** The entries of a range, in the order of their keys. */
  entries(table: TableName, range: { start: Buffer; end: Buffer }): Entry[] {
    const stored = this.environment.entries(table, range);
    return this.#overlay(table, range, stored, (key, value) => ({ key, value }));
  }

  /** What is stored in a range, with the changes of the group. */
  #overlay<T extends Buffer | Entry>(
    table: TableName,
    { start, end }: { start: Buffer; end: Buffer },
    stored: T[],
    made: (key: Buffer, value: Buffer) => T,
  ): T[] {
    // Names are in the order of the bytes of their keys.
    const [first, last] = [entryName(table, start), entryName(table, end)];
    const changed: string[] = [];
    for (const name of this.#changes.keys()) if (name >= first && name < last) changed.push(name);
    if (changed.length === 0) return stored;
    const all = new Map(stored.map((item) => [entryName(table, "key" in item ? item.key : item), item]));
    for (const name of changed) {
      const { key, value } = this.#changes.get(name)!;
      if (value === undefined) all.delete(name);
      else all.set(name, made(key, value));
    }
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  }

  put(table: TableName, key: Buffer, value: Buffer): void {
    assert(value.length > 0, "a stored record is not empty");
    this.#change({ table, key, value });
  }

  remove(table: TableName, key: Buffer): void {
    this.#change({ table, key, value: undefined });
  }

  #change(change: Change): void {
    const { length } = change.key;
    // lmdb-js would refuse such a key inside the transaction and still commit the other changes.
    assert(length > 0 && length <= KEY_BYTES_MAX, `a key has 1 to ${KEY_BYTES_MAX} bytes`);
    const name = entryName(change.table, change.key);
    this.#undo.push({ map: this.#changes, name, before: this.#changes.get(name) });
    this.#changes.set(name, change);
  }

  count(name: string): number {
    let known = this.#counts.get(name);
    if (known === undefined) {
      known = { count: unpackNumber(this.environment.get("counters", Buffer.from(name))), changed: false };
      this.#counts.set(name, known);
    }
    return known.count;
  }

  setCount(name: string, count: number): void {
    assertInteger(count, 0, COUNT_MAX, "a stored count");
    this.#undo.push({ map: this.#counts, name, before: this.#counts.get(name) });
    this.#counts.set(name, { count, changed: true });
  }

  changes(): Change[] {
    for (const [name, { count, changed }] of this.#counts) {
      if (changed) this.put("counters", Buffer.from(name), packNumber(count));
    }
    return [...this.#changes.values()];
  }

  /** Runs one write of the group. Where it throws, what it has changed so far is taken back. */
  attempt<T>(write: (writer: Writer) => T): T {
    this.#undo = [];
    try {
      return write(this);
    } catch (error) {
      for (const { map, name, before } of this.#undo.reverse()) {
        if (before === undefined) map.delete(name);
        else map.set(name, before);
      }
      throw error;
    }
  }
}

interface Undo {
  // biome-ignore lint/suspicious/noExplicitAny: a value goes back to the map that it came from.
  readonly map: Map<string, any>;
  readonly name: string;
  readonly before: unknown;
}

/** Runs one write of a group. If it throws, for example on a damaged record, only this write is refused. */
function run(queued: Queued, writer: Writer): boolean {
  try {
    queued.result = writer.attempt(queued.write);
    return true;
  } catch (error) {
    queued.reject(error);
    return false;
  }
}

/** A text that is unique for a table and a key. */
export function entryName(table: TableName, key: Buffer): string {
  return `${table}\0${key.toString("latin1")}`;
}

function commitFailure(error: unknown): Failure {
  return error instanceof CommitError && error.nothingStored
    ? storeUnavailable("The store cannot take data now.", error)
    : outcomeUnknown("The store failed while it wrote.", error);
}

function storeUnavailable(detail: string, cause?: unknown): Failure {
  return new Failure("store_unavailable", detail, { retryAfterS: RETRY_AFTER_S, cause });
}

function outcomeUnknown(detail: string, cause?: unknown): Failure {
  const advice = "It may be stored or not: send the same request again with the same Idempotency-Key.";
  return new Failure("outcome_unknown", `${detail} ${advice}`, { retryAfterS: RETRY_AFTER_S, cause });
}
