/**
 * Blocks of users, cached by the stamp of the user's state. Two requests for the same block do the work once.
 * A cached block is as good as a fresh one: the same facts under the same key give the same words. Code bits are computed
 * when a block is asked for. Of users whose blocks were asked for within a week, those that the next block will need are
 * computed ahead, in the background, when no request waits. When that was is kept in memory alone
 * (docs/decisions/0015-block-scheduler.md).
 */

import type { Requester } from "../base/accounts.ts";
import { assert } from "../base/assert.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import type { TimerClock } from "../base/clock.ts";
import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { SingleFlight } from "../base/single-flight.ts";
import type { Work } from "../blockwork/block-scheduler.ts";
import type { BlockWork } from "../blockwork/block-work.ts";
import type { CodableFact, ComputedCode } from "../blockwork/fact-code.ts";
import { CARRIERS_MAX } from "../codec/block-room.ts";
import type { KeyRing } from "./key-ring.ts";
import type { FactsInOrder, Labels } from "./labels.ts";
import { innermost, sealOwner } from "./places.ts";
import type { FactRecord, Store, UserState, View } from "./ports.ts";
import type { Place } from "./records.ts";
import { acceptedState } from "./review.ts";
import { ownStamp, readViewStamp } from "./shared-reads.ts";

export interface UserBlock {
  readonly userId: string;
  readonly stamp: string;
  readonly text: string;
  /** Labels that did not fit, in channel order. */
  readonly overflow: readonly string[];
  /** How many are in use, of those that may be. */
  readonly carriers: { readonly used: number; readonly max: number };
  /** In channel order, and the channel on which a reader of the block finds each: undefined where it did not fit. */
  readonly facts: readonly FactRecord[];
  readonly channels: readonly (number | undefined)[];
  /** When the next of its facts expires: then it is no longer the user's block. */
  readonly nextEndMs: number | null;
}

/** The blocks of one user at several places, of one state; what is shared there has states of its own. */
interface UserBlocks {
  /** The part of it that is the person's. */
  readonly stamp: string;
  /** By groups and place. */
  readonly byPlace: ReadonlyMap<string, UserBlock>;
}

/** A block that was built afresh and read back. */
export interface FlushedBlock {
  /** 0 where the user has no facts: then there is no block. */
  readonly channelCount: number;
  /** Whether every fact was read back from the fresh block and found equal. */
  readonly lossless: boolean;
  readonly text: string;
  /** Labels that did not fit the block. */
  readonly overflow: readonly string[];
}

const CACHE_ENTRIES_MAX = 50_000;
/** Characters; about as many bytes. */
const CACHE_WEIGHT_MAX = 64 * 2 ** 20;
/** Users of one account whose codes are computed in the background; the codes of further users, on demand. */
const BACKGROUND_USERS_MAX = 100;
/** For so long after a block was asked for, codes of its user are computed ahead. */
export const ASKED_FOR_MS = 7 * 86_400_000;
/** How exactly the moment is known: a busy path then seldom writes it. */
const ASKED_STEP_MS = 60_000;
const ASKED_USERS_MAX = 100_000;
/** Background coding starts after this pause in writes: before, the processor is needed, and values may change again. */
export const QUIET_MS = 250;

/** An account's views whose codes are to be computed in the background, by whom their blocks are sealed for. */
interface BackgroundCoding {
  readonly views: Map<string, View>;
  /** When the account will not have written for QUIET_MS. */
  quietAtMs: number;
}

interface BlocksOptions {
  readonly store: Store;
  readonly blockWork: BlockWork;
  readonly keyRing: KeyRing;
  readonly labels: Labels;
  readonly clock: TimerClock;
  /** As in the services. */
  readonly review?: boolean;
}

export class Blocks {
  readonly #store: Store;
  readonly #blockWork: BlockWork;
  readonly #keyRing: KeyRing;
  readonly #labels: Labels;
  readonly #clock: TimerClock;
  readonly #review: boolean;
  readonly #options: BlocksOptions;
  /** Those of all groups of labels. */
  readonly #whole: Blocks;
  readonly #groups: string;
  readonly #cache: BoundedCache<UserBlocks>;
  readonly #builds: SingleFlight<UserBlock | undefined>;
  /** When a block of a user was last asked for. */
  readonly #askedMs: BoundedCache<number>;
  /** By account. */
  readonly #background = new Map<string, BackgroundCoding>();
  /** Told of users whose blocks are dropped, since their facts have changed. */
  onDrop: (account: string, userId: string) => void = () => {};

