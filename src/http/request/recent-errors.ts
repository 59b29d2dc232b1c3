/**
 * The last failures of this process's own making (status 500 and above), for the operator's console. Bounded, in
 * memory, and with nothing of the request but its method, route and id: no address, no query, no body.
 */

import type { Clock } from "../../base/clock.ts";
import type { FailureCode } from "../../base/error-codes.ts";
import type { RecentError } from "../../contract/admin-schemas.ts";
import type { Call } from "./call.ts";

const ERRORS_MAX = 50;

export class RecentErrors {
  readonly #errors: RecentError[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The newest first. */
  list(): RecentError[] {
    return this.#errors.toReversed();
  }

  add(
    { method, routePath, id }: Pick<Call, "method" | "routePath" | "id">,
    status: number,
    code: FailureCode,
  ): void {
    this.#errors.push({
      at: new Date(this.#clock.now()).toISOString(),
      method,
      route: routePath,
      status,
      code,
      request_id: id,
    });
    if (this.#errors.length > ERRORS_MAX) this.#errors.shift();
  }
}
