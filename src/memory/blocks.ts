/**
 * Blocks of users, cached by the stamp of the user's state. Two requests for the same block do the work once.
 * A cached block is as good as a fresh one: the same facts under the same key give the same words. Codes that the
 * next block will need are computed ahead of time, when nobody waits for anything.
 */

import { BoundedCache } from "../base/bounded-cache.ts";
import type { Work } from "./block-scheduler.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Asker, ComputedCode, Store, StoredFact, UserState } from "./ports.ts";
import { SharedWork } from "./shared-work.ts";
import type { Workshop } from "./workshop.ts";

export interface UserBlock {
  readonly userId: string;
  readonly stamp: string;
  readonly text: string;
  /** Channels that the block carries, and those that did not fit. */
  readonly carried: readonly number[];
  readonly overflow: readonly number[];
  readonly facts: readonly StoredFact[];
}

const CACHE_ENTRIES_MAX = 50_000;
/** Characters; about as many bytes. */
const CACHE_WEIGHT_MAX = 64 * 2 ** 20;
/** Users of one account whose codes are computed ahead of time; for those beyond it, on demand. */
const AHEAD_USERS_MAX = 100;
/** An account that writes without such a gap needs the processor for that, and a value may be written again at once. */
const SETTLE_MS = 250;

/** An account's users whose codes shall be computed ahead of time. */
interface AheadOf {
  readonly users: Set<string>;
  /** Fires when the account has not written for a while. */
  readonly timer: NodeJS.Timeout;
  /** So many so far. */
  writes: number;
  running: boolean;
}

export class Blocks {
  readonly #store: Store;
  readonly #workshop: Workshop;
  readonly #keyRing: KeyRing;
  readonly #cache = new BoundedCache<UserBlock>({
    entriesMax: CACHE_ENTRIES_MAX,
    weightMax: CACHE_WEIGHT_MAX,
  });
  readonly #builds = new SharedWork<UserBlock | undefined>();
  /** By account. */
  readonly #ahead = new Map<string, AheadOf>();

  constructor(store: Store, workshop: Workshop, keyRing: KeyRing) {
    this.#store = store;
    this.#workshop = workshop;
    this.#keyRing = keyRing;
  }

  /** The block of the user's present state, or undefined where there are no facts. */
  async of(asker: Asker, userId: string): Promise<UserBlock | undefined> {
    const { account } = asker;
    const slot = slotOf(account, userId);
    const stamp = await this.#store.readStamp(account, userId);
    if (stamp === undefined) {
      this.#cache.delete(slot);
      return undefined;
    }
    const cached = this.#cache.peek(slot);
    if (cached?.stamp === stamp) return cached;
    return this.#builds.join(`${slot}\0${stamp}`, asker.signal, async (signal) => {
      const state = await this.#store.readUser(account, userId);
      return state && (await this.build(this.#workshop.begin({ ...asker, signal }), userId, state));
    });
  }

  /** Builds the block of a state, whatever is cached. */
  async build(work: Work, userId: string, state: UserState): Promise<UserBlock> {
    const { account } = work;
    const assembled = await this.#workshop.build(work, {
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

  /** Has the codes computed that the user's next block needs, when there is time. */
  codeAhead({ account, tier }: Asker, userId: string): void {
    let ahead = this.#ahead.get(account);
    if (ahead === undefined) {
      const work = { account, tier, ahead: true } as const;
      const timer = setTimeout(() => void this.#codeUsers(work, this.#ahead.get(account)!), SETTLE_MS);
      ahead = { users: new Set(), timer: timer.unref(), writes: 0, running: false };
      this.#ahead.set(account, ahead);
    }
    if (ahead.users.size < AHEAD_USERS_MAX) ahead.users.add(userId);
    ahead.writes++;
    ahead.timer.refresh();
  }

  /** Takes a user's block out of the cache. */
  drop(account: string, userId: string): void {
    this.#cache.delete(slotOf(account, userId));
  }

  get cachedCount(): number {
    return this.#cache.size;
  }

  /** One user after the other; given up when the account writes again, to begin anew when it has stopped. */
  async #codeUsers(work: Work, ahead: AheadOf): Promise<void> {
    if (ahead.running) {
      ahead.timer.refresh();
      return;
    }
    ahead.running = true;
    const { writes } = ahead;
    const isQuiet = () => ahead.writes === writes;
    for (const userId of ahead.users) {
      // Dropped for something more urgent, or a store that is away: then the codes are computed on demand.
      await this.#codeUser(work, userId, isQuiet).catch(() => {});
      if (!isQuiet()) break;
      ahead.users.delete(userId);
    }
    ahead.running = false;
    if (ahead.users.size === 0) this.#ahead.delete(work.account);
  }

  async #codeUser(work: Work, userId: string, isQuiet: () => boolean): Promise<void> {
    const { account } = work;
    const state = await this.#store.readUser(account, userId);
    if (state === undefined) return;
    // Where a block was asked for in the meantime, its codes have been computed on demand.
    const isBuilt = () => this.#cache.peek(slotOf(account, userId))?.stamp === state.stamp;
    const keep = (codes: readonly ComputedCode[]) => this.#keep(account, userId, codes);
    await this.#workshop.code(work, state.facts, keep, () => isQuiet() && !isBuilt());
  }

  #keep(account: string, userId: string, codes: readonly ComputedCode[]): void {
    // Not kept is no loss: they are computed again when next needed.
    this.#store.saveCodes(account, userId, codes).catch(() => {});
  }
}

/** Text and values, and as much again for the answer that is made of them. */
function weightOf({ text, facts }: UserBlock): number {
  return 2 * facts.reduce((sum, { value }) => sum + value.length, text.length);
}

// Neither accounts nor user ids hold U+0000: the slot names exactly one user.
function slotOf(account: string, userId: string): string {
  return `${account}\0${userId}`;
}
