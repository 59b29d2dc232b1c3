/**
 * The address of the database: postgres://user:password@host:port,host:port/name?sslmode=verify-full. Several hosts are
 * the servers of one cluster, of which one is the primary. A host that begins with "/" (written %2F) is the folder
 * of a local socket. The address holds a password: it is never part of a message.
 */

import { isIP } from "node:net";
import { OperatorError } from "../../../base/errors.ts";

class AddressError extends OperatorError {
  override name = "AddressError";
}

export interface Host {
  /** A name, an address, or the folder of a local socket. */
  readonly host: string;
  readonly port: number;
}

/** As PostgreSQL's own clients name them. "verify-ca" does not compare the host's name, "require" checks nothing. */
export type TlsMode = "disable" | "require" | "verify-ca" | "verify-full";

export interface DatabaseAddress {
  readonly hosts: readonly Host[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly tls: TlsMode;
  /** Start-up parameters of the session. */
  readonly parameters: Readonly<Record<string, string>>;
}

const TLS_MODES: readonly string[] = ["disable", "require", "verify-ca", "verify-full"];
const PORT_DEFAULT = 5432;

export function parseAddress(url: string): DatabaseAddress {
  const match = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url);
  if (match === null) throw new AddressError("SIDEBAND_DATABASE_URL takes a postgres:// address");
  const [, login = "", authority, database = "", query = ""] = match;
  const [, user, , password] = /^([^:]*)(:(.*))?$/s.exec(login) ?? [];
  const { sslmode = "disable", host, ...parameters } = Object.fromEntries(new URLSearchParams(query));
  if (!TLS_MODES.includes(sslmode))
    throw new AddressError(`sslmode in SIDEBAND_DATABASE_URL takes one of ${TLS_MODES.join(", ")}`);
  for (const [name, instead] of [
    ["sslrootcert", "set SIDEBAND_DATABASE_CA instead"],
    ["target_session_attrs", "leave it out, nodes always look for the primary"],
  ] as const) {
    if (name in parameters)
      throw new AddressError(`${name} in SIDEBAND_DATABASE_URL is not taken: ${instead}`);
  }
  return {
    hosts: (authority || encodeURIComponent(host ?? "localhost")).split(",").map(hostIn),
    user: decoded(user) || undefined,
    password: decoded(password) || undefined,
    database: decoded(database) || undefined,
    tls: sslmode as TlsMode,
    parameters,
  };
}

/** What the operator should know about the way to the database; undefined where it is safe. */
export function tlsWarning({ hosts, tls }: DatabaseAddress): string | undefined {
  if (hosts.every(isLocal)) return undefined;
  const remedy =
    "set sslmode=verify-full in SIDEBAND_DATABASE_URL, and SIDEBAND_DATABASE_CA (docs/CLUSTER.md)";
  if (tls === "disable")
    return `the connection to the database is not encrypted, anybody on the way can read and change facts: ${remedy}`;
  if (tls === "require")
    return `sslmode=require checks no certificate, anybody on the way can pretend to be the database: ${remedy}`;
  return undefined;
}

function hostIn(text: string): Host {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = decoded(bracketed ?? plain);
  if (host === undefined || host === "" || Number(port ?? 0) > 65_535)
    throw new AddressError("SIDEBAND_DATABASE_URL takes hosts as name:port, separated by commas");
  return { host, port: Number(port ?? PORT_DEFAULT) };
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    throw new AddressError("SIDEBAND_DATABASE_URL holds a % that is not followed by two hexadecimal digits");
  }
}

function isLocal({ host }: Host): boolean {
  if (host.startsWith("/") || host === "localhost") return true;
  return isIP(host) === 4 ? host.startsWith("127.") : host === "::1";
}
