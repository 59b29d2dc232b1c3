/** Lines of an export, for tests: sound ones, and ways to change them. */

import { noStep } from "../../../src/base/steps.ts";
import type { Store } from "../../../src/memory/ports.ts";
import type { KeyRecord, KeyRequest } from "../../../src/memory/records.ts";
import { exportLines, importLines } from "../../../src/memory/transfer.ts";
import { NEW_LABEL } from "./memory-services.ts";

export const KEY: KeyRecord = {
  id: "key1",
  account: "acme",
  tier: "pro",
  hash: "ab".repeat(32),
  prefix: "sb_live_abcd",
  note: "first",
  user: null,
  access: "write",
  createdAtMs: 1,
  expiresAtMs: 2,
  revokedAtMs: null,
  lastUsedAtMs: 3,
};
export const REQUEST: KeyRequest = {
  id: "request1",
  name: "Grace",
  email: "grace@navy.example",
  purpose: "notes",
  tier: "free",
  createdAtMs: 5,
  status: "open",
  decidedAtMs: null,
  keyId: null,
};
export const FACT = {
  label: "USER.name",
  value: "Ada",
  channel: 0,
  revision: 1,
  updated_at: "2026-11-15T12:00:00.000Z",
};
export const USER = { kind: "user", account: "acme", user_id: "ada", facts: [FACT] };
export const IMPORT_MS = Date.parse("2027-01-01T00:00:00Z");

export async function* linesOf(...lines: unknown[]): AsyncGenerator<string> {
  for (const line of lines) yield typeof line === "string" ? line : JSON.stringify(line);
}

export const importInto = (store: Store, ...lines: unknown[]) =>
  importLines(store, linesOf(...lines), { nowMs: IMPORT_MS, atStep: noStep, withKeys: true });

export async function exported(store: Store, account?: string): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of exportLines(store, { nowMs: IMPORT_MS, account })) lines.push(line);
  return lines;
}

export const fact = (change: object) => ({
  ...USER,
  facts: [FACT, { ...FACT, label: "USER.role", ...change }],
});
export const key = (change: object) => ({ kind: "key", key: { ...KEY, ...change } });
export const label = (account: string) => {
  return { kind: "label", account, label: { ...NEW_LABEL, channel: 40, createdAtMs: 1 } };
};
export const request = (change: object) => ({ kind: "request", request: { ...REQUEST, ...change } });
