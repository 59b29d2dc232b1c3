/**
 * The last calls of a kind that this process answered, for the operator's console: those with a key, and those that
 * failed by the service's own fault (status 500 and above). Bounded, in memory, and with nothing of the request but its
 * method, route and id: no address, no query, no body.
 */

import type { FailureCode } from "../../base/error-codes.ts";
import type { Caller } from "../../memory/authentication.ts";
import type { Call } from "./call.ts";

interface RecentCall<Detail> {
  readonly atMs: number;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly id: string;
  readonly detail: Detail;
}

const ERRORS_MAX = 50;
const REQUESTS_MAX = 100;

/** A ring: the newest takes the place of the oldest. */
class RecentCalls<Detail> {
  readonly #entries: RecentCall<Detail>[] = [];
  readonly #countMax: number;
  #next = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  add(
    { method, routePath, id }: Pick<Call, "method" | "routePath" | "id">,
    status: number,
    atMs: number,
    detail: Detail,
  ): void {
    this.#entries[this.#next] = { atMs, method, route: routePath, status, id, detail };
    this.#next = (this.#next + 1) % this.#countMax;
  }

  /** The newest first. */
  list<View>(viewOf: (detail: Detail) => View) {
    const older = this.#entries.slice(this.#next);
    return [...older, ...this.#entries.slice(0, this.#next)]
      .reverse()
      .map(({ atMs, method, route, status, id, detail }) => ({
        at: new Date(atMs).toISOString(),
        method,
        route,
        status,
        ...viewOf(detail),
        request_id: id,
      }));
  }
}

/** What this process remembers of its calls. */
export class CallHistory {
  readonly errors = new RecentCalls<FailureCode>(ERRORS_MAX);
  readonly requests = new RecentCalls<Caller>(REQUESTS_MAX);
}
