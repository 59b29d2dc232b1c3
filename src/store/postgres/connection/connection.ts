/**
 * One connection to the primary, and what was found out about it when it was opened: whether the server is the primary,
 * and whether a pooler stands in between. A connection that is lost stays lost: the client never opens another one by
 * itself, since that one would be unchecked.
 */

import type { Socket } from "node:net";
import postgres from "postgres";
import type { DatabaseAddress, Host } from "./database-address.ts";
import { isUnavailable } from "./database-failure.ts";
import { openStream } from "./server-stream.ts";
import { answerOf, type Ticketed } from "./tickets.ts";

export type Sql = postgres.Sql<{ bigint: number }>;
export type Query<T> = (sql: Sql) => Promise<T>;

export interface ConnectionOptions {
  readonly address: DatabaseAddress;
  readonly ca: string | undefined;
  readonly connectTimeoutMs: number;
  /** 0 for none. */
  readonly statementTimeoutMs: number;
  /** Whether a standby may be used: for work that only reads and need not see the last write. */
  readonly standby: boolean;
  /** Whether named prepared statements may be used where no pooler is seen. */
  readonly named: boolean;
  readonly onNotice?: () => void;
  /** The connection was lost, and not closed here. */
  readonly onLost?: () => void;
  /** The server's clock said `saidMs` between two moments of performance.now(). */
  readonly onTime?: (saidMs: number, sentMs: number, receivedMs: number) => void;
}

/** The server answers but is not what is needed. */
class ServerError extends Error {
  override name = "ServerError";
  readonly code: string;

  constructor(code: "STANDBY" | "STARTUP_PARAMETER", message: string) {
    super(message);
    this.code = code;
  }
}

interface ServerFacts {
  readonly pid: number;
  readonly standby: boolean;
  readonly readOnly: boolean;
  readonly startedAt: string;
  readonly timeline: number | null;
  readonly limit: string;
  readonly nowMs: number;
}

/** A piece of an answer after which there may be more. */
const LARGE_BYTES = 2 ** 14;

const CLOSED = () => Object.assign(new Error("the connection was closed"), { code: "CONNECTION_CLOSED" });

export class Connection {
  readonly sql: Sql;
  readonly host: Host;
  /** The number of the server's timeline; undefined where it takes no writes. */
  timeline: number | undefined;
  /** The moment at which the server was started. */
  startedAt = "";
  /** A pooler stands in between: statements are not named and go one by one, and there are no notices. */
  pooled = false;
  /** The server's limit on the time of a statement is off although one was asked for. */
  unlimited = false;
  lastUsedMs = 0;
  onLost: () => void = () => {};
  readonly #waiting = new Set<(error: unknown) => void>();
  /** The end of the query before; undefined where queries are sent without waiting for it. */
  #before: Promise<unknown> | undefined;
  #socket: Socket | undefined;
  #lost: Error | undefined;
  #isClosing = false;
  readonly #onLostByOthers: (() => void) | undefined;
  /** Settles when the client sends nothing any more. */
  #ended: Promise<void> = Promise.resolve();

