/**
 * Facts of users, prepared for finding them by words and kept by the stamp of the user's state, as blocks are. What a
 * write, an end or an erasure makes old is dropped at once where this process has done it, else when it is next asked for.
 */

import { BoundedCache } from "../base/bounded-cache.ts";
import type { FairTurns } from "../base/fair-turns.ts";
import { inSlices } from "../base/slices.ts";
import { FactIndex, type FindableFact } from "../find/find-facts.ts";
import type { AccountLabels, Labels } from "./labels.ts";
import { innermost } from "./places.ts";
import type { FactRecord, Store, View } from "./ports.ts";
import type { Place } from "./records.ts";
import { isShared } from "./shared-places.ts";
import { allFreeLabels, ownStamp, readViewStamp } from "./shared-reads.ts";

const ENTRIES_MAX = 10_000;
/** Bytes, about. */
const WEIGHT_MAX = 64 * 2 ** 20;
/** What a fact takes beside its texts, and what a character takes with the index of its words. */
const FACT_WEIGHT = 400;
const CHARACTER_WEIGHT = 8;

export interface IndexedFact extends FindableFact {
  readonly record: FactRecord;
}

interface PreparedView {
  readonly stamp: string;
  readonly index: FactIndex<IndexedFact>;
  readonly labels: AccountLabels;
  /** When the next of its facts expires. */
  readonly nextEndMs: number;
  readonly weight: number;
}

interface PreparedUser {
  /** The part of it that is the person's. */
  readonly stamp: string;
  readonly views: ReadonlyMap<string, PreparedView>;
}

export class FactIndexes {
  readonly #store: Store;
  readonly #labels: Labels;
  readonly #turns: FairTurns;
  readonly #cache: BoundedCache<PreparedUser>;
  /** The groups of labels that its store shows. */
  readonly #groups: string;

  constructor(
    services: { readonly store: Store; readonly labels: Labels; readonly turns: FairTurns },
    cache = new BoundedCache<PreparedUser>({ entriesMax: ENTRIES_MAX, weightMax: WEIGHT_MAX }),
    groups = "",
  ) {
    this.#store = services.store;
    this.#labels = services.labels;
    this.#turns = services.turns;
    this.#cache = cache;
    this.#groups = groups;
  }

  /** The same, of a store that shows some groups of labels. */
  seenBy(store: Store, labels: Labels, groups: string): FactIndexes {
    return new FactIndexes({ store, labels, turns: this.#turns }, this.#cache, groups);
  }

  /** The facts of a view, or those of all places of its user. */
  async of(view: View, everywhere: boolean): Promise<FactIndex<IndexedFact>> {
    const { account, userId, places, nowMs } = view;
    const slot = slotOf(account, userId);
    const name = `${this.#groups}\0${everywhere}\0${innermost(places)}`;
    const labels = await this.#labels.of(account);
    const stamp = await readViewStamp(this.#store, view);
    const user = this.#cache.get(slot);
    const isStale = user !== undefined && user.stamp !== (stamp && ownStamp(stamp));
    if (isStale) this.#cache.delete(slot);
    const found = isStale ? undefined : user?.views.get(name);
    const known = found?.stamp === stamp ? found : undefined;
    if (known?.labels === labels && nowMs < known.nextEndMs) return known.index;
    const state = await (everywhere ? this.#readAll(view, stamp) : this.#store.readUser(view));
    const facts = state?.facts ?? [];
    const index = await this.#indexOf(facts, view, { labels, everywhere });
    if (state === undefined || state.stamp !== stamp) return index;
    const nextEndMs = facts.reduce((end, { expiresAtMs }) => Math.min(end, expiresAtMs ?? end), Infinity);
    const latest = this.#cache.get(slot);
    const own = ownStamp(state.stamp);
    const views = new Map(latest?.stamp === own ? latest.views : []);
    views.set(name, { stamp: state.stamp, index, labels, nextEndMs, weight: weightOf(index.facts) });
    const weight = [...views.values()].reduce((sum, one) => sum + one.weight, 0);
    this.#cache.set(slot, { stamp: own, views }, weight);
    return index;
  }

  /** The facts of all places of a person, and those that the view shares. */
  async #readAll({ account, userId, places, nowMs }: View, stamp: string | undefined) {
    const asked = { nowMs, isPresent: true };
    const own = await this.#store.readLife(account, userId, asked);
    const place = places.find(isShared);
    if (place === undefined) return own;
    const team = await this.#store.readLife(account, userId, { ...asked, place });
    // The first place is the person's own, and the shared one is inside it.
    const facts = [...(own?.facts ?? []), ...(team?.facts ?? [])];
    facts.sort((a, b) => Number(a.place > b.place) - Number(a.place < b.place));
    return { stamp: stamp ?? "", facts };
  }

  /** Takes a user's facts out of the cache. */
  drop(account: string, userId: string): void {
    this.#cache.delete(slotOf(account, userId));
  }

  async #indexOf(
    facts: readonly FactRecord[],
    view: View,
    { labels, everywhere }: { readonly labels: AccountLabels; readonly everywhere: boolean },
  ): Promise<FactIndex<IndexedFact>> {
    const turn = () => this.#turns.next(view.account);
    const hasFree = facts.some(({ label }) => labels.find(label) === undefined);
    const free = hasFree ? await allFreeLabels(this.#store, view, turn) : undefined;
    const counting = everywhere ? countingPlaces(facts, view.places) : undefined;
    const findable = function* (): Generator<IndexedFact> {
      for (const record of facts) {
        const { label, value, place } = record;
        const { description } = labels.find(label) ?? free?.get(label) ?? {};
        const isElsewhere = counting !== undefined && counting.get(label) !== place;
        yield { label, value, description, isElsewhere, record };
      }
    };
    return inSlices(FactIndex.of(findable()), turn);
  }
}

/** Where the fact that counts in some places is, by label. The facts come by place, and outer places before inner ones. */
function countingPlaces(facts: readonly FactRecord[], places: readonly Place[]): Map<string, Place> {
  const counting = new Map<string, Place>();
  for (const { label, place } of facts) if (places.includes(place)) counting.set(label, place);
  return counting;
}

function weightOf(facts: readonly FindableFact[]): number {
  return facts.reduce(
    (sum, { label, value, description }) =>
      sum + FACT_WEIGHT + CHARACTER_WEIGHT * (label.length + value.length + (description?.length ?? 0)),
    0,
  );
}

function slotOf(account: string, userId: string): string {
  return `${account}\0${userId}`;
}
