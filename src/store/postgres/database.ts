/**
 * The connections to PostgreSQL: two bounded pools, since a read must not wait behind a commit. Every query has
 * a time limit on the server and a later one here. Where the server does not even answer that it is late, the
 * connection is dead (a machine that vanished says no good-bye): the pool is replaced, and the next query
 * connects afresh. Waiting queries are bounded.
 */

import postgres from "postgres";
import { Failure } from "../../base/errors.ts";
import { asFailure, asWriteFailure, isConflict, unavailable } from "./database-failure.ts";

export type Sql = postgres.Sql<{ bigint: number }>;
export type Query<T> = (sql: Sql) => Promise<T>;

export interface DatabaseOptions {
  readonly url: string;
  /** Connections of this process, the one that listens not counted. */
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

/** Beyond the server's own limit: how long its word may take to get here. */
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

  /** A conflict with another node's transaction is repeated. */
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

  /** Long work (migrations, sweeping): no time limit but the one it sets itself. */
  async patiently<T>(query: Query<T>): Promise<T> {
    const sql = connect({ ...this.#options, statementTimeoutMs: 0 }, 1);
    try {
      return await query(sql);
    } catch (error) {
      throw asFailure(error);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** Hears what other nodes tell; connects again by itself. `onListen` runs after each connecting. */
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
    // What still waits there is rejected as lost.
    dead.end({ timeout: 0 }).catch(() => {});
  }

  /** A quarter for writes: a commit takes many writes at once, so that few connections do. */
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
    // With several hosts in the address: the one that takes writes.
    ...(hostsOf(options.url) > 1 ? { target_session_attrs: "read-write" as const } : {}),
  });
  return sql as unknown as Sql;
}

function hostsOf(url: string): number {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? "";
  return authority.slice(authority.lastIndexOf("@") + 1).split(",").length;
}
