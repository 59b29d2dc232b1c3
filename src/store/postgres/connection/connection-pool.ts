/**
 * A bounded number of connections. A query takes the one with the least to do. It waits for a new one only where none is
 * open: otherwise one more is opened beside it, and if that fails (the server has no place left) the open ones go on.
 */

import { assert } from "../../../base/assert.ts";
import type { Connection } from "./connection.ts";

/** A connection that was not used for this time is closed. */
const IDLE_MS = 60_000;
const IDLE_CHECK_MS = 20_000;
/** The pause after a connection could not be opened. */
const PAUSE_MS = 250;

const RETIRE_S = 6;

export class ConnectionPool {
  readonly #max: number;
  readonly #openOne: () => Promise<Connection>;
  readonly #connections = new Set<Connection>();
  /** Where whoever takes a connection has it alone until it is given back: those that are taken. */
  readonly #taken: Set<Connection> | undefined;
  /** Those who wait until one is free. */
  readonly #waiting: (() => void)[] = [];
  #opening: Promise<Connection> | undefined;
  #failure: { readonly error: unknown; readonly untilMs: number } | undefined;
  readonly #idleTimer: NodeJS.Timeout;
  #closed = false;

  constructor(max: number, openOne: () => Promise<Connection>, isExclusive = false) {
    assert(max >= 1, "a pool has room for a connection");
    this.#taken = isExclusive ? new Set() : undefined;
    this.#max = max;
    this.#openOne = openOne;
    this.#idleTimer = setInterval(() => this.#closeIdle(), IDLE_CHECK_MS);
    this.#idleTimer.unref();
  }

  /** A connection to send a query on. */
  take(): Connection | Promise<Connection> {
    if (this.#taken !== undefined) return this.#takeAlone(this.#taken);
    let best: Connection | undefined;
    for (const connection of this.#connections) {
      if (best === undefined || connection.load < best.load) best = connection;
    }
    if (best?.load === 0) return best;
    if (this.#connections.size < this.#max) this.#begin();
    if (best !== undefined) return best;
    return this.#opening ?? Promise.reject(this.#failure?.error);
  }

  async #takeAlone(taken: Set<Connection>): Promise<Connection> {
    for (;;) {
      const free = [...this.#connections].find((connection) => !taken.has(connection));
      if (free !== undefined) {
        taken.add(free);
        return free;
      }
      if (this.#connections.size < this.#max) this.#begin();
      if (this.#opening !== undefined) {
        await this.#opening.catch((error: unknown) => {
          if (this.#connections.size === 0) throw error;
        });
        continue;
      }
      if (this.#connections.size === 0) throw this.#failure?.error;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** The connection may be taken by the next. */
  giveBack(connection: Connection): void {
    if (this.#taken?.delete(connection)) this.#waiting.shift()?.();
  }

  /** It gets no more queries; those that it has may end. */
  retire(connection: Connection): void {
    this.#connections.delete(connection);
    connection.close(RETIRE_S).catch(() => {});
  }

  /** Nothing more goes over the connections that there are. */
  dropAll(error: Error): void {
    for (const connection of this.#connections) connection.drop(error);
  }

  async close(timeoutS: number): Promise<void> {
    this.#closed = true;
    clearInterval(this.#idleTimer);
    await this.#opening?.catch(() => {});
    await Promise.all([...this.#connections].map((connection) => connection.close(timeoutS)));
  }

  /** Opens one connection at a time. */
  #begin(): void {
    if (this.#opening !== undefined || performance.now() < (this.#failure?.untilMs ?? 0)) return;
    this.#opening = this.#openOne().then(
      (connection) => {
        this.#opening = undefined;
        if (!connection.isLost) this.#connections.add(connection);
        assert(this.#connections.size <= this.#max, "a pool has no more connections than allowed");
        connection.onLost = () => {
          this.#connections.delete(connection);
          this.giveBack(connection);
        };
        connection.lastUsedMs = performance.now();
        return connection;
      },
      (error: unknown) => {
        this.#opening = undefined;
        this.#failure = { error, untilMs: performance.now() + PAUSE_MS };
        throw error;
      },
    );
    this.#opening.catch(() => {});
  }

  #closeIdle(): void {
    const beforeMs = performance.now() - IDLE_MS;
    for (const connection of this.#connections) {
      if (this.#closed || connection.load > 0 || connection.lastUsedMs > beforeMs) continue;
      this.#connections.delete(connection);
      connection.close(1).catch(() => {});
    }
  }
}
