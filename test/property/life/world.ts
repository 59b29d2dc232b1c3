/** Two stores, of which one is in use: it is opened again, compacted, and its accounts move to the other. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../src/base/clock.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import type { Store } from "../../../src/memory/ports.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { FakeClock } from "../../unit/blockwork/fake-workers.ts";

export interface World {
  readonly clock: FakeClock;
  readonly store: Store;
  /** Opens the store in use again where another limit is asked for; always, with `again`. */
  open(historyMax: number, again?: boolean): Promise<Store>;
  compact(): Promise<void>;
  /** Puts the other store into use; the one that was before. */
  exchange(): Promise<Store>;
  end(): Promise<void>;
}

interface Opened<S> {
  readonly store: S;
  readonly historyMax: number;
}

/** The store has the world's clock: a compaction removes what was answered days ago. */
type Opener<S> = (historyMax: number, clock: Clock) => Promise<S>;

/** A world of stores that can be opened again. */
export class StoreWorld<S extends Store> implements World {
  readonly clock = new FakeClock();
  readonly #openers: readonly Opener<S>[];
  readonly #compact: (store: S) => Promise<unknown>;
  readonly #opened: (Opened<S> | undefined)[] = [];
  #inUse = 0;

  constructor(openers: readonly Opener<S>[], compact: (store: S) => Promise<unknown>) {
    this.#openers = openers;
    this.#compact = compact;
  }

  get store(): S {
    return this.#opened[this.#inUse]!.store;
  }

  async open(historyMax: number, again = false): Promise<S> {
    const known = this.#opened[this.#inUse];
    if (known !== undefined && known.historyMax === historyMax && !again) return known.store;
    await known?.store.close();
    const store = await this.#openers[this.#inUse](historyMax, this.clock);
    this.#opened[this.#inUse] = { store, historyMax };
    return store;
  }

  async compact(): Promise<void> {
    await this.#compact(this.store);
  }

  async exchange(): Promise<S> {
    const { store, historyMax } = this.#opened[this.#inUse]!;
    this.#inUse = (this.#inUse + 1) % this.#openers.length;
    await this.open(historyMax);
    return store;
  }

  async end(): Promise<void> {
    for (const opened of this.#opened) await opened?.store.close();
  }
}

/** Two data folders, which are removed at the end. */
export function embeddedWorld(): World {
  const home = mkdtempSync(join(tmpdir(), "sideband-life-"));
  const opener =
    (name: string): Opener<LmdbStore> =>
    (historyMax, clock) =>
      openFolder(join(home, name), historyMax, clock);
  const world = new StoreWorld([opener("a"), opener("b")], (store) => store.compact());
  const end = world.end.bind(world);
  world.end = async () => {
    await end();
    rmSync(home, { recursive: true });
  };
  return world;
}

export function openFolder(folder: string, historyMax: number, clock: Clock): Promise<LmdbStore> {
  return LmdbStore.open({ folder, create: true, queueMax: 1000, metrics: new Metrics(), historyMax, clock });
}