  /** @param whole where these are of some groups alone (Groups.text): they are cached apart, and dropped together */
  constructor(options: BlocksOptions, whole?: Blocks, groups = "") {
    const { store, blockWork, keyRing, labels, clock, review = false } = options;
    this.#options = options;
    this.#whole = whole ?? this;
    this.#groups = groups;
    const limits = { entriesMax: CACHE_ENTRIES_MAX, weightMax: CACHE_WEIGHT_MAX };
    this.#cache = whole === undefined ? new BoundedCache(limits) : whole.#cache;
    this.#builds = whole === undefined ? new SingleFlight() : whole.#builds;
    this.#askedMs = whole === undefined ? new BoundedCache({ entriesMax: ASKED_USERS_MAX }) : whole.#askedMs;
    this.#store = store;
    this.#blockWork = blockWork;
    this.#keyRing = keyRing;
    this.#labels = labels;
    this.#clock = clock;
    this.#review = review;
  }

  /** The blocks of what a store and its labels show of some groups. */
  seenBy(store: Store, labels: Labels, groups: string): Blocks {
    return new Blocks({ ...this.#options, store, labels }, this.#whole, groups);
  }

  /** The block of a view's present state, or undefined where there are no facts. */
  of(requester: Requester, view: View): MaybePromise<UserBlock | undefined> {
    const { account, userId, places, nowMs } = view;
    const slot = slotOf(account, userId);
    return andThen(readViewStamp(this.#store, view), (stamp) => {
      if (stamp === undefined) {
        this.#cache.delete(slot);
        this.#askedMs.delete(slot);
        return undefined;
      }
      this.#noteAsked(slot);
      const place = this.#nameOf(places);
      const cached = this.#cache.peek(slot);
      const found = cached?.stamp === ownStamp(stamp) ? cached.byPlace.get(place) : undefined;
      const block = found?.stamp === stamp ? found : undefined;
      if (block !== undefined && (block.nextEndMs === null || nowMs < block.nextEndMs)) return block;
      const name = `${slot}\0${stamp}\0${place}\0${block?.nextEndMs}`;
      return this.#builds.join(name, requester.signal, async (signal) => {
        const stored = await this.#store.readUser(view);
        const state = this.#review ? await acceptedState(this.#store, view, stored) : stored;
        return state && (await this.build(this.#blockWork.begin({ ...requester, signal }), view, state));
      });
    });
  }

  /** Builds the block of a state, whatever is cached. */
  async build(work: Work, view: View, { stamp, facts: stored, nextEndMs }: UserState): Promise<UserBlock> {
    const { account, userId, places } = view;
    assert(stored.length > 0, "a user with a state has facts");
    const inOrder = await this.#labels.inOrder(account, stored);
    const { facts } = inOrder;
    const codable = codableFacts(inOrder);
    const { text, carried, carriers } = await this.#blockWork.build(work, {
      facts: codable,
      key: this.#keyRing.writing(account),
      userId: sealOwner(view),
      keep: (codes) => this.#keep(view, codable, codes),
    });
    const room = { used: carriers, max: CARRIERS_MAX };
    const channels = channelsRead(codable, carried);
    const overflow = facts.filter((_, i) => channels[i] === undefined).map(({ label }) => label);
    const block = { userId, stamp, text, overflow, carriers: room, facts, channels, nextEndMs };
    const slot = slotOf(account, userId);
    this.#noteAsked(slot);
    const cached = this.#cache.peek(slot);
    const own = ownStamp(stamp);
    const byPlace = new Map(cached?.stamp === own ? cached.byPlace : []).set(this.#nameOf(places), block);
    const weight = [...byPlace.values()].reduce((sum, each) => sum + weightOf(each), 0);
    this.#cache.set(slot, { stamp: own, byPlace }, weight);
    return block;
  }

  /** Computes the codes that a view's next block needs, in the background; nothing where nobody asks for blocks. */
  codeInBackground({ account, tier }: Requester, view: View): void {
    if (this.#whole !== this) {
      this.#whole.codeInBackground({ account, tier }, view);
      return;
    }
    const askedMs = this.#askedMs.peek(slotOf(account, view.userId));
    if (askedMs === undefined || this.#clock.now() - askedMs > ASKED_FOR_MS) return;
    const name = sealOwner(view);
    const quietAtMs = this.#clock.now() + QUIET_MS;
    const coding = this.#background.get(account);
    if (coding === undefined) {
      const first = { views: new Map([[name, view]]), quietAtMs };
      this.#background.set(account, first);
      void this.#codeWhenQuiet({ account, tier, background: true }, first);
      return;
    }
    coding.quietAtMs = quietAtMs;
    if (coding.views.size < BACKGROUND_USERS_MAX) coding.views.set(name, view);
  }

  /** Takes a user's blocks out of the cache. */
  drop(account: string, userId: string): void {
    this.#whole.onDrop(account, userId);
    this.#cache.delete(slotOf(account, userId));
  }

  /** Leaves nothing of a user who was erased. */
  forget(account: string, userId: string): void {
    this.drop(account, userId);
    this.#askedMs.delete(slotOf(account, userId));
  }

  get cachedCount(): number {
    return this.#cache.size;
  }

  async #codeWhenQuiet(work: Work, coding: BackgroundCoding): Promise<void> {
    while (coding.views.size > 0) {
      const leftMs = coding.quietAtMs - this.#clock.now();
      if (leftMs > 0) await new Promise<void>((resolve) => this.#clock.after(leftMs, resolve));
      else await this.#codeUsers(work, coding);
    }
    this.#background.delete(work.account);
  }

  /** Codes one user after the other; stops when the account writes again. */
  async #codeUsers(work: Work, coding: BackgroundCoding): Promise<void> {
    const isQuiet = () => this.#clock.now() >= coding.quietAtMs;
    for (const [name, view] of coding.views) {
      // Before the work: a write to this user in the meantime adds it again.
      coding.views.delete(name);
      // Dropped for a request, or the store is unavailable: then the codes are computed on demand.
      await this.#codeUser(work, view, isQuiet).catch(() => {});
      if (isQuiet()) continue;
      coding.views.set(name, view);
      return;
    }
  }

  async #codeUser(work: Work, view: View, isQuiet: () => boolean): Promise<void> {
    const { account, userId, places } = view;
    const state = await this.#store.readUser(view);
    if (state === undefined) return;
    // A request may have built the block in the meantime: then its codes are there.
    const isBuilt = () => {
      const cached = this.#cache.peek(slotOf(account, userId));
      const block = cached?.byPlace.get(this.#nameOf(places));
      return cached?.stamp === ownStamp(state.stamp) && block?.stamp === state.stamp;
    };
    const codable = codableFacts(await this.#labels.inOrder(account, state.facts));
    const keep = (codes: readonly ComputedCode[]) => this.#keep(view, codable, codes);
    await this.#blockWork.code(work, codable, keep, () => isQuiet() && !isBuilt());
  }

  #noteAsked(slot: string): void {
    const nowMs = this.#clock.now();
    const knownMs = this.#askedMs.peek(slot);
    if (knownMs === undefined || nowMs - knownMs >= ASKED_STEP_MS) this.#askedMs.set(slot, nowMs);
  }

  #nameOf(places: readonly Place[]): string {
    return `${this.#groups}\0${innermost(places)}`;
  }

