/** What stores keep of who may write: the labels of a key, and for whom a label is. */

import assert from "node:assert/strict";
import type { KeyRecord, LabelRecord } from "../../src/memory/records.ts";
import { checksOf, type StoreUnderTest } from "./store-under-test.ts";

const KEY: KeyRecord = {
  id: "0123456789abcdef",
  account: "acme",
  tier: "pro",
  hash: "ab".repeat(32),
  prefix: "sb_live_abcd",
  note: "",
  user: "ada",
  access: "write",
  createdAtMs: 1,
  expiresAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
  groups: "-HEALTH",
  write: "LANG.*,PREF.tone",
};
const LABEL: Omit<LabelRecord, "channel"> = {
  label: "PLAN.tier",
  description: "What the customer pays for",
  example: "",
  oneOf: null,
  maxBytes: null,
  ttlS: null,
  scope: null,
  hidden: false,
  writers: "account",
  createdAtMs: 1,
};

export function storeRightsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("a key keeps the labels that it may write, and a label for whom it is", async ({ store }) => {
    assert.equal(await store.addKey(KEY), "added");
    assert.deepEqual(await store.readKey(KEY.id), KEY);
    const { write: _, ...other } = { ...KEY, id: "fedcba9876543210", hash: "cd".repeat(32) };
    await store.addKey(other);
    assert.deepEqual(await store.findKey(other.hash), other);
    assert.equal((await store.addLabel("acme", LABEL)).outcome, "added");
    assert.deepEqual(await store.readLabels("acme"), [{ ...LABEL, channel: 40 }]);
    await store.changeLabel("acme", { ...LABEL, channel: 40 }, { writers: undefined });
    assert.equal((await store.readLabels("acme"))[0]?.writers, undefined);
  });
}