  private constructor(options: ConnectionOptions, host: Host, timeoutMs: number) {
    this.host = host;
    this.#onLostByOthers = options.onLost;
    const connect = async () => {
      if (this.#socket !== undefined || this.#lost !== undefined) throw CLOSED();
      const { tls } = options.address;
      const stream = await openStream({ ...host, tls, ca: options.ca, timeoutMs });
      // The client names them in its messages.
      this.#socket = Object.assign(inOnePiece(inTurns(stream)), host);
      this.#tellLater(stream);
      return this.#socket;
    };
    this.sql = newClient(options, host, timeoutMs, connect);
  }

  /** The hosts are tried in order; the first that can be used is taken. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { hosts } = options.address;
    const failures: Error[] = [];
    const told: string[] = [];
    for (const host of hosts) {
      // All hosts together have the time that one would have.
      const connection = new Connection(options, host, options.connectTimeoutMs / hosts.length);
      try {
        await connection.#check(options);
        return connection;
      } catch (error) {
        connection.#isClosing = true;
        connection.drop(CLOSED());
        if (!(error instanceof Error) || !isUnavailable(error)) throw error;
        failures.push(error);
        told.push(`${host.host}:${host.port}: ${error.message}`);
      }
    }
    if (failures.length === 1) throw failures[0];
    throw Object.assign(new Error(told.join("; ")), { code: "NO_PRIMARY" });
  }

  /** Queries that run or wait on it. */
  get load(): number {
    return this.#waiting.size;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  run<T>(query: Query<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(this.#lost);
        return;
      }
      this.#waiting.add(reject);
      this.#ask(query)
        .then(resolve, reject)
        .finally(() => {
          this.#waiting.delete(reject);
          this.lastUsedMs = performance.now();
        });
    });
  }

  /**
   * A pooler that shares servers between transactions takes a server away as soon as it is ready, also where the next
   * statement was sent behind: then that answer goes to somebody else (github.com/pgbouncer/pgbouncer/issues/759).
   */
  #ask<T>(query: Query<T>): Promise<T> {
    if (this.#before === undefined) return query(this.sql);
    const asked = this.#before.then(() => query(this.sql));
    this.#before = asked.catch(() => {});
    return asked;
  }

  /** Ends it at once; what runs or waits on it fails with the error. */
  drop(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    for (const reject of this.#waiting) reject(error);
    this.#socket?.destroy();
    this.#ended = this.sql.end({ timeout: 0 }).catch(() => {});
    this.onLost();
    if (!this.#isClosing) this.#onLostByOthers?.();
  }

  /**
   * On a connection that it knows to be closed the client still writes the end of a transaction, and throws where nobody
   * can catch it (github.com/porsager/postgres/issues/1208). So it is told only after it has ended.
   */
  #tellLater(stream: Socket): void {
    const on = stream.on.bind(stream) as (event: string, listener: (detail?: unknown) => void) => Socket;
    // Its first listener is the one that must wait; others wait for the end themselves.
    const onLater: typeof on = (event, listener) => {
      if (event !== "close") return on(event, listener);
      Object.assign(stream, { on });
      return on("close", (hadError) => {
        this.drop(CLOSED());
        void this.#ended.then(() => listener(hadError));
      });
    };
    Object.assign(stream, { on: onLater });
  }

  /** What runs on it may finish. */
  async close(timeoutS: number): Promise<void> {
    this.#isClosing = true;
    await this.sql.end({ timeout: timeoutS });
    this.drop(CLOSED());
  }

  /**
   * A pooler gives its clients numbers of its own instead of the server's process number, so that it can be told from
   * a server by comparing the two.
   */
  async #check({ standby, named, statementTimeoutMs, onTime }: ConnectionOptions): Promise<void> {
    const sentMs = performance.now();
    const rows = await this.run((sql) =>
      answerOf(
        (ticket) => sql<(Ticketed & ServerFacts)[]>`
          SELECT ${ticket}::bigint AS ticket, pg_backend_pid() AS pid, pg_is_in_recovery() AS standby,
            current_setting('transaction_read_only') = 'on' AS "readOnly",
            pg_postmaster_start_time()::text AS "startedAt",
            CASE WHEN NOT pg_is_in_recovery()
              THEN ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer END AS timeline,
            current_setting('statement_timeout') AS limit,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`,
      ),
    ).catch((error: unknown) => {
      throw startupRefusal(error) ?? error;
    });
    const [server] = rows;
    if (server.standby && !standby)
      throw new ServerError("STANDBY", "the server is a standby, not the primary");
    if (server.readOnly && !standby)
      throw new ServerError("STANDBY", "the server takes no writes (default_transaction_read_only)");
    this.startedAt = server.startedAt;
    this.timeline = server.readOnly ? undefined : (server.timeline ?? undefined);
    onTime?.(server.nowMs, sentMs, performance.now());
    this.pooled = server.pid !== (rows as unknown as postgres.RowList<[]>).state.pid;
    this.unlimited = statementTimeoutMs > 0 && server.limit === "0";
    const isPlain = named && !this.pooled;
    // The client looks at this option before every statement.
    (this.sql.options as { prepare: boolean }).prepare = isPlain;
    if (!isPlain) this.#before = Promise.resolve();
  }
}

/**
 * What is sent at once goes in one piece, and is never too much: the client would wait for the answers to what it has sent
 * before it sends the rest.
 */
function inOnePiece(stream: Socket): Socket {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (...args: unknown[]) => {
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    write(...args);
    return true;
  };
  return stream;
}

/** The client makes rows of all that has come: of a large answer others have the event loop in between. */
function inTurns(stream: Socket): Socket {
  return stream.on("data", ({ length }: Buffer) => {
    if (length < LARGE_BYTES) return;
    stream.pause();
    setImmediate(() => stream.resume());
  });
}

function startupRefusal(error: unknown): ServerError | undefined {
  const [, name] = /^unsupported startup parameter: (\w+)/.exec((error as Error).message) ?? [];
  if (name === undefined) return undefined;
  return new ServerError(
    "STARTUP_PARAMETER",
    `the pooler refuses the start-up parameter ${name}: set ignore_startup_parameters = ` +
      "statement_timeout,idle_in_transaction_session_timeout in PgBouncer (docs/CLUSTER.md)",
  );
}

function newClient(
  { address, statementTimeoutMs, onNotice }: ConnectionOptions,
  { host, port }: Host,
  timeoutMs: number,
  connect: () => Promise<Socket>,
): Sql {
  const { user, password, database, parameters } = address;
  const options: postgres.Options<Record<string, postgres.PostgresType>> & Record<string, unknown> = {
    host,
    port,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
    // One client has one connection. The stream is ours; so are its encryption and the time when it ends.
    max: 1,
    ssl: false,
    socket: connect,
    prepare: false,
    connect_timeout: timeoutMs / 1000,
    idle_timeout: 0,
    max_lifetime: 0,
    onnotice: () => {},
    ...(onNotice === undefined ? {} : { onnotify: onNotice }),
    connection: {
      application_name: "sideband",
      // As text: the client leaves out a number 0, and then the role's limit would hold.
      statement_timeout: String(statementTimeoutMs) as unknown as number,
      idle_in_transaction_session_timeout: 30_000,
      client_encoding: "UTF8",
      standard_conforming_strings: "on",
      ...parameters,
    },
    // Otherwise the client asks the server for its array types on every connection, and believes any answer.
    fetch_types: false,
    types: {
      // Counts, revisions and times stay below 2^53.
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      // text[], integer[] and bigint[] as parameters; no statement returns arrays.
      array: { to: 1009, from: [1007, 1009, 1016], serialize: arrayText, parse: String },
    },
  };
  return postgres(options) as unknown as Sql;
}

/** As PostgreSQL reads arrays (manual, "Array Input and Output Syntax"). */
function arrayText(values: readonly (string | number | null)[]): string {
  let text = "";
  for (const value of values) {
    if (typeof value === "string")
      text += `,"${QUOTED.test(value) ? value.replace(/[\\"]/g, "\\$&") : value}"`;
    else text += value === null ? ",null" : `,${value}`;
  }
  return `{${text.slice(1)}}`;
}

const QUOTED = /[\\"]/;
