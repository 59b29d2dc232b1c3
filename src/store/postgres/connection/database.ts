/**
 * The way to PostgreSQL: two bounded pools, since a read must not wait behind a commit. Every query has a time limit on
 * the server, and a longer one here. If the server does not even report its time-out, the connection is dead (a machine
 * that vanished closes no connection): it is dropped, and so is a connection that gave an answer of another request.
 * The number of waiting queries is bounded.
 */

import { setTimeout as startTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import { assert } from "../../../base/assert.ts";
import { CorrectedClock } from "../../../base/clock.ts";
import { Failure } from "../../../base/errors.ts";
import type { DatabaseServer } from "../../../memory/ports.ts";
import { Connection, type ConnectionOptions, type Query, type Sql } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { type DatabaseAddress, type Host, parseAddress, tlsWarning } from "./database-address.ts";
import {
  asFailure,
  asWriteFailure,
  isConflict,
  isLocked,
  isMixedUp,
  isTimedOut,
  isUnavailable,
  isUnknownForm,
  unavailable,
} from "./database-failure.ts";
import { askHosts, KnownTimeline, nameOfHost, PrimaryError, primaryAmong } from "./primary.ts";

export type { Query, Sql };

export interface DatabaseOptions {
  readonly url: string;
  /** The certificates of the authorities that the server's is checked against, as PEM; without, the system's. */
  readonly ca?: string;
  /** Connections of this process for reads and commits; one more is for single writes, and one listens. */
  readonly poolMax: number;
  /** Queries that may wait or run at the same time. */
  readonly pendingMax: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** Only reads; a standby may be used. */
  readonly readOnly?: boolean;
  /** What the operator should know; each line once. */
  readonly warn?: (line: string) => void;
  /** What belongs in the log: which server is used. */
  readonly inform?: (line: string) => void;
}

export const DATABASE_DEFAULTS = {
  poolMax: 8,
  pendingMax: 10_000,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 5_000,
} as const;

/** Calls `onSend` before it sends its commit. */
export type Transaction<T> = (sql: Sql, onSend: () => void) => Promise<T>;

type PoolName = "reads" | "writes" | "commits";

/** How long the server's own time-out error may take to arrive. */
const GRACE_MS = 1_000;
/** What a transaction on a whole user may take besides. */
const LONG_MS = 60_000;
const LISTEN_AGAIN_MS = 1_000;
const CONFLICT_ATTEMPTS = 8;
/** Between two attempts to lock what somebody else has locked: meanwhile others have the connection. */
export const LOCK_PAUSE_MS = 150;
const CLOSE_S = 2;
const NO_ANSWER = () => Object.assign(new Error("no answer within the time limit"), { code: "NO_ANSWER" });

const POOLED =
  "a pooler stands between this node and PostgreSQL: statements are sent without being prepared, and changed keys are " +
  "noticed by asking every second; without the pooler the database has less to do (docs/CLUSTER.md)";
const UNLIMITED =
  "statements have no time limit on the server: run ALTER ROLE … SET statement_timeout = '5s' and " +
  "ALTER ROLE … SET idle_in_transaction_session_timeout = '30s' (docs/CLUSTER.md)";

export class Database {
  readonly #options: DatabaseOptions;
  readonly #pools: Record<PoolName, ConnectionPool>;
  readonly #warned = new Set<string>();
  /** The server's, as it was with each connection. */
  readonly clock = new CorrectedClock();
  readonly #address: DatabaseAddress;
  readonly #timeline = new KnownTimeline();
  #server: DatabaseServer | undefined;
  /** The host that takes writes, found by asking all; undefined where they must be asked again. */
  #primary: Promise<Host> | undefined;
  #listening: Connection | undefined;
  #pending = 0;
  #mixedUp = 0;
  #closed = false;
  /** Why no query is taken. */
  #refusal: string | undefined;
  /** Asked for where a statement names what is not there. */
  onUnknownForm: () => Promise<void> = async () => {};

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#address = parseAddress(options.url);
    // A quarter of the connections is for commits: one carries many writes, so few connections suffice. One more is for
    // single statements that write.
    const commitsMax = Math.max(1, options.poolMax >> 2);
    const open = () => this.#open(options.statementTimeoutMs);
    this.#pools = {
      reads: new ConnectionPool(Math.max(1, options.poolMax - commitsMax), open),
      writes: new ConnectionPool(1, open),
      commits: new ConnectionPool(commitsMax, open, true),
    };
    this.#warn(tlsWarning(this.#address));
  }

  read<T>(query: Query<T>): Promise<T> {
    return this.#run("reads", query);
  }

  /**
   * Repeats the query after a conflict with another node's transaction, and while another one has locked what it needs,
   * for as long as a statement may take. With `patient: false` it does not wait for a lock: it fails at once.
   */
  async write<T>(query: Query<T>, { patient = true } = {}): Promise<T> {
    const endMs = performance.now() + this.#options.statementTimeoutMs;
    for (let conflicts = 0; ; ) {
      try {
        return await this.#run("writes", query);
      } catch (error) {
        const cause = error instanceof Failure ? error.extra.cause : error;
        if (patient && isLocked(cause) && performance.now() < endMs) {
          await setTimeout(LOCK_PAUSE_MS);
          continue;
        }
        conflicts += 1;
        if (!isConflict(cause) || conflicts === CONFLICT_ATTEMPTS) throw asWriteFailure(error);
      }
    }
  }

  /**
   * Runs a transaction on a connection that nobody else uses meanwhile, and repeats it after a conflict with another node's.
   * It does not wait for a lock: it fails at once. Where it fails before its commit is sent, nothing is stored.
   *
   * @param isLong it has many statements, and works on their answers in between
   */
  async commit<T>(transaction: Transaction<T>, isLong = false): Promise<T> {
    for (let conflicts = 1; ; conflicts++) {
      let isSent = false;
      const onSend = () => {
        isSent = true;
      };
      try {
        return await this.#run("commits", (sql) => transaction(sql, onSend), isLong ? LONG_MS : 0);
      } catch (error) {
        const cause = error instanceof Failure ? error.extra.cause : error;
        if (isConflict(cause) && conflicts < CONFLICT_ATTEMPTS) continue;
        throw isSent ? asWriteFailure(error) : error;
      }
    }
  }

  /** For long work (migrations, sweeping), on a connection of its own. */
  async withoutTimeLimit<T>(query: Query<T>): Promise<T> {
    let connection: Connection | undefined;
    try {
      connection = await this.#open(0);
      return await connection.run(query);
    } catch (error) {
      throw asFailure(error);
    } finally {
      await connection?.close(1);
    }
  }

  /**
   * Listens for notices of other nodes until it is closed, and connects again by itself; `onNotice` also runs after each
   * connection. A pooler passes no notices on: then nothing is listened to.
   */
  async listen(channel: string, onNotice: () => void): Promise<void> {
    if (this.#closed) return;
    const again = async () => {
      await setTimeout(LISTEN_AGAIN_MS, undefined, { ref: false });
      await this.listen(channel, onNotice);
    };
    try {
      const connection = await this.#open(this.#options.statementTimeoutMs, onNotice);
      if (this.#closed || connection.pooled) {
        await connection.close(1);
        return;
      }
      this.#listening = connection;
      connection.onLost = () => void again();
      await connection.run((sql) => sql`LISTEN ${sql(channel)}`);
      onNotice();
    } catch {
      if (this.#listening === undefined || this.#listening.isLost) void again();
      else this.#listening.drop(NO_ANSWER());
    }
  }

  /** A read for which it does not count whether others are refused. */
  readAlways<T>(query: Query<T>): Promise<T> {
    return this.#run("reads", query, 0, true);
  }

  /** Takes no more queries, for a reason that callers are told and another for the log; undefined: takes them again. */
  refuseAll(reason: string | undefined, line?: string): void {
    this.#refusal = reason;
    this.#warn(line);
  }

  /** The server that writes go to, and its timeline. */
  get server(): DatabaseServer | undefined {
    return this.#server;
  }

  get pending(): number {
    return this.#pending;
  }

  /** Answers that belonged to another request. */
  get mixedUp(): number {
    return this.#mixedUp;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([
      ...Object.values(this.#pools).map((pool) => pool.close(CLOSE_S)),
      this.#listening?.close(0),
    ]);
  }

  async #run<T>(name: PoolName, query: Query<T>, moreMs = 0, isAlways = false): Promise<T> {
    if (this.#closed) throw unavailable("The store is closed.");
    if (this.#refusal !== undefined && !isAlways) throw unavailable(this.#refusal);
    if (this.#pending >= this.#options.pendingMax) {
      throw new Failure("overloaded", "Too many requests are waiting for the database.", { retryAfterS: 1 });
    }
    this.#pending += 1;
    let timer: NodeJS.Timeout | undefined;
    let connection: Connection | undefined;
    try {
      const offered = this.#pools[name].take();
      // Without an await where it can be: the next query must see that this connection is taken.
      const taken = offered instanceof Connection ? offered : await offered;
      connection = taken;
      const limitMs = this.#options.connectTimeoutMs + this.#options.statementTimeoutMs + GRACE_MS;
      timer = startTimer(() => taken.drop(NO_ANSWER()), limitMs + moreMs);
      return await taken.run(query);
    } catch (error) {
      if (this.#count(error)) connection?.drop(error as Error);
      // A cluster's coordinator reports the time-out at once, but its connection stays blocked while the worker hangs.
      else if (connection !== undefined && isTimedOut(error)) this.#pools[name].retire(connection);
      if (isUnknownForm(error) && !isAlways) {
        await this.onUnknownForm().catch(() => {});
        if (this.#refusal !== undefined) throw unavailable(this.#refusal, error);
      }
      throw asFailure(error);
    } finally {
      clearTimeout(timer);
      if (connection !== undefined) this.#pools[name].giveBack(connection);
      this.#pending -= 1;
      assert(this.#pending >= 0, "a query ends once");
    }
  }

  async #open(statementTimeoutMs: number, onNotice?: () => void): Promise<Connection> {
    const options = this.#connectionOptions(statementTimeoutMs, onNotice);
    try {
      const connection = await (this.#asksAll ? this.#openPrimary(options) : Connection.open(options));
      this.#note(connection);
      if (connection.pooled) this.#warn(POOLED);
      if (connection.unlimited) this.#warn(UNLIMITED);
      return connection;
    } catch (error) {
      this.#count(error);
      this.#primary = undefined;
      // Not over connections that were opened before either.
      if (error instanceof PrimaryError && error.code !== "NO_PRIMARY") this.#refuse(error);
      throw error;
    }
  }

  #connectionOptions(statementTimeoutMs: number, onNotice?: () => void): ConnectionOptions {
    const { ca, connectTimeoutMs, readOnly = false } = this.#options;
    return {
      address: this.#address,
      ca,
      connectTimeoutMs,
      statementTimeoutMs,
      standby: readOnly,
      // A pooler that cannot be seen, but was noticed by what it did.
      named: this.#mixedUp === 0,
      onTime: (...moments) => this.clock.measure(...moments),
      onLost: () => {
        this.#primary = undefined;
      },
      ...(onNotice === undefined ? {} : { onNotice }),
    };
  }

  get #asksAll(): boolean {
    return this.#address.hosts.length > 1 && !this.#options.readOnly;
  }

  /** Where the one that was found before cannot be used any more, all are asked again, once. */
  async #openPrimary(options: ConnectionOptions): Promise<Connection> {
    for (let wasKnown = this.#primary !== undefined; ; wasKnown = false) {
      this.#primary ??= askHosts(options).then(primaryAmong);
      const host = await this.#primary;
      try {
        return await Connection.open({ ...options, address: { ...this.#address, hosts: [host] } });
      } catch (error) {
        if (!wasKnown || !isUnavailable(error)) throw error;
        this.#primary = undefined;
      }
    }
  }

  #note(connection: Connection): void {
    const { host, timeline } = connection;
    if (timeline === undefined || this.#options.readOnly) return;
    const server = { server: nameOfHost(host), timeline };
    try {
      this.#timeline.check(server);
    } catch (error) {
      connection.close(1).catch(() => {});
      throw error;
    }
    const before = this.#server;
    this.#server = server;
    if (before?.server !== server.server || before.timeline !== timeline)
      this.#options.inform?.(`the database server is ${server.server}, timeline ${timeline}`);
  }

  #refuse(error: PrimaryError): void {
    this.#warned.delete(error.message);
    if (this.#server !== undefined) this.#warn(error.message);
    this.#server = undefined;
    for (const pool of Object.values(this.#pools)) pool.dropAll(error);
  }

  /** Counts the error if it is an answer that belonged to another request. */
  #count(error: unknown): boolean {
    if (!isMixedUp(error)) return false;
    this.#mixedUp += 1;
    return true;
  }

  #warn(line: string | undefined): void {
    if (line === undefined || this.#warned.has(line)) return;
    this.#warned.add(line);
    this.#options.warn?.(line);
  }
}
