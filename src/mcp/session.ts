/**
 * The session of a client of the 2025 revisions over HTTP: what it has subscribed to, and the stream (GET with
 * Mcp-Session-Id) on which it hears of changes. Nothing else needs a session: every other call is answered
 * without one, so it may reach another node, or the same one after a restart.
 */

import { randomUUID } from "node:crypto";
import { utf8 } from "../base/bytes.ts";

/** Where a stream learns of changes. */
export interface ChangeSource {
  /** Watches a user's memory until the function that it returns is called. */
  watch(userId: string): () => void;
  /** Reports each user whose memory has changed, until the returned function is called. */
  onChange(listener: (userId: string) => void): () => void;
}

/** A memory, as its client writes its address. */
interface Subscription {
  readonly uri: string;
  /** While a stream is open. */
  endWatch: (() => void) | undefined;
}

/** How many memories one client may listen to. */
export const WATCHED_MAX = 16;
/** Sessions of one key and user. */
export const OWNER_SESSIONS_MAX = 256;
/** Sessions of an account on a node. */
export const ACCOUNT_SESSIONS_MAX = 1_024;
const KEEP_ALIVE_MS = 15_000;

export class Session {
  readonly id = randomUUID();
  /** The user whom its client's key is bound to; null: any of the account. */
  readonly user: string | null;
  /** As the client has named itself. */
  readonly clientName: string | undefined;
  /** By user. */
  readonly #subscriptions = new Map<string, Subscription>();
  #source: ChangeSource | undefined;
  #endStream = () => {};

  constructor(user: string | null, clientName?: string) {
    this.user = user;
    this.clientName = clientName;
  }

  /** @returns false where the session has too many subscriptions */
  subscribe(userId: string, uri: string): boolean {
    const known = this.#subscriptions.get(userId);
    if (known === undefined && this.#subscriptions.size >= WATCHED_MAX) return false;
    const endWatch = known === undefined ? this.#source?.watch(userId) : known.endWatch;
    this.#subscriptions.set(userId, { uri, endWatch });
    return true;
  }

  unsubscribe(userId: string): void {
    this.#subscriptions.get(userId)?.endWatch?.();
    this.#subscriptions.delete(userId);
  }

  /**
   * A stream of server-sent events. It takes the place of an earlier one, which its client may have lost.
   * Throws where something cannot be watched.
   */
  open(source: ChangeSource, ended: AbortSignal): ReadableStream<Uint8Array> {
    this.#endStream();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    // A write fails only where the client has gone.
    const send = (text: string) => void writer.write(utf8(`${text}\n\n`)).catch(() => {});
    const tell = (userId: string) => {
      const subscription = this.#subscriptions.get(userId);
      if (subscription !== undefined) send(`event: message\ndata: ${updated(subscription.uri)}`);
    };
    const unlisten = source.onChange(tell);
    const keepAlive = setInterval(() => send(": keep-alive"), KEEP_ALIVE_MS).unref();
    const end = () => {
      ended.removeEventListener("abort", end);
      clearInterval(keepAlive);
      unlisten();
      this.#suspend();
      writer.close().catch(() => {});
    };
    this.#endStream = end;
    this.#source = source;
    try {
      for (const [userId, subscription] of this.#subscriptions) {
        subscription.endWatch = source.watch(userId);
        // It may have changed while no stream was open.
        tell(userId);
      }
    } catch (error) {
      end();
      throw error;
    }
    if (ended.aborted) end();
    else ended.addEventListener("abort", end);
    return readable;
  }

  /** Without a stream nothing is watched. */
  #suspend(): void {
    this.#endStream = () => {};
    this.#source = undefined;
    for (const subscription of this.#subscriptions.values()) {
      subscription.endWatch?.();
      subscription.endWatch = undefined;
    }
  }
}

/**
 * The sessions of an account. Each key and user has its own: where one has too many, its own oldest goes. Where the account
 * has too many, the oldest of whoever has most goes, so that nobody ends the sessions of others by opening more.
 */
export class Sessions {
  /** The longest unused first. */
  readonly #byOwner = new Map<string, Map<string, Session>>();
  readonly #ownerOf = new Map<string, string>();

  add(session: Session, owner: string): void {
    const own = this.#byOwner.get(owner) ?? new Map<string, Session>();
    this.#byOwner.set(owner, own.set(session.id, session));
    this.#ownerOf.set(session.id, owner);
    if (own.size > OWNER_SESSIONS_MAX) this.#dropOldest(owner);
    else if (this.#ownerOf.size > ACCOUNT_SESSIONS_MAX) this.#dropOldest(this.#largest());
  }

  get(id: string): Session | undefined {
    const own = this.#byOwner.get(this.#ownerOf.get(id) ?? "");
    const session = own?.get(id);
    if (session === undefined) return undefined;
    own!.delete(id);
    own!.set(id, session);
    return session;
  }

  #dropOldest(owner: string): void {
    const own = this.#byOwner.get(owner)!;
    const [id] = own.keys();
    own.delete(id);
    this.#ownerOf.delete(id);
    if (own.size === 0) this.#byOwner.delete(owner);
  }

  #largest(): string {
    let largest: [owner: string, size: number] = ["", 0];
    for (const [owner, { size }] of this.#byOwner) if (size > largest[1]) largest = [owner, size];
    return largest[0];
  }
}

function updated(uri: string): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
}
