/** Whether the service is ready, for /readyz and for the operator's status: the store takes writes, and block work runs. */

import { Failure } from "../../base/errors.ts";
import type { MemoryServices } from "../../memory/services.ts";

/** A probe writes to the disk: it is not repeated more often than this. */
const PROBE_INTERVAL_MS = 1_000;

export class Readiness {
  readonly #memory: MemoryServices;
  #probe = { atMs: Number.NEGATIVE_INFINITY, result: Promise.resolve() };

  constructor(memory: MemoryServices) {
    this.#memory = memory;
  }

  /** Throws the reason where the service is not ready. */
  async check(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#probe.atMs >= PROBE_INTERVAL_MS)
      this.#probe = { atMs: nowMs, result: this.#memory.store.probe() };
    await this.#probe.result;
    if (!this.#memory.blockWork.healthy)
      throw new Failure("overloaded", "The threads for block work keep failing.", { retryAfterS: 1 });
  }
}
