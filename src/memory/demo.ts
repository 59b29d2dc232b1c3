/**
 * The demo: one public state for everyone, on an account that no key can name ("@" is in no account), and 4,096
 * sandboxes, which are such states too: whoever wants one for a while picks a number. Each is reset at fixed times of
 * the clock, the same for every process: whoever comes first in a new interval forgets what was written before it.
 */

import { assert } from "../base/assert.ts";
import { DEMO_VALUE_BYTES_MAX } from "../base/limits.ts";
import { checkValue } from "./identifiers.ts";
import { OWN_PLACE, viewOf } from "./places.ts";
import type { MemoryServices } from "./services.ts";

export const DEMO_ACCOUNT = "@demo";
export const DEMO_REQUESTER = { account: DEMO_ACCOUNT, tier: "demo" } as const;
export const DEMO_USER = "demo";

export class Demo {
  readonly #services: MemoryServices;
  readonly #intervalMs: number;
  /** For each state in use, the start of the interval that it was last reset for. */
  readonly #resetFor = new Map<string, number>();

  constructor(services: MemoryServices, intervalMs: number) {
    assert(intervalMs > 0, "the demo is reset after some time");
    this.#services = services;
    this.#intervalMs = intervalMs;
  }

  /** Seconds until the next reset. */
  get resetsInS(): number {
    const nowMs = this.#services.clock.now();
    return Math.ceil((this.#startOf(nowMs) + this.#intervalMs - nowMs) / 1000);
  }

  async encode(
    label: string,
    value: string,
    userId: string,
  ): Promise<{ facts: { label: string; channel: number; value: string }[]; channelCount: number }> {
    const { store, labels } = this.#services;
    const { channel } = await labels.find(DEMO_ACCOUNT, label);
    checkValue(value, DEMO_VALUE_BYTES_MAX);
    const view = this.#viewOf(userId);
    const outcome = await store.write({ ...view, changes: [{ place: OWN_PLACE, channel, value }] });
    assert(outcome.outcome === "stored", "the demo has no limit and no Idempotency-Key");
    return { facts: [{ label, channel, value }], channelCount: outcome.channelCount };
  }

  async reset(userId: string): Promise<void> {
    await this.#services.store.forgetUser(DEMO_ACCOUNT, userId);
    this.#services.blocks.drop(DEMO_ACCOUNT, userId);
  }

  /**
   * The user of a sandbox, or of the shared state, with nothing in it from before the present interval: whoever reads
   * or writes the demo asks for it first.
   * @param sandbox three hexadecimal digits
   */
  async userOf(sandbox: string | undefined): Promise<string> {
    const userId = sandbox === undefined ? DEMO_USER : `${DEMO_USER}-${sandbox}`;
    await this.#resetIfDue(DEMO_USER);
    await this.#resetIfDue(userId);
    return userId;
  }

  /** Forgets what was written before the present interval, once an interval; with the shared state, all sandboxes in use. */
  async #resetIfDue(userId: string): Promise<void> {
    const startMs = this.#startOf(this.#services.clock.now());
    if (this.#resetFor.get(userId) === startMs) return;
    const view = this.#viewOf(userId);
    const state = await this.#services.store.readUser(view);
    // One at a time, by revision: what another process has written since then stays.
    for (const { place, channel, updatedAtMs, revision } of state?.facts ?? []) {
      if (updatedAtMs >= startMs) continue;
      const changes = [{ place, channel, value: null, ifRevision: revision }];
      await this.#services.store.write({ ...view, changes });
    }
    this.#resetFor.set(userId, startMs);
    if (userId !== DEMO_USER) return;
    for (const [sandbox, resetForMs] of this.#resetFor) {
      if (resetForMs === startMs) continue;
      await this.#resetIfDue(sandbox);
      this.#resetFor.delete(sandbox);
    }
  }

  #viewOf(userId: string) {
    return viewOf(DEMO_ACCOUNT, { userId }, this.#services.clock.now());
  }

  #startOf(nowMs: number): number {
    return nowMs - (nowMs % this.#intervalMs);
  }
}
