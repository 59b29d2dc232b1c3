/**
 * Faults of the database and of the data folder, told to the operator in one line that says what to do; to callers of the
 * service their cause is never told. A database that is away comes back by itself and can be waited for. Anything else
 * needs the operator.
 */

import { resolve } from "node:path";
import { ConfigError, Failure, OperatorError } from "../base/errors.ts";
import { foreignFile } from "../store/lmdb/data-folder.ts";

/** It does not answer, is starting, is failing over, or is to be migrated first. */
export class DatabaseAwayError extends ConfigError {
  /** What callers are told; undefined where it is nothing in particular. */
  readonly told: string | undefined;

  constructor(fault: string, told?: string) {
    super(fault);
    this.told = told;
  }
}

/** By the SQLSTATE, else by the client's message: what the operator can do about it. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^28/, "check the user and the password in SIDEBAND_DATABASE_URL"],
  [/^3D000$/, "create it, or name another one in SIDEBAND_DATABASE_URL"],
  [/^(42704|22023)$/, "check the parameters in SIDEBAND_DATABASE_URL"],
  [/^42501$/, "the role must own the database, or a schema sideband in it (docs/CLUSTER.md)"],
  [/TLS|SSL|certificate/i, "check sslmode in SIDEBAND_DATABASE_URL, and the certificate of the server"],
];
const SQLSTATE = /^[0-9A-Z]{5}$/;
const TLS_CODE = /^(TLS|SSL|ERR_TLS|ERR_SSL|CERT|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/;

/** What an error of opening the database is to the operator; a programmer's error stays as it is. */
export function databaseError(error: unknown): unknown {
  // The address holds a password, and so does the client's own error.
  if (error instanceof URIError || errorCode(error) === "ERR_INVALID_URL")
    return new ConfigError("SIDEBAND_DATABASE_URL is not a well-formed postgres:// address");
  // Its module is loaded only where there is a database.
  if (error instanceof OperatorError && error.name === "MissingMigrationError")
    return new DatabaseAwayError(error.message, "The database is not yet in the form that this node needs.");
  const isFailure = error instanceof Failure;
  const cause = isFailure ? error.extra.cause : error;
  const code = errorCode(cause);
  if (!(cause instanceof Error) || !(isFailure || SQLSTATE.test(code) || TLS_CODE.test(code))) return error;
  const text = `the database of SIDEBAND_DATABASE_URL cannot be used: ${cause.message}`;
  const remedy = REMEDIES.find(([fault]) => fault.test(code) || fault.test(cause.message));
  if (remedy !== undefined) return new ConfigError(`${text}; ${remedy[1]}`);
  // A pooler that refuses a parameter will refuse it again; the message says what to set.
  const isAway = isFailure && code !== "STARTUP_PARAMETER";
  return isAway ? new DatabaseAwayError(text, error.message) : new ConfigError(text);
}

function errorCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

const OTHER = "choose another one with --data or SIDEBAND_DATA";

/** Errors of the system that are about a file of the folder; others, such as of a port, are not the folder's. */
export function isAbout(folder: string, error: unknown): boolean {
  const path = (error as NodeJS.ErrnoException | undefined)?.path;
  return path !== undefined && resolve(path).startsWith(resolve(folder));
}

/** The error to throw: a ConfigError for an error of the system, any other error as it is. */
export function folderError(folder: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return error;
  switch (error.code) {
    case "ENOTDIR":
      return new ConfigError(`the data folder ${folder} is a file, or inside of one: ${OTHER}`);
    case "EACCES":
    case "EPERM":
      return new ConfigError(
        `no permission to use the data folder ${folder}: ${foreignFile(folder, error) ?? "run it as the user it belongs to"}, or ${OTHER}`,
      );
    case "EROFS":
      return new ConfigError(`the data folder ${folder} is on a read-only file system: ${OTHER}`);
    default:
      return new ConfigError(`cannot use the data folder ${folder}: ${error.message}`);
  }
}
