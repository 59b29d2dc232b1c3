/**
 * Errors of the database in the service's terms. A database that is away, busy or full is `store_unavailable`, which
 * callers may try again later. Every other error is a programmer's error and stays as it is. The cause is logged, with
 * the place of the query, and never sent to the caller: it may hold values.
 */

import { Failure } from "../../../base/errors.ts";
import { MODULES } from "../../../base/package-root.ts";

const RETRY_AFTER_S = 2;

/** The answer was that of another request. */
const MIXED_UP = "ANSWER_MIXED_UP";

/** The answer to a commit does not say whether it was done. */
const COMMIT_LOST = "COMMIT_LOST";

/** Codes of Node's sockets, of the client and of this store for a connection that failed or was lost. */
const CONNECTION_CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "CONNECT_TIMEOUT",
  COMMIT_LOST,
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
  "OLD_PRIMARY",
  "STANDBY",
  "STARTUP_PARAMETER",
  "TLS",
  "TWO_PRIMARIES",
  MIXED_UP,
]);

/** What callers are told of those that an operator must see to; the log names the servers. */
const TOLD: Readonly<Record<string, string>> = {
  TWO_PRIMARIES: "Two database servers take writes, so none is used until one of them is stopped.",
  OLD_PRIMARY: "The database server that answers was the primary before a fail-over, so it is not used.",
};

/** The codes that may come after a commit was sent: the connection was lost, or no answer of its own came. */
const LOST_CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  COMMIT_LOST,
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

/** What was read does not hold any more: the transaction is rolled back, and repeated. */
export class ConflictError extends Error {
  readonly code = "40001";
}

/** Another transaction kept what was needed locked for longer than a transaction waits (lock_timeout). */
const LOCK_STATE = "55P03";

const TIMEOUT_STATE = "57014";

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

/** A table, a column or a function is not there. */
export function isUnknownForm(error: unknown): boolean {
  return /^(42P01|42703|42883)$/.test(sqlStateOf(error));
}

export function isMixedUp(error: unknown): boolean {
  return sqlStateOf(error) === MIXED_UP;
}

/** Citus calls it an internal error if it loses another machine of the cluster in a transaction. */
const CLUSTER_FAILURE =
  /^(failure on connection marked as essential|server closed the connection unexpectedly)/;

function isClusterFailure(error: unknown): boolean {
  return sqlStateOf(error) === "XX000" && CLUSTER_FAILURE.test((error as Error).message);
}

export function isUnavailable(error: unknown): boolean {
  const code = sqlStateOf(error);
  return isClusterFailure(error) || CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code);
}

/**
 * The failure of a commit. Whoever stands between, a cluster's coordinator or a pooler, may have sent it on before the
 * machine behind was lost. Of any other statement such an answer says that nothing is committed.
 */
export function asCommitFailure(error: unknown): unknown {
  if (!isClusterFailure(error) && !sqlStateOf(error).startsWith("08")) return error;
  return Object.assign(new Error((error as Error).message, { cause: error }), { code: COMMIT_LOST });
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
  return unavailable(TOLD[sqlStateOf(error)] ?? "The database cannot be used now.", error);
}

export function unavailable(detail: string, cause?: unknown): Failure {
  const place = placeIn((cause as Error | undefined)?.stack) ?? placeIn(new Error().stack);
  return new Failure("store_unavailable", detail, { retryAfterS: RETRY_AFTER_S, cause, place });
}

/**
 * The file and line of a stack that sent a query, or waits for it. The client adds the place of the statement to an error
 * of the server, once for each statement of the code. The error of a lost connection is that of all queries on it, and
 * has no place: there it is the stack of whoever waits. So nothing is captured for a query that succeeds.
 */
function placeIn(stack = ""): string | undefined {
  const places = stack.split("\n").map((line) => line.split(MODULES.pathname)[1]);
  return places
    .find((place) => place !== undefined && !/^store\/postgres\/(connection|cluster)\//.test(place))
    ?.match(/^[^:]+:\d+/)?.[0];
}