  #keep({ account, userId }: View, codable: readonly PlacedFact[], codes: readonly ComputedCode[]): void {
    const byChannel = new Map(codable.map((fact) => [fact.channel, fact]));
    const placed = codes.map(({ channel, ...code }) => {
      const { place, label } = byChannel.get(channel)!;
      return { ...code, place, label };
    });
    // If this fails, the codes are computed again when next needed.
    this.#store.saveCodes(account, userId, placed).catch(() => {});
  }
}

/** A fact as it goes into a block. */
type PlacedFact = CodableFact & Pick<FactRecord, "place" | "label">;

/** Those under free labels are counted from 256 on here: a block does not depend on the numbers of a person's labels. */
export function codableFacts({ facts, channels }: FactsInOrder<FactRecord>): PlacedFact[] {
  return facts.map(({ place, label, value, revision, code }, i) => {
    const channel = channels[i] < CHANNEL_COUNT_MAX ? channels[i] : CHANNEL_COUNT_MAX + i;
    return { channel, place, label, value, revision, ...(code === undefined ? {} : { code }) };
  });
}

/** The channel on which a reader of the block finds each fact; undefined where it is not carried. */
export function channelsRead(
  facts: readonly CodableFact[],
  carried: readonly number[],
): readonly (number | undefined)[] {
  const rides = new Set(carried);
  let free = CHANNEL_COUNT_MAX;
  return facts.map(({ channel }) => {
    if (!rides.has(channel)) return undefined;
    return channel < CHANNEL_COUNT_MAX ? channel : free++;
  });
}

/** The characters of the text and the values, twice: the answer that is made of them is kept too. */
function weightOf({ text, facts }: UserBlock): number {
  return 2 * facts.reduce((sum, { value }) => sum + value.length, text.length);
}

// Neither accounts nor user ids hold U+0000: the slot names exactly one user.
function slotOf(account: string, userId: string): string {
  return `${account}\0${userId}`;
}
