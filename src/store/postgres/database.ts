/**
 * The connections to PostgreSQL: two bounded pools, since a read must not wait behind a commit. Every query has a
 * time limit on the server, and a longer one here. If the server does not even report its time-out, the connection
 * is dead (a machine that vanished closes no connection): the pool is replaced, and the next query connects again.
 * The number of waiting queries is bounded.
 */

import postgres from "postgres";
import { Failure } from "../../base/errors.ts";
import { asFailure, asWriteFailure, isConflict, unavailable } from "./database-failure.ts";

export type Sql = postgres.Sql<{ bigint: number }>;
export type Query<T> = (sql: Sql) => Promise<T>;

export interface DatabaseOptions {
  readonly url: string;
  /** Connections of this process, not counting the one that listens. */
  readonly poolMax: number;
  /** Queries that may wait or run at the same time. */
  readonly pendingMax: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

export const DATABASE_DEFAULTS = {
  poolMax: 8,
  pendingMax: 10_000,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 5_000,
} as const;

type PoolName = "reads" | "writes";

/** How long the server's own time-out error may take to arrive. */
const GRACE_MS = 1_000;
const RECONNECT_DELAY_MAX_S = 1;
const CONFLICT_ATTEMPTS = 8;
const NO_ANSWER = Object.assign(new Error("no answer within the time limit"), { code: "NO_ANSWER" });

export class Database {
  readonly #options: DatabaseOptions;
  readonly #pools: Record<PoolName, Sql>;
  #pending = 0;
  #closed = false;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#pools = { reads: this.#connect("reads"), writes: this.#connect("writes") };
  }

  read<T>(query: Query<T>): Promise<T> {
    return this.#run("reads", query);
  }

  /** Repeats the query after a conflict with another node's transaction. */
  async write<T>(query: Query<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#run("writes", query);
      } catch (error) {
        const cause = error instanceof Failure ? error.extra.cause : error;
        if (!isConflict(cause) || attempt === CONFLICT_ATTEMPTS) throw asWriteFailure(error);
      }
    }
  }

  /** For long work (migrations, sweeping), on a connection of its own. */
  async withoutTimeLimit<T>(query: Query<T>): Promise<T> {
    const sql = connect({ ...this.#options, statementTimeoutMs: 0 }, 1);
    try {
      return await query(sql);
    } catch (error) {
      throw asFailure(error);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** Listens for notices of other nodes and reconnects by itself. `onListen` runs after each connection. */
  async listen(channel: string, onNotice: () => void, onListen: () => void): Promise<void> {
    await this.#pools.writes.listen(channel, onNotice, onListen);
  }

  get pending(): number {
    return this.#pending;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(Object.values(this.#pools).map((sql) => sql.end({ timeout: 2 })));
  }

  async #run<T>(name: PoolName, query: Query<T>): Promise<T> {
    if (this.#closed) throw unavailable("The store is closed.");
    if (this.#pending >= this.#options.pendingMax) {
      throw new Failure("overloaded", "Too many requests are waiting for the database.", { retryAfterS: 1 });
    }
    this.#pending += 1;
    const sql = this.#pools[name];
    let timer: NodeJS.Timeout | undefined;
    try {
      const limitMs = this.#options.connectTimeoutMs + this.#options.statementTimeoutMs + GRACE_MS;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(unavailable("The database does not answer.", NO_ANSWER)), limitMs);
      });
      late.catch(() => this.#replace(name, sql));
      return await Promise.race([query(sql), late]);
    } catch (error) {
      throw asFailure(error);
    } finally {
      clearTimeout(timer);
      this.#pending -= 1;
    }
  }

  #replace(name: PoolName, dead: Sql): void {
    if (this.#closed || this.#pools[name] !== dead) return;
    this.#pools[name] = this.#connect(name);
    // Queries that still wait there are rejected as lost.
    dead.end({ timeout: 0 }).catch(() => {});
  }

  /** A quarter of the connections is for writes: one commit carries many writes, so few connections suffice. */
  #connect(name: PoolName): Sql {
    const writesMax = Math.max(1, this.#options.poolMax >> 2);
    return connect(
      this.#options,
      name === "writes" ? writesMax : Math.max(1, this.#options.poolMax - writesMax),
    );
  }
}

function connect(options: DatabaseOptions, max: number): Sql {
  const sql = postgres(options.url, {
    max,
    connect_timeout: options.connectTimeoutMs / 1000,
    idle_timeout: 60,
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, RECONNECT_DELAY_MAX_S),
    onnotice: () => {},
    connection: {
      application_name: "sideband",
      statement_timeout: options.statementTimeoutMs,
      idle_in_transaction_session_timeout: 30_000,
      client_encoding: "UTF8",
      standard_conforming_strings: "on",
    },
    types: {
      // Counts, revisions and times stay below 2^53.
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
    },
    // With several hosts in the address, the client picks the one that takes writes.
    ...(hostsOf(options.url) > 1 ? { target_session_attrs: "read-write" as const } : {}),
  });
  return sql as unknown as Sql;
}

function hostsOf(url: string): number {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? "";
  return authority.slice(authority.lastIndexOf("@") + 1).split(",").length;
}
