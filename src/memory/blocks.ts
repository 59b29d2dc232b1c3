/**
 * Blocks of users, cached by the stamp of the user's state. Two requests for the same block do the work once.
 * A cached block is as good as a fresh one: the same facts under the same key give the same words. Codes that the
 * next block will need are computed in the background, when no request waits.
 */

import { assert } from "../base/assert.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import type { TimerClock } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { Requester } from "../base/requester.ts";
import { SharedWork } from "../base/shared-work.ts";
import type { Work } from "../blockwork/block-scheduler.ts";
import type { BlockWork } from "../blockwork/block-work.ts";
import type { KeyRing } from "./key-ring.ts";
import type { ComputedCode, FactRecord, Store, UserState } from "./ports.ts";

export interface UserBlock {
  readonly userId: string;
  readonly stamp: string;
  readonly text: string;
  /** Channels that the block carries, and those that did not fit. */
  readonly carried: readonly number[];
  readonly overflow: readonly number[];
  readonly facts: readonly FactRecord[];
}

/** A block that was built afresh and read back. */
export interface FlushedBlock {
  /** 0 where the user has no facts: then there is no block. */
  readonly channelCount: number;
  /** Whether every fact was read back from the fresh block and found equal. */
  readonly lossless: boolean;
  readonly text: string;
  /** Channels that did not fit the block. */
  readonly overflow: readonly number[];
}

const CACHE_ENTRIES_MAX = 50_000;
/** Characters; about as many bytes. */
const CACHE_WEIGHT_MAX = 64 * 2 ** 20;
/** Users of one account whose codes are computed in the background; the codes of further users, on demand. */
const BACKGROUND_USERS_MAX = 100;
/** Background coding starts after this pause in writes: before, the processor is needed, and values may change again. */
export const QUIET_MS = 250;

/** An account's users whose codes are to be computed in the background. */
interface BackgroundCoding {
  readonly users: Set<string>;
  /** QUIET_MS after the last write of the account. */
  quietAtMs: number;
}

export interface BlocksOptions {
  readonly store: Store;
  readonly blockWork: BlockWork;
  readonly keyRing: KeyRing;
  readonly clock: TimerClock;
}

export class Blocks {
  readonly #store: Store;
  readonly #blockWork: BlockWork;
  readonly #keyRing: KeyRing;
  readonly #clock: TimerClock;
  readonly #cache = new BoundedCache<UserBlock>({
    entriesMax: CACHE_ENTRIES_MAX,
    weightMax: CACHE_WEIGHT_MAX,
  });
  readonly #builds = new SharedWork<UserBlock | undefined>();
  /** By account. */
  readonly #background = new Map<string, BackgroundCoding>();

  constructor({ store, blockWork, keyRing, clock }: BlocksOptions) {
    this.#store = store;
    this.#blockWork = blockWork;
    this.#keyRing = keyRing;
    this.#clock = clock;
  }

  /** The block of the user's present state, or undefined where there are no facts. */
  of(requester: Requester, userId: string): MaybePromise<UserBlock | undefined> {
    const { account } = requester;
    const slot = slotOf(account, userId);
    return andThen(this.#store.readStamp(account, userId), (stamp) => {
      if (stamp === undefined) {
        this.#cache.delete(slot);
        return undefined;
      }
      const cached = this.#cache.peek(slot);
      if (cached?.stamp === stamp) return cached;
      return this.#builds.join(`${slot}\0${stamp}`, requester.signal, async (signal) => {
        const state = await this.#store.readUser(account, userId);
        return state && (await this.build(this.#blockWork.begin({ ...requester, signal }), userId, state));
      });
    });
  }

  /** Builds the block of a state, whatever is cached. */
  async build(work: Work, userId: string, state: UserState): Promise<UserBlock> {
    const { account } = work;
    assert(state.facts.length > 0, "a user with a state has facts");
    const assembled = await this.#blockWork.build(work, {
      facts: state.facts,
      key: this.#keyRing.writing(account),
      userId,
      keep: (codes) => this.#keep(account, userId, codes),
    });
    const { text, carried, overflow } = assembled;
    const block = { userId, stamp: state.stamp, text, carried, overflow, facts: state.facts };
    this.#cache.set(slotOf(account, userId), block, weightOf(block));
    return block;
  }

  /** Computes the codes that the user's next block needs, in the background. */
  codeInBackground({ account, tier }: Requester, userId: string): void {
    const quietAtMs = this.#clock.now() + QUIET_MS;
    const coding = this.#background.get(account);
    if (coding === undefined) {
      const first = { users: new Set([userId]), quietAtMs };
      this.#background.set(account, first);
      void this.#codeWhenQuiet({ account, tier, background: true }, first);
      return;
    }
    coding.quietAtMs = quietAtMs;
    if (coding.users.size < BACKGROUND_USERS_MAX) coding.users.add(userId);
  }

  /** Takes a user's block out of the cache. */
  drop(account: string, userId: string): void {
    this.#cache.delete(slotOf(account, userId));
  }

  get cachedCount(): number {
    return this.#cache.size;
  }

  async #codeWhenQuiet(work: Work, coding: BackgroundCoding): Promise<void> {
    while (coding.users.size > 0) {
      const leftMs = coding.quietAtMs - this.#clock.now();
      if (leftMs > 0) await new Promise<void>((resolve) => this.#clock.after(leftMs, resolve));
      else await this.#codeUsers(work, coding);
    }
    this.#background.delete(work.account);
  }

  /** Codes one user after the other; stops when the account writes again. */
  async #codeUsers(work: Work, coding: BackgroundCoding): Promise<void> {
    const isQuiet = () => this.#clock.now() >= coding.quietAtMs;
    for (const userId of coding.users) {
      // Before the work: a write to this user in the meantime adds it again.
      coding.users.delete(userId);
      // Dropped for a request, or the store is unavailable: then the codes are computed on demand.
      await this.#codeUser(work, userId, isQuiet).catch(() => {});
      if (isQuiet()) continue;
      coding.users.add(userId);
      return;
    }
  }

  async #codeUser(work: Work, userId: string, isQuiet: () => boolean): Promise<void> {
    const { account } = work;
    const state = await this.#store.readUser(account, userId);
    if (state === undefined) return;
    // A request may have built the block in the meantime: then its codes are there.
    const isBuilt = () => this.#cache.peek(slotOf(account, userId))?.stamp === state.stamp;
    const keep = (codes: readonly ComputedCode[]) => this.#keep(account, userId, codes);
    await this.#blockWork.code(work, state.facts, keep, () => isQuiet() && !isBuilt());
  }

  #keep(account: string, userId: string, codes: readonly ComputedCode[]): void {
    // If this fails, the codes are computed again when next needed.
    this.#store.saveCodes(account, userId, codes).catch(() => {});
  }
}

/** The characters of the text and the values, twice: the answer that is made of them is kept too. */
function weightOf({ text, facts }: UserBlock): number {
  return 2 * facts.reduce((sum, { value }) => sum + value.length, text.length);
}

// Neither accounts nor user ids hold U+0000: the slot names exactly one user.
function slotOf(account: string, userId: string): string {
  return `${account}\0${userId}`;
}
