/**
 * Whether the service is ready, for /readyz and for the operator's status: the store takes writes, block work runs, and the
 * machine's clock is not far from the database's.
 */

import { clockFault } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import { requireClock } from "../access/access.ts";
import type { HttpServices } from "../services.ts";

/** A probe writes to the disk: it is not repeated more often than this. */
const PROBE_INTERVAL_MS = 1_000;

export class Readiness {
  readonly #services: Pick<HttpServices, "memory" | "clock">;
  #probe = { atMs: Number.NEGATIVE_INFINITY, result: Promise.resolve() };

  constructor(services: Pick<HttpServices, "memory" | "clock">) {
    this.#services = services;
  }

  /** Throws the reason where the service is not ready. Resolves to what the operator should know all the same. */
  async check(): Promise<string | undefined> {
    const { memory, clock } = this.#services;
    requireClock(clock);
    const nowMs = performance.now();
    if (nowMs - this.#probe.atMs >= PROBE_INTERVAL_MS)
      this.#probe = { atMs: nowMs, result: memory.store.probe() };
    await this.#probe.result;
    if (!memory.blockWork.healthy)
      throw new Failure("overloaded", "The threads for block work keep failing.", { retryAfterS: 1 });
    return clockFault(clock)?.line;
  }
}
