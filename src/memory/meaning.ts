/**
 * Facts by meaning, where the operator has named an embedding service. Vectors are made in the background, after writes
 * and where a search has missed one, and are kept in the records of their facts: whatever changes or removes a fact removes
 * its vector. No write waits for the service, and no search longer than its limit.
 */

import { createHash } from "node:crypto";
import type { Clock, TimerClock } from "../base/clock.ts";
import type { FactIndex } from "../find/find-facts.ts";
import { meanVector, nearestFacts, packVector, textsOf } from "../find/meaning.ts";
import type { FactIndexes, IndexedFact } from "./fact-indexes.ts";
import { OWN_PLACE } from "./places.ts";
import type { FactRecord, Store, View } from "./ports.ts";
import { projectUser, sharedIn, sharedPlace } from "./shared-places.ts";
import { StoreLayer } from "./store-layer.ts";

/** Makes vectors of texts. */
export interface Embeddings {
  readonly model: string;
  embed(texts: readonly string[], limitMs: number): Promise<readonly (readonly number[])[]>;
}

/** How long a search waits for the vector of its query. */
const QUERY_LIMIT_MS = 300;
const BATCH_LIMIT_MS = 30_000;
/** Facts in one call of the service, each with two texts. */
const BATCH_MAX = 16;
/** Users whose facts wait for vectors; those of further users are made when they are next looked for. */
const QUEUE_MAX = 10_000;
/** Before a user's facts are looked through: more of them may be written. */
const PAUSE_MS = 250;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 300_000;
/** Bytes of a vector's digest: it says which model has made it, of which text. */
const DIGEST_BYTES = 8;

interface MeaningOptions {
  readonly store: Store;
  readonly indexes: FactIndexes;
  readonly embeddings: Embeddings;
  readonly clock: Clock;
  readonly timers: TimerClock;
}

export class Meaning {
  readonly #store: Store;
  readonly #indexes: FactIndexes;
  readonly #embeddings: Embeddings;
  readonly #clock: Clock;
  readonly #timers: TimerClock;
  /** Those of indexes whose facts all have one. */
  readonly #complete = new WeakMap<FactIndex<IndexedFact>, readonly (Int8Array | undefined)[]>();
  readonly #queue = new Map<string, { readonly account: string; readonly userId: string }>();
  #isWorking = false;
  #isClosed = false;

  constructor({ store, indexes, embeddings, clock, timers }: MeaningOptions) {
    this.#store = store;
    this.#indexes = indexes;
    this.#embeddings = embeddings;
    this.#clock = clock;
    this.#timers = timers;
  }

  /** A store whose writes are followed by their vectors. */
  watched(store: Store): Store {
    const layer = new StoreLayer(store);
    layer.write = async (request) => {
      const outcome = await store.write(request);
      if (outcome.outcome !== "stored") return outcome;
      this.#enqueue(request.account, request.userId);
      if (request.shared !== undefined) this.#enqueue(request.account, projectUser(request.shared.project));
      return outcome;
    };
    return layer;
  }

  /** The vector of a query; undefined where the service does not give it in time. */
  async vectorOf(query: string): Promise<Int8Array | undefined> {
    try {
      const [vector] = await this.#embeddings.embed([query], QUERY_LIMIT_MS);
      return packVector(vector);
    } catch {
      return undefined;
    }
  }

  /** The facts of an index that are near to a query, the nearest first. */
  async nearest(
    { account, userId, places }: Pick<View, "account" | "userId" | "places">,
    index: FactIndex<IndexedFact>,
    query: Int8Array,
  ): Promise<IndexedFact[]> {
    const vectors = this.#complete.get(index) ?? (await this.#vectorsOf({ account, userId, places }, index));
    const shared = sharedIn(places);
    if (vectors.includes(undefined)) {
      this.#enqueue(account, userId);
      if (shared !== undefined) this.#enqueue(account, projectUser(shared));
    } else this.#complete.set(index, vectors);
    return nearestFacts(index.facts, vectors, query);
  }

  close(): void {
    this.#isClosed = true;
    this.#queue.clear();
  }

  async #vectorsOf(
    { account, userId, places }: Pick<View, "account" | "userId" | "places">,
    { facts }: FactIndex<IndexedFact>,
  ) {
    const own = await this.#store.readVectors(account, userId);
    const shared = sharedIn(places);
    const team = shared === undefined ? [] : await this.#store.readVectors(account, projectUser(shared));
    const placed = team.map((one) => ({ ...one, place: sharedPlace(shared!) }));
    const stored = new Map([...own, ...placed].map((one) => [vectorName(one), one.vector]));
    return facts.map((fact) => {
      const bytes = stored.get(vectorName(fact.record));
      const isCurrent = bytes !== undefined && this.#digestOf(fact).equals(bytes.subarray(0, DIGEST_BYTES));
      return isCurrent ? Int8Array.from(bytes.subarray(DIGEST_BYTES)) : undefined;
    });
  }

  #digestOf(fact: IndexedFact): Buffer {
    const text = `${this.#embeddings.model}\0${textsOf(fact).join("\0")}`;
    return createHash("sha256").update(text).digest().subarray(0, DIGEST_BYTES);
  }

  #enqueue(account: string, userId: string): void {
    if (this.#isClosed || this.#queue.size >= QUEUE_MAX) return;
    this.#queue.set(`${account}\0${userId}`, { account, userId });
    if (!this.#isWorking) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    let retryMs = RETRY_MS_MIN;
    while (this.#queue.size > 0 && !this.#isClosed) {
      await this.#wait(PAUSE_MS);
      const [next] = this.#queue;
      if (next === undefined) break;
      const [name, user] = next;
      this.#queue.delete(name);
      try {
        await this.#makeVectors(user.account, user.userId);
        retryMs = RETRY_MS_MIN;
      } catch {
        if (!this.#isClosed) this.#queue.set(name, user);
        await this.#wait(retryMs);
        retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
      }
    }
    this.#isWorking = false;
  }

  async #makeVectors(account: string, userId: string): Promise<void> {
    const view = { account, userId, places: [OWN_PLACE], nowMs: this.#clock.now() };
    const index = await this.#indexes.of(view, true);
    const vectors = await this.#vectorsOf(view, index);
    const missing = index.facts.filter((_, i) => vectors[i] === undefined);
    for (let i = 0; i < missing.length && !this.#isClosed; i += BATCH_MAX) {
      const facts = missing.slice(i, i + BATCH_MAX);
      const made = await this.#embeddings.embed(facts.flatMap(textsOf), BATCH_LIMIT_MS);
      const placed = facts.map((fact, at) => {
        const { place, label, revision } = fact.record;
        const mean = packVector(meanVector(made.slice(2 * at, 2 * at + 2)));
        const vector = Buffer.concat([this.#digestOf(fact), Buffer.from(mean.buffer)]);
        return { place, label, revision, vector };
      });
      await this.#store.saveVectors(account, userId, placed);
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#timers.after(ms, resolve));
  }
}

function vectorName({ place, label, revision }: Pick<FactRecord, "place" | "label" | "revision">): string {
  return `${place}\0${label}\0${revision}`;
}
