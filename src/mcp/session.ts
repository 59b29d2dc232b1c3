/**
 * The session of a client of the 2025 revisions over HTTP: what it has subscribed to, and the stream (GET with
 * Mcp-Session-Id) on which it hears of changes. Nothing else needs a session: every other call is answered
 * without one, so it may reach another node, or the same one after a restart.
 */

import { randomUUID } from "node:crypto";
import { utf8 } from "../base/bytes.ts";
import { WATCHED_MAX } from "./shared-watches.ts";

/** Where a stream learns of changes. */
export interface ChangeSource {
  /** Watches a memory until the function that it returns is called. */
  watch(uri: string): () => void;
  /** Tells of each memory that has changed, until the function that it returns is called. */
  onChange(listener: (uri: string) => void): () => void;
}

const KEEP_ALIVE_MS = 15_000;

export class Session {
  readonly id = randomUUID();
  /** What is subscribed to; while a stream is open, with the function that ends the watch. */
  readonly #subscriptions = new Map<string, (() => void) | undefined>();
  #source: ChangeSource | undefined;
  #endStream = () => {};

  /** @returns false where the session has too many subscriptions */
  subscribe(uri: string): boolean {
    if (this.#subscriptions.has(uri)) return true;
    if (this.#subscriptions.size >= WATCHED_MAX) return false;
    this.#subscriptions.set(uri, this.#source?.watch(uri));
    return true;
  }

  unsubscribe(uri: string): void {
    this.#subscriptions.get(uri)?.();
    this.#subscriptions.delete(uri);
  }

  /** A stream of server-sent events. It takes the place of an earlier one, which its client may have lost. */
  open(source: ChangeSource, ended: AbortSignal): ReadableStream<Uint8Array> {
    this.#endStream();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    // A write fails only where the client has gone.
    const send = (text: string) => void writer.write(utf8(`${text}\n\n`)).catch(() => {});
    const tell = (uri: string) => {
      if (this.#subscriptions.has(uri)) send(`event: message\ndata: ${updated(uri)}`);
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
    for (const uri of this.#subscriptions.keys()) {
      this.#subscriptions.set(uri, source.watch(uri));
      // It may have changed while no stream was open.
      tell(uri);
    }
    if (ended.aborted) end();
    else ended.addEventListener("abort", end);
    return readable;
  }

  /** Without a stream nothing is watched. */
  #suspend(): void {
    this.#endStream = () => {};
    this.#source = undefined;
    for (const [uri, endWatch] of this.#subscriptions) {
      endWatch?.();
      this.#subscriptions.set(uri, undefined);
    }
  }
}

function updated(uri: string): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
}
