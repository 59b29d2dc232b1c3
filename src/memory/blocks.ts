/**
 * Blocks of users, cached by the stamp of the user's state. Two requests for the same block do the work once.
 * A cached block is as good as a fresh one: the same facts under the same key give the same words.
 */

import { createHash } from "node:crypto";
import { BoundedCache } from "../base/bounded-cache.ts";
import { chain, type Eventual } from "../base/eventual.ts";
import type { KeyRing } from "./key-ring.ts";
import { labelOf } from "./labels.ts";
import type { BuildResult, Store, StoredFact, UserState, Workshop } from "./ports.ts";

export interface UserBlock {
  readonly stamp: string;
  readonly text: string;
  /** Channels that the block carries, and those that did not fit. */
  readonly carried: readonly number[];
  readonly overflow: readonly number[];
  readonly facts: readonly StoredFact[];
  /** The answer of /context, as JSON: it is asked for far more often than it changes. */
  readonly contextJson: string;
  readonly etag: string;
}

const CACHE_ENTRIES_MAX = 50_000;
/** Characters; about as many bytes. */
const CACHE_WEIGHT_MAX = 64 * 2 ** 20;

export class Blocks {
  readonly #store: Store;
  readonly #workshop: Workshop;
  readonly #keyRing: KeyRing;
  readonly #cache = new BoundedCache<UserBlock>({
    entriesMax: CACHE_ENTRIES_MAX,
    weightMax: CACHE_WEIGHT_MAX,
  });
  readonly #inFlight = new Map<string, Promise<UserBlock>>();

  constructor(store: Store, workshop: Workshop, keyRing: KeyRing) {
    this.#store = store;
    this.#workshop = workshop;
    this.#keyRing = keyRing;
  }

  /** The block of the user's present state, or undefined where there are no facts. */
  of(account: string, userId: string): Eventual<UserBlock | undefined> {
    const slot = slotOf(account, userId);
    return chain(this.#store.readStamp(account, userId), (stamp): Eventual<UserBlock | undefined> => {
      if (stamp === undefined) {
        this.#cache.delete(slot);
        return undefined;
      }
      const cached = this.#cache.peek(slot);
      if (cached?.stamp === stamp) return cached;
      return this.#once(`${slot}\0${stamp}`, async () => {
        const state = await this.#store.readUser(account, userId);
        return state && (await this.build(account, userId, state));
      });
    });
  }

  /** The block of the user's present state where it is at hand: built before, and nothing to be waited for. */
  cached(account: string, userId: string): UserBlock | undefined {
    const stamp = this.#store.readStamp(account, userId);
    const block = this.#cache.peek(slotOf(account, userId));
    return block?.stamp === stamp ? block : undefined;
  }

  /** Builds the block of a state, whatever is cached. */
  async build(account: string, userId: string, state: UserState): Promise<UserBlock> {
    const result = await this.#workshop.build({
      facts: state.facts,
      key: this.#keyRing.writing(account),
      userId,
    });
    this.#keepCodes(account, userId, result);
    const block = describe(userId, state, result);
    this.#cache.set(slotOf(account, userId), block, block.contextJson.length + block.text.length);
    return block;
  }

  /** Takes a user's block out of the cache. */
  drop(account: string, userId: string): void {
    this.#cache.delete(slotOf(account, userId));
  }

  get cachedCount(): number {
    return this.#cache.size;
  }

  async #once(slot: string, work: () => Promise<UserBlock | undefined>): Promise<UserBlock | undefined> {
    let promise = this.#inFlight.get(slot) as Promise<UserBlock | undefined> | undefined;
    if (promise === undefined) {
      promise = work().finally(() => this.#inFlight.delete(slot));
      this.#inFlight.set(slot, promise as Promise<UserBlock>);
    }
    return promise;
  }

  #keepCodes(account: string, userId: string, result: BuildResult): void {
    if (!this.#workshop.keepsCodes || result.codes.length === 0) return;
    // Not kept is no loss: they are computed again when next needed.
    this.#store.saveCodes(account, userId, result.codes).catch(() => {});
  }
}

export function emptyContext(userId: string): { contextJson: string; etag: string } {
  return contextOf(userId, [], "");
}

function describe(userId: string, state: UserState, result: BuildResult): UserBlock {
  const { contextJson, etag } = contextOf(userId, state.facts, result.text);
  const { text, carried, overflow } = result;
  return { stamp: state.stamp, text, carried, overflow, facts: state.facts, contextJson, etag };
}

function contextOf(
  userId: string,
  facts: readonly StoredFact[],
  text: string,
): { contextJson: string; etag: string } {
  const labels = facts.map(({ channel }) => labelOf(channel));
  const contextJson = JSON.stringify({
    user_id: userId,
    fdm_block: text,
    channel_count: facts.length,
    channel_labels: labels,
    plain_index: facts.map(({ value }, i) => `${labels[i]}=${value}`).join("\n"),
  });
  return {
    contextJson,
    etag: `"${createHash("sha256").update(contextJson).digest("base64url").slice(0, 27)}"`,
  };
}

// Neither accounts nor user ids hold U+0000: the slot names exactly one user.
function slotOf(account: string, userId: string): string {
  return `${account}\0${userId}`;
}
