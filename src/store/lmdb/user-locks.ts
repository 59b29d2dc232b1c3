/**
 * Users who are locked, because a long write prepares what becomes of them, and the writes that wait for it. They wait in
 * their order: nobody overtakes a write of the same user.
 */

import { assert } from "../../base/assert.ts";

/** The user of a write that may concern any user: it waits until nobody is locked. */
export const EVERYBODY = "";

interface UserWrite {
  /** undefined: it concerns no user. */
  readonly user: string | undefined;
}

export class UserLocks<W extends UserWrite> {
  readonly #waiting = new Map<string, W[]>();
  readonly #forAll: W[] = [];

  /** How many writes wait. */
  get waiting(): number {
    let count = this.#forAll.length;
    for (const writes of this.#waiting.values()) count += writes.length;
    return count;
  }

  isLocked(user: string | undefined): boolean {
    return user !== undefined && this.#waiting.has(user);
  }

  get areFree(): boolean {
    return this.#waiting.size === 0;
  }

  /** Takes a write that has to wait. */
  take(write: W): boolean {
    if (write.user === undefined || this.#waiting.size === 0) return false;
    const waiting = write.user === EVERYBODY ? this.#forAll : this.#waiting.get(write.user);
    waiting?.push(write);
    return waiting !== undefined;
  }

  /** Locks a user. Returns what need not wait of the writes that came after that. */
  lock(user: string, queue: readonly W[]): W[] {
    assert(user !== EVERYBODY && !this.#waiting.has(user), "a user is locked once");
    this.#waiting.set(user, []);
    return queue.filter((write) => !this.take(write));
  }

  /** Returns the writes that need not wait any more. */
  unlock(user: string): W[] {
    const writes = this.#waiting.get(user);
    assert(writes !== undefined, "a locked user is unlocked");
    this.#waiting.delete(user);
    return [...writes, ...(this.areFree ? this.#takeForAll() : [])];
  }

  /** All that wait, whoever is locked. */
  takeAll(): W[] {
    const writes = [...this.#waiting.values()].flatMap((waiting) => waiting.splice(0));
    return [...writes, ...this.#takeForAll()];
  }

  #takeForAll(): W[] {
    return this.#forAll.splice(0);
  }
}
