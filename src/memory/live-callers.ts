/**
 * Ends what outlives a request, such as a stream, at once with the key or the token that it was begun with. The version of
 * the keys, which a store knows without a query, is looked at several times a second; the keys themselves only when it
 * has changed. While the store is away a key counts as before, until it expires.
 */

import type { Clock } from "../base/clock.ts";

/** What is known of a caller when it is let in. */
interface KeyHolder {
  readonly keyId: string;
  readonly expiresAtMs: number | null;
  readonly token?: { readonly expiresAtMs: number; readonly grantId?: string } | undefined;
}

interface LiveCallersOptions<C> {
  readonly clock: Clock;
  /** Another number after every change of any key. */
  readonly version: () => Promise<number>;
  /** Until when a caller's key and token count; a moment of the past where they do not any more. */
  readonly untilMs: (caller: C) => Promise<number>;
}

interface Watched<C> {
  readonly caller: C;
  readonly ends: Set<() => void>;
  /** That of the keys when `untilMs` was found out. */
  version: number | undefined;
  untilMs: number;
}

const LOOK_MS = 100;

export class LiveCallers<C extends KeyHolder> {
  readonly #options: LiveCallersOptions<C>;
  /** By key and token: each is looked up once, however many streams it has. */
  readonly #watched = new Map<string, Watched<C>>();
  #timer: NodeJS.Timeout | undefined;
  #version: number | undefined;
  #looking = false;

  constructor(options: LiveCallersOptions<C>) {
    this.#options = options;
  }

  /**
   * Calls `onEnd` once when the caller's key does not count any more.
   * @returns ends the watch
   */
  watch(caller: C, onEnd: () => void): () => void {
    const name = `${caller.keyId} ${caller.token?.expiresAtMs} ${caller.token?.grantId}`;
    const known = this.#watched.get(name);
    const watched = known ?? { caller, ends: new Set(), version: undefined, untilMs: callerEndMs(caller) };
    this.#watched.set(name, watched);
    const end = () => onEnd();
    watched.ends.add(end);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    return () => {
      watched.ends.delete(end);
      if (watched.ends.size === 0 && this.#watched.get(name) === watched) this.#watched.delete(name);
      this.#stopIfIdle();
    };
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const { clock, version } = this.#options;
    // A store that is away says nothing about the keys.
    this.#version = await version().catch(() => this.#version);
    for (const [name, watched] of [...this.#watched]) {
      if (watched.version !== this.#version) await this.#lookUp(watched, this.#version);
      if (watched.untilMs > clock.now()) continue;
      this.#watched.delete(name);
      for (const end of watched.ends) end();
    }
    this.#looking = false;
    this.#stopIfIdle();
  }

  async #lookUp(watched: Watched<C>, version: number | undefined): Promise<void> {
    try {
      watched.untilMs = await this.#options.untilMs(watched.caller);
      watched.version = version;
    } catch {
      // In the next round again.
    }
  }

  #stopIfIdle(): void {
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** When a caller's key or token expires. */
export function callerEndMs({ expiresAtMs, token }: Omit<KeyHolder, "keyId">): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(expiresAtMs ?? never, token?.expiresAtMs ?? never);
}
