/**
 * A cache with a limit on entries and on their total weight. The least recently used leaves first: a Map keeps
 * insertion order, and a hit re-inserts.
 */

import { assert } from "./assert.ts";

export class BoundedCache<V> {
  readonly #entries = new Map<string, { value: V; weight: number }>();
  readonly #entriesMax: number;
  readonly #weightMax: number;
  #weight = 0;

  constructor(limits: { entriesMax: number; weightMax?: number }) {
    assert(limits.entriesMax >= 1, "a cache holds at least one entry");
    this.#entriesMax = limits.entriesMax;
    this.#weightMax = limits.weightMax ?? Number.POSITIVE_INFINITY;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Like get, but does not mark the entry as used. It is cheaper, for the busiest paths. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: V, weight = 1): void {
    this.delete(key);
    if (weight > this.#weightMax) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#entriesMax && this.#weight <= this.#weightMax) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }
}
