/**
 * Whose work goes next. Accounts take turns by the processor time they have used (start-time fair queueing, Goyal, Vin
 * and Cheng 1996): each account has a virtual time that grows with its work, the account with the lowest goes next, and
 * an account that was idle starts at the present minimum.
 *
 * FairShares is the rule, for the threads of block work and for the event loop. FairTurns shares the event loop: one
 * piece of work has its turn, then whatever else waits in the loop, then the next piece.
 */

import { assert } from "./assert.ts";
import { Failure } from "./errors.ts";

export interface Share {
  virtualMs: number;
}

interface ShareKind<S extends Share> {
  readonly make: (virtualMs: number) => S;
  /** Whether nothing of it waits or runs. */
  readonly isIdle: (share: S) => boolean;
}

export class FairShares<S extends Share> {
  readonly #kind: ShareKind<S>;
  readonly #shares = new Map<string, S>();
  /** The virtual time at which the last work began. */
  #virtualMs = 0;

  constructor(kind: ShareKind<S>) {
    this.#kind = kind;
  }

  of(name: string): S {
    let share = this.#shares.get(name);
    if (share === undefined) {
      share = this.#kind.make(this.#virtualMs);
      this.#shares.set(name, share);
    } else if (this.#kind.isIdle(share)) share.virtualMs = Math.max(share.virtualMs, this.#virtualMs);
    return share;
  }

  all(): Iterable<S> {
    return this.#shares.values();
  }

  /** The ready share with the lowest virtual time. Forgets idle ones that have nothing to make up for. */
  lowest(isReady: (share: S) => boolean): S | undefined {
    let lowest: S | undefined;
    for (const [name, share] of this.#shares) {
      if (isReady(share)) {
        if (lowest === undefined || share.virtualMs < lowest.virtualMs) lowest = share;
      } else if (this.#kind.isIdle(share) && share.virtualMs <= this.#virtualMs) this.#shares.delete(name);
    }
    return lowest;
  }

  /** Work of a share begins. */
  begin(share: S): void {
    this.#virtualMs = Math.max(this.#virtualMs, share.virtualMs);
  }

  /** Nothing waits and nothing runs: every account may start from the same virtual time. */
  rest(): void {
    for (const { virtualMs } of this.#shares.values()) this.#virtualMs = Math.max(this.#virtualMs, virtualMs);
    this.#shares.clear();
  }
}

interface AccountTurns extends Share {
  /** In the order they came. */
  readonly waiting: (() => void)[];
}

/** How many turns of one account may wait. */
export const TURNS_MAX = 1_024;

export class FairTurns {
  readonly #shares = new FairShares<AccountTurns>({
    make: (virtualMs) => ({ virtualMs, waiting: [] }),
    isIdle: ({ waiting }) => waiting.length === 0,
  });
  #waiting = 0;
  #isGoing = false;

  /**
   * Resolves when it is the account's turn. What runs then, up to where it waits for something outside the process, is
   * the account's time. Rejects with `overloaded`.
   */
  next(account: string): Promise<void> {
    const share = this.#shares.of(account);
    if (share.waiting.length >= TURNS_MAX) {
      const detail = "Too many calls of this account are waiting.";
      return Promise.reject(new Failure("overloaded", detail, { retryAfterS: 1 }));
    }
    return new Promise((resolve) => {
      share.waiting.push(resolve);
      this.#waiting += 1;
      if (!this.#isGoing) this.#go();
    });
  }

  #go(): void {
    this.#isGoing = true;
    let share: AccountTurns | undefined;
    let beganMs = 0;
    setImmediate(() => {
      share = this.#shares.lowest(({ waiting }) => waiting.length > 0);
      assert(share !== undefined, "somebody waits for a turn");
      this.#shares.begin(share);
      this.#waiting -= 1;
      beganMs = performance.now();
      share.waiting.shift()!();
    });
    // It runs when everything that the turn has set going has run. One that is asked for here comes after the events of
    // all connections.
    setImmediate(() => {
      share!.virtualMs += performance.now() - beganMs;
      if (this.#waiting > 0) return this.#go();
      this.#isGoing = false;
      this.#shares.rest();
    });
  }
}
