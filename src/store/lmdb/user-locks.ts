/**
 * Users who are locked, because a long write prepares what becomes of them, and the writes that wait for one. They wait in
 * their order: nobody overtakes a write of the same user. A write may be of two users, a person and a project that is
 * shared: then it waits for the first who is locked, and after that for the other.
 */

import { assert } from "../../base/assert.ts";

/** The user of a write that may concern any user: it waits until nobody is locked. */
export const EVERYBODY = "";

interface UserWrite {
  /** Empty: it concerns no user. */
  readonly users: readonly string[];
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

  isLocked(users: readonly string[]): boolean {
    return users.some((user) => this.#waiting.has(user));
  }

  get areFree(): boolean {
    return this.#waiting.size === 0;
  }

  /** Takes a write that has to wait. */
  take(write: W): boolean {
    if (this.#waiting.size === 0) return false;
    if (write.users[0] === EVERYBODY) {
      this.#forAll.push(write);
      return true;
    }
    const locked = write.users.find((user) => this.#waiting.has(user));
    if (locked === undefined) return false;
    this.#waiting.get(locked)!.push(write);
    return true;
  }

  /** Locks users. Returns what need not wait of the writes that came after that. */
  lock(users: readonly string[], queue: readonly W[]): W[] {
    for (const user of users) {
      assert(user !== EVERYBODY && !this.#waiting.has(user), "a user is locked once");
      this.#waiting.set(user, []);
    }
    return queue.filter((write) => !this.take(write));
  }

  /** Returns the writes that need not wait any more. */
  unlock(users: readonly string[]): W[] {
    const writes = users.flatMap((user) => {
      const waiting = this.#waiting.get(user);
      assert(waiting !== undefined, "a locked user is unlocked");
      this.#waiting.delete(user);
      return waiting;
    });
    return [...writes.filter((write) => !this.take(write)), ...(this.areFree ? this.#takeForAll() : [])];
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
