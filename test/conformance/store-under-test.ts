/** What the conformance suite and the stores' own tests work with: a store under test, writes of users, keys, and the clock. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type {
  Change,
  FactChange,
  FactRecord,
  Store,
  WriteOutcome,
  WriteRequest,
} from "../../src/memory/ports.ts";
import type { KeyRecord } from "../../src/memory/records.ts";
import { endAfter } from "../fixtures/ends.ts";
import { changesOf, labelAt, viewOf } from "../fixtures/views.ts";

export interface StoreUnderTest {
  readonly store: Store;
  reopen(): Promise<Store>;
  /** Absent where a store has one owner at a time. */
  second?(): Promise<Store>;
  end(): Promise<void>;
}

export const NOW = Date.UTC(2026, 10, 15, 12);

export function write(
  userId: string,
  facts: [label: number | string, value: string][],
  more: Partial<WriteRequest> = {},
): WriteRequest {
  return { ...viewOf(userId, "acme", { nowMs: NOW }), changes: changesOf(facts), ...more };
}

/** A label set at the person's own place, unless another one is named. */
export function set(number: number, value: string, more: Partial<FactChange> = {}): FactChange {
  return { place: "", label: labelAt(number), value, ...more };
}

export function forget(number: number, more: Partial<FactChange> = {}): FactChange {
  return { place: "", label: labelAt(number), value: null, ...more };
}

/** Changes of one user, which must be stored. */
export async function stored(
  store: Store,
  changes: readonly Change[],
  nowMs = NOW,
  more: Partial<WriteRequest> = {},
): Promise<Stored> {
  const outcome = await store.write(write("ada", [], { changes, nowMs, ...more }));
  assert.ok(outcome.outcome === "stored", outcome.outcome);
  return outcome;
}

export function keyRecord(id: string, account = "acme", more: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    account,
    tier: "free",
    hash: randomBytes(32).toString("hex"),
    prefix: "sb_live_AAAA",
    note: "",
    user: null,
    access: "write",
    createdAtMs: NOW,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...more,
  };
}

type Stored = Extract<WriteOutcome, { outcome: "stored" }>;

/** The facts that were there before each change. */
export function beforeIn({ changes }: Stored): (FactRecord | undefined)[] {
  return changes.map(({ before }) => before);
}

/** How many of the changes that forget have found something. */
export function forgottenIn({ changes }: Stored): number {
  return changes.filter(({ value, found }) => value === null && found).length;
}

/** Declares the tests of a store, each on data of its own. */
export function checksOf(name: string, open: () => Promise<StoreUnderTest>) {
  return (guarantee: string, run: (under: StoreUnderTest) => Promise<void>) =>
    test(`${name}: ${guarantee}`, async (t) => {
      const under = endAfter(t, await open());
      await run(under);
    });
}
