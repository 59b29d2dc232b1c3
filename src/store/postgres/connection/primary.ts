/**
 * Which server of a cluster takes writes. Where the address has several hosts, all of them are asked, at the start and after
 * every loss of a connection. If two take writes, one of them was left behind by a fail-over, and nobody here knows which:
 * then none is used. Nor is a server whose timeline is older than one that was seen: PostgreSQL begins a new timeline at
 * each promotion, so that server was the primary before. (docs/CLUSTER.md, fencing)
 */

import type { DatabaseServer } from "../../../memory/ports.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import type { Host } from "./database-address.ts";
import { isUnavailable } from "./database-failure.ts";

/** What a host of the address said. */
export interface HostState {
  readonly host: Host;
  /** Undefined where it does not take writes. */
  readonly timeline: number | undefined;
  /** The moment at which the server's process was started: two names of one server have the same. */
  readonly startedAt: string;
  /** Why it could not be asked. */
  readonly fault: Error | undefined;
}

export class PrimaryError extends Error {
  override name = "PrimaryError";
  readonly code: "TWO_PRIMARIES" | "OLD_PRIMARY" | "NO_PRIMARY";

  constructor(code: PrimaryError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export const nameOfHost = ({ host, port }: Host): string => `${host}:${port}`;

/** Asks all hosts at once. */
export function askHosts(options: ConnectionOptions): Promise<HostState[]> {
  return Promise.all(
    options.address.hosts.map(async (host) => {
      try {
        const address = { ...options.address, hosts: [host] };
        // Quietly: this connection tells nothing but which server it is.
        const { onLost: _, ...quiet } = options;
        const connection = await Connection.open({ ...quiet, address, standby: true });
        const { timeline, startedAt } = connection;
        await connection.close(1);
        return { host, timeline, startedAt, fault: undefined };
      } catch (error) {
        // A wrong password is that of all hosts.
        if (!(error instanceof Error) || !isUnavailable(error)) throw error;
        return { host, timeline: undefined, startedAt: "", fault: error };
      }
    }),
  );
}

/** The one host that takes writes. */
export function primaryAmong(states: readonly HostState[]): Host {
  const primaries = states.filter(({ timeline }) => timeline !== undefined);
  const servers = new Set(primaries.map(({ startedAt, timeline }) => `${startedAt} ${timeline}`));
  if (servers.size > 1) {
    const told = primaries.map(({ host, timeline }) => `${nameOfHost(host)} (timeline ${timeline})`);
    throw new PrimaryError(
      "TWO_PRIMARIES",
      `${told.join(" and ")} both take writes, so neither is used: stop the one that was the primary before ` +
        "(docs/CLUSTER.md, fencing)",
    );
  }
  const [primary] = primaries;
  if (primary !== undefined) return primary.host;
  if (states.length === 1 && states[0]?.fault !== undefined) throw states[0].fault;
  const told = states.map(
    ({ host, fault }) =>
      `${nameOfHost(host)}: ${fault?.message ?? "the server is a standby, not the primary"}`,
  );
  throw new PrimaryError("NO_PRIMARY", told.join("; "));
}

/** Remembers the latest timeline that was seen, and refuses a server with an older one. */
export class KnownTimeline {
  #latest = 0;

  check({ server, timeline }: DatabaseServer): void {
    if (timeline < this.#latest) {
      throw new PrimaryError(
        "OLD_PRIMARY",
        `${server} is on timeline ${timeline}, and this node has worked on timeline ${this.#latest}: it was the primary ` +
          "before a fail-over and is not used. Stop it, or restart the nodes if you went back to it on purpose " +
          "(docs/CLUSTER.md, fencing)",
      );
    }
    this.#latest = timeline;
  }
}
