/**
 * Users who may be locked by somebody else, with their writes in order. They are committed one user after the other, so
 * that a lock holds back that user only, and one at a time, so that they take up one connection at most. The batch
 * function waits a moment for a lock (migrations/0006); then it is the next user's turn.
 */

import { setTimeout } from "node:timers/promises";
import type { MonotonicClock } from "../../base/clock.ts";
import { LOCK_PAUSE_MS } from "./connection/database.ts";
import { type QueuedWrite, takeGroup, userOf } from "./write-queue.ts";

export interface HeldUsersOptions {
  /** Commits the writes and answers them; false where the user is locked, with nothing stored and nobody answered. */
  readonly commit: (group: readonly QueuedWrite[]) => Promise<boolean>;
  /** Answers the writes that have waited too long. */
  readonly giveUp: (group: readonly QueuedWrite[]) => void;
  readonly groupMax: number;
  readonly waitMaxMs: number;
  readonly monotonic: MonotonicClock;
}

export class HeldUsers {
  readonly #options: HeldUsersOptions;
  readonly #queues = new Map<string, QueuedWrite[]>();
  #running: Promise<void> | undefined;

  constructor(options: HeldUsersOptions) {
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
      if (!this.take(write)) this.#queues.set(userOf(write), [write]);
    }
    this.#running ??= this.#run();
  }

  async finished(): Promise<void> {
    await this.#running;
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
    this.#queues.set(name, rest);
    const left = (await commit(group)) ? [] : group;
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
