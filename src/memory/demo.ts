/**
 * The demo: one public state for everyone, on an account that no key can name ("@" is in no account), and 4,096
 * sandboxes: whoever wants one for a while picks a number.
 *
 * The shared state is reset at fixed times of the clock, the same for every process: whoever comes first in a new
 * interval forgets what was written before it. A sandbox lives for an interval from its own start, its first fact: all
 * its facts end at the same moment, which the store knows, so that every process agrees on it.
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
  /** The start of the interval that the shared state was last reset for. */
  #resetForMs = 0;
  /** When each sandbox that this process wrote to ends. */
  readonly #endsMs = new Map<string, number>();

  constructor(services: MemoryServices, intervalMs: number) {
    assert(intervalMs > 0, "the demo is reset after some time");
    this.#services = services;
    this.#intervalMs = intervalMs;
  }

  /** Seconds until the next reset of the shared state. */
  get resetsInS(): number {
    return this.#secondsTo(this.#startOf(this.#services.clock.now()) + this.#intervalMs);
  }

  /** Seconds until the named sandbox ends, or the shared state is reset. A sandbox without facts has a whole interval. */
  async endsInS(sandbox: string | undefined): Promise<number> {
    return sandbox === undefined ? this.resetsInS : this.#secondsTo(await this.#endOf(sandboxUser(sandbox)));
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
    const expiresAtMs = userId === DEMO_USER ? null : await this.#endOf(userId);
    if (expiresAtMs !== null) this.#endsMs.set(userId, expiresAtMs);
    const changes = [{ place: OWN_PLACE, label, value, expiresAtMs }];
    const outcome = await store.write({ ...view, changes });
    assert(outcome.outcome === "stored", "the demo has no limit and no Idempotency-Key");
    return { facts: [{ label, channel, value }], channelCount: outcome.channelCount };
  }

  async reset(userId: string): Promise<void> {
    await this.#services.store.forgetUser(DEMO_ACCOUNT, userId);
    this.#services.blocks.forget(DEMO_ACCOUNT, userId);
  }

  /**
   * The user of a sandbox, or of the shared state, with nothing in it from before the present interval: whoever reads
   * or writes the demo asks for it first.
   * @param sandbox three hexadecimal digits
   */
  async userOf(sandbox: string | undefined): Promise<string> {
    await this.#clearEnded();
    if (sandbox === undefined) {
      const startMs = this.#startOf(this.#services.clock.now());
      if (this.#resetForMs !== startMs) {
        await this.#forgetBefore(DEMO_USER, startMs);
        this.#resetForMs = startMs;
      }
      return DEMO_USER;
    }
    return sandboxUser(sandbox);
  }

  /** Forgets what the store keeps of ended facts. What has been written since stays, also where that is at the same time. */
  async #clearEnded(): Promise<void> {
    const nowMs = this.#services.clock.now();
    for (const [userId, endMs] of this.#endsMs) {
      if (endMs > nowMs) continue;
      this.#endsMs.delete(userId);
      const isKept = (fact: object) => !("ended" in fact);
      const changes = [{ kind: "clear", place: OWN_PLACE, isKept } as const];
      await this.#services.store.write({ ...this.#viewOf(userId), changes });
      this.#services.blocks.forget(DEMO_ACCOUNT, userId);
    }
  }

  /** Forgets the facts without an end that were written before a moment. */
  async #forgetBefore(userId: string, startMs: number): Promise<void> {
    const view = this.#viewOf(userId);
    const state = await this.#services.store.readUser(view);
    // One at a time, by revision: what another process has written since then stays.
    for (const { place, label, updatedAtMs, expiresAtMs, revision } of state?.facts ?? []) {
      if (expiresAtMs !== null || updatedAtMs >= startMs) continue;
      const changes = [{ place, label, value: null, ifRevision: revision }];
      await this.#services.store.write({ ...view, changes });
    }
  }

  /** When a sandbox ends: with the first of its facts, or, where it has none, an interval from now. */
  async #endOf(userId: string): Promise<number> {
    const view = this.#viewOf(userId);
    const state = await this.#services.store.readUser(view);
    const ends = (state?.facts ?? []).flatMap(({ expiresAtMs }) => expiresAtMs ?? []);
    return Math.min(...ends, view.nowMs + this.#intervalMs);
  }

  #secondsTo(momentMs: number): number {
    return Math.ceil((momentMs - this.#services.clock.now()) / 1000);
  }

  #viewOf(userId: string) {
    return viewOf(DEMO_ACCOUNT, { userId }, this.#services.clock.now());
  }

  #startOf(nowMs: number): number {
    return nowMs - (nowMs % this.#intervalMs);
  }
}

function sandboxUser(sandbox: string): string {
  return `${DEMO_USER}-${sandbox}`;
}
