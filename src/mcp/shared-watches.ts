/**
 * The memories that somebody listens to at /mcp, of all accounts. However many listen to a user's memory, and however they
 * write its address, it is watched once. Another stamp is a change: no fact is read for it. One timer serves all, and
 * reads the stamps of many users at once.
 */

import { withThousands } from "../base/thousands.ts";
import type { FactStore } from "../memory/ports.ts";
import { WATCH_INTERVAL_MS } from "./watch.ts";

/** How many memories one client may listen to. */
export const WATCHED_MAX = 16;
/** How many memories the clients of one account may listen to at once. */
export const ACCOUNT_WATCHED_MAX = 1_024;
/** Users in one read. */
const PAGE = 256;
/** What no stamp is equal to: whatever is read next counts as a change. */
const UNREADABLE = "";

/** Called with a user whose memory has changed. */
export type OnChange = (userId: string) => void;

interface SharedWatch {
  readonly account: string;
  readonly userId: string;
  /** Who is told, with the number of those who asked for it. */
  readonly listeners: Map<OnChange, number>;
  /** The stamp that was seen last; null without facts, undefined before the first look. */
  seen: string | null | undefined;
}

export class TooManyWatches extends Error {
  override name = "TooManyWatches";

  constructor() {
    super(
      `The clients of an account listen to at most ${withThousands(ACCOUNT_WATCHED_MAX)} memories at once on a node. ` +
        "End a subscription before you begin another.",
    );
  }
}

export class SharedWatches {
  readonly #store: Pick<FactStore, "readStamp" | "readStamps">;
  readonly #watches = new Map<string, SharedWatch>();
  /** Watches by account. */
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(store: Pick<FactStore, "readStamp" | "readStamps">) {
    this.#store = store;
  }

  /** Watches a memory until the function that it returns is called. Throws TooManyWatches. */
  hold(account: string, userId: string, onChange: OnChange): () => void {
    const key = keyOf(account, userId);
    const watch = this.#watches.get(key) ?? this.#begin(key, account, userId);
    const { listeners } = watch;
    listeners.set(onChange, (listeners.get(onChange) ?? 0) + 1);
    return () => {
      const left = listeners.get(onChange)! - 1;
      if (left > 0) listeners.set(onChange, left);
      else listeners.delete(onChange);
      if (listeners.size === 0) this.#end(key, account);
    };
  }

  /** Resolves when no change of a memory that is watched can be missed any more. */
  async check(account: string, userId: string): Promise<void> {
    const watch = this.#watches.get(keyOf(account, userId));
    if (watch?.seen === undefined && watch !== undefined) await this.#readOne(watch);
  }

  #begin(key: string, account: string, userId: string): SharedWatch {
    const count = this.#counts.get(account) ?? 0;
    if (count >= ACCOUNT_WATCHED_MAX) throw new TooManyWatches();
    this.#counts.set(account, count + 1);
    const watch: SharedWatch = { account, userId, listeners: new Map(), seen: undefined };
    this.#watches.set(key, watch);
    // Watching keeps no process alive.
    this.#timer ??= setInterval(() => void this.#look(), WATCH_INTERVAL_MS).unref();
    return watch;
  }

  #end(key: string, account: string): void {
    this.#watches.delete(key);
    const count = this.#counts.get(account)! - 1;
    if (count > 0) this.#counts.set(account, count);
    else this.#counts.delete(account);
    if (this.#watches.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const watches = [...this.#watches.values()];
      for (let first = 0; first < watches.length; first += PAGE) {
        // A store that answers at once would hold up the requests that wait.
        if (first > 0) await new Promise((resolve) => setImmediate(resolve));
        await this.#read(watches.slice(first, first + PAGE));
      }
    } finally {
      this.#looking = false;
    }
  }

  async #read(watches: readonly SharedWatch[]): Promise<void> {
    let stamps: readonly (string | undefined)[];
    try {
      stamps = await this.#store.readStamps(watches);
    } catch {
      // A damaged record, or a machine of a cluster that is away, concerns its own users only.
      for (const watch of watches) await this.#readOne(watch);
      return;
    }
    for (const [i, watch] of watches.entries()) note(watch, stamps[i]);
  }

  async #readOne(watch: SharedWatch): Promise<void> {
    try {
      note(watch, await this.#store.readStamp(watch.account, watch.userId));
    } catch {
      // A change is seen when the memory is back. What it was before may not be known then: it counts as one.
      watch.seen ??= UNREADABLE;
    }
  }
}

function note(watch: SharedWatch, stamp: string | undefined): void {
  const found = stamp ?? null;
  const changed = watch.seen !== undefined && watch.seen !== found;
  watch.seen = found;
  if (changed) for (const tell of watch.listeners.keys()) tell(watch.userId);
}

// Neither accounts nor user ids hold U+0000: the key names exactly one user.
function keyOf(account: string, userId: string): string {
  return `${account}\0${userId}`;
}
