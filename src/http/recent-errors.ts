/**
 * The last failures of this process's own making (status 500 and above), for the operator's console. Bounded, in
 * memory, and with nothing of the request but its method, route and id: no address, no query, no body.
 */

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import type { RecentError } from "../contract/website-operations.ts";

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

  observe(app: FastifyInstance): void {
    const codes = new WeakMap<FastifyRequest, string>();
    app.addHook("onError", (request, _reply, error, done) => {
      codes.set(
        request,
        (error as unknown) instanceof Failure ? (error as unknown as Failure).code : "internal_error",
      );
      done();
    });
    app.addHook("onSend", (request, { statusCode }, payload, done) => {
      if (statusCode >= 500) this.#keep(request, statusCode, codes.get(request) ?? "internal_error");
      done(null, payload);
    });
  }

  #keep(request: FastifyRequest, status: number, code: string): void {
    this.#errors.push({
      at: new Date(this.#clock.now()).toISOString(),
      method: request.method,
      route: request.routeOptions.url ?? "unknown",
      status,
      code,
      request_id: request.id,
    });
    if (this.#errors.length > ERRORS_MAX) this.#errors.shift();
  }
}
