/**
 * Users who may be locked by somebody else, with their writes in order. They are committed one user after the other, so
 * that a lock holds back that user only, and one at a time, so that they take up one connection at most. A transaction
 * waits a moment for a lock (queries/group-reads.ts); then it is the next user's turn.
 */

import { setTimeout } from "node:timers/promises";
import { assert } from "../../base/assert.ts";
import type { MonotonicClock } from "../../base/clock.ts";
import { LOCK_PAUSE_MS } from "./connection/database.ts";
import { type CommitEnd, type QueuedWrite, takeGroup, userOf } from "./write-queue.ts";

interface LockedUsersOptions {
  readonly commit: (group: readonly QueuedWrite[]) => Promise<CommitEnd>;
  /** Answers the writes that have waited too long. */
  readonly giveUp: (group: readonly QueuedWrite[]) => void;
  readonly groupMax: number;
  readonly waitMaxMs: number;
  readonly monotonic: MonotonicClock;
}

export class LockedUsers {
  readonly #options: LockedUsersOptions;
  readonly #queues = new Map<string, QueuedWrite[]>();
  #running: Promise<void> | undefined;

  constructor(options: LockedUsersOptions) {
    this.#options = options;
  }

  /** Takes the write where its user is held: it must not overtake those that wait. */
  take(write: QueuedWrite): boolean {
    const queue = this.#queues.get(userOf(write));
    queue?.push(write);
    return queue !== undefined;
  }

  add(group: readonly QueuedWrite[]): void {
    for (const write of group) {
      assert(!write.answered, "an answered write is not held");
      if (!this.take(write)) this.#queues.set(userOf(write), [write]);
    }
    this.#running ??= this.#run();
  }

  /** Resolves when no user is held any more; undefined where none is. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queues.size > 0) {
      let stored = false;
      for (const name of [...this.#queues.keys()]) stored = (await this.#attempt(name)) || stored;
      if (!stored) await setTimeout(LOCK_PAUSE_MS);
    }
    this.#running = undefined;
  }

  /** False where the user is locked. */
  async #attempt(name: string): Promise<boolean> {
    const { commit, giveUp, groupMax, waitMaxMs, monotonic } = this.#options;
    const { group, rest } = takeGroup(this.#queues.get(name) ?? [], groupMax);
    assert(group.length > 0, "a held user has a write that waits");
    this.#queues.set(name, rest);
    let left = group;
    const end = await commit(group);
    // A write whose data the database refuses must fail alone: each write is tried by itself, in order.
    if (end === "refused")
      for (const write of group) {
        if ((await commit([write])) === "locked") break;
        left = left.slice(1);
      }
    else if (end !== "locked") left = [];
    const lateMs = monotonic.now() - waitMaxMs;
    const isLate = ({ queuedMs }: QueuedWrite) => queuedMs <= lateMs;
    giveUp(left.filter(isLate));
    // Others may have come meanwhile.
    const queue = [...left.filter((write) => !isLate(write)), ...(this.#queues.get(name) ?? [])];
    if (queue.length === 0) this.#queues.delete(name);
    else this.#queues.set(name, queue);
    return left.length === 0;
  }
}
