/**
 * The demo: one public state for everyone, on an account that no key can name ("@" is in no account). It is
 * reset at fixed times of the clock, the same for every process: whoever comes first in a new interval
 * forgets what was written before it.
 */

import { DEMO_VALUE_BYTES_MAX } from "../base/limits.ts";
import type { EncodeResult } from "./encode.ts";
import { checkValue } from "./identifiers.ts";
import { channelOf } from "./labels.ts";
import type { MemoryServices } from "./services.ts";

export const DEMO_ACCOUNT = "@demo";
export const DEMO_ASKER = { account: DEMO_ACCOUNT, tier: "demo" } as const;
export const DEMO_USER = "demo";

export class Demo {
  readonly #services: MemoryServices;
  readonly #intervalMs: number;
  #resetFor = -1;

  constructor(services: MemoryServices, intervalMs: number) {
    this.#services = services;
    this.#intervalMs = intervalMs;
  }

  /** Seconds until the next reset. */
  get resetsInS(): number {
    const nowMs = this.#services.clock.now();
    return Math.ceil((this.#startOf(nowMs) + this.#intervalMs - nowMs) / 1000);
  }

  async encode(label: string, value: string): Promise<Pick<EncodeResult, "facts" | "channelCount">> {
    await this.resetIfDue();
    const channel = channelOf(label);
    checkValue(value, DEMO_VALUE_BYTES_MAX);
    const { store, clock } = this.#services;
    const outcome = await store.write({
      account: DEMO_ACCOUNT,
      userId: DEMO_USER,
      facts: [{ channel, value }],
      nowMs: clock.now(),
    });
    const channelCount = outcome.outcome === "stored" ? outcome.channelCount : 0;
    return { facts: [{ channel, value }], channelCount };
  }

  async reset(): Promise<void> {
    await this.#services.store.forgetUser(DEMO_ACCOUNT, DEMO_USER);
    this.#services.blocks.drop(DEMO_ACCOUNT, DEMO_USER);
  }

  /** Forgets what was written before the present interval, once an interval. */
  async resetIfDue(): Promise<void> {
    const startMs = this.#startOf(this.#services.clock.now());
    if (this.#resetFor === startMs) return;
    const state = await this.#services.store.readUser(DEMO_ACCOUNT, DEMO_USER);
    const old = state?.facts.filter(({ updatedAtMs }) => updatedAtMs < startMs) ?? [];
    // By revision: what another process has written since then stays.
    if (old.length > 0) await this.#services.store.forgetFacts(DEMO_ACCOUNT, DEMO_USER, old);
    this.#resetFor = startMs;
  }

  #startOf(nowMs: number): number {
    return nowMs - (nowMs % this.#intervalMs);
  }
}
