/**
 * Errors of the database in the service's terms. A database that is away, busy or full is `store_unavailable`, which
 * callers may try again later. Every other error is a programmer's error and stays as it is. The cause is logged, with
 * the place of the query, and never sent to the caller: it may hold values.
 */

import { Failure } from "../../../base/errors.ts";

const RETRY_AFTER_S = 2;

/** The answer was that of another request. */
const MIXED_UP = "ANSWER_MIXED_UP";

/** Codes of Node's sockets, of the client and of this store for a connection that failed or was lost. */
const CONNECTION_CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "CONNECT_TIMEOUT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "NO_ANSWER",
  "NO_PRIMARY",
  "STANDBY",
  "STARTUP_PARAMETER",
  "TLS",
  MIXED_UP,
]);

/** The codes that may come after a commit was sent: the connection was lost, or no answer of its own came. */
const LOST_CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "NO_ANSWER",
  MIXED_UP,
]);

/**
 * SQLSTATEs and their classes (PostgreSQL, appendix A): connection, invalid authorization, insufficient
 * resources, operator intervention (with statement time-outs and shutdowns), system errors; a read-only server
 * after a fail-over, a lock that was not granted in time, and conflicts that were left after all attempts. A prepared
 * statement that is not there, or is there already: a pooler has put another server behind the connection. A transaction
 * that has failed before: the pooler gave the answer that said why to somebody else.
 */
const UNAVAILABLE_STATES = /^(08|26|28|53|57|58)|^(25006|25P02|42P05|55P03|40001|40P01|3D000)$/;

/** The database rolled the transaction back in favour of another: it is safe to repeat. */
const CONFLICT_STATES = /^(40001|40P01)$/;

/** Another transaction kept what was needed locked for longer than a transaction waits (lock_timeout). */
const LOCK_STATE = "55P03";

const TIMEOUT_STATE = "57014";

/** The database refused the data itself. */
const DATA_STATES = /^(22|23)/;

function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

export function isConflict(error: unknown): boolean {
  return CONFLICT_STATES.test(sqlStateOf(error));
}

export function isLocked(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_STATE;
}

/** The statement ran longer than the server allows. */
export function isTimedOut(error: unknown): boolean {
  return sqlStateOf(error) === TIMEOUT_STATE;
}

export function isMixedUp(error: unknown): boolean {
  return sqlStateOf(error) === MIXED_UP;
}

export function isDataRefused(error: unknown): boolean {
  return DATA_STATES.test(sqlStateOf(error));
}

/** Citus calls it an internal error if it loses another machine of the cluster in a transaction, which it rolls back. */
const CLUSTER_FAILURE = /^failure on connection marked as essential/;

export function isUnavailable(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code === "XX000" && error instanceof Error && CLUSTER_FAILURE.test(error.message)) return true;
  return CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code);
}

/** The failure of a write. If the connection was lost, nobody knows whether the write was committed. */
export function asWriteFailure(error: unknown): unknown {
  const { cause, place } = error instanceof Failure ? error.extra : {};
  if (!LOST_CODES.has(sqlStateOf(cause))) return error;
  return new Failure(
    "outcome_unknown",
    "The answer of the database to this write was lost. It may be stored or not: send the same request " +
      "again with the same Idempotency-Key.",
    { retryAfterS: RETRY_AFTER_S, cause, place },
  );
}

export function asFailure(error: unknown): unknown {
  if (error instanceof Failure || !isUnavailable(error)) return error;
  return unavailable("The database cannot be used now.", error);
}

export function unavailable(detail: string, cause?: unknown): Failure {
  const place = placeIn((cause as Error | undefined)?.stack) ?? placeIn(new Error().stack);
  return new Failure("store_unavailable", detail, { retryAfterS: RETRY_AFTER_S, cause, place });
}

const SOURCES = new URL("../../../", import.meta.url).pathname;

/**
 * The file and line of a stack that sent a query, or waits for it. The client adds the place of the statement to an error
 * of the server, once for each statement of the code. The error of a lost connection is that of all queries on it, and
 * has no place: there it is the stack of whoever waits. So nothing is captured for a query that succeeds.
 */
function placeIn(stack = ""): string | undefined {
  const places = stack.split("\n").map((line) => line.split(SOURCES)[1]);
  return places
    .find((place) => place !== undefined && !/^store\/postgres\/(connection|cluster)\//.test(place))
    ?.match(/^[^:]+:\d+/)?.[0];
}
