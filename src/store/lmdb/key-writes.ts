/** The writes of keys and key requests. */

import type { AccountRecord, KeyRecord, KeyRequest } from "../../memory/ports.ts";
import type { Write } from "./group-commit.ts";
import { packJson, unpackJson } from "./records.ts";

export function addKey(record: KeyRecord): Write<void> {
  return (writer) => {
    const account = Buffer.from(record.account);
    if (writer.get("accounts", account) === undefined) {
      const entry: AccountRecord = { account: record.account, createdAtMs: record.createdAtMs };
      writer.put("accounts", account, packJson(entry));
    }
    writer.put("keys", Buffer.from(record.id), packJson(record));
    writer.put("key-hashes", Buffer.from(record.hash, "hex"), Buffer.from(record.id));
  };
}

export function changeKey(
  id: string,
  change: { revokedAtMs?: number; expiresAtMs?: number | null },
): Write<KeyRecord | undefined> {
  return (writer) => {
    const bytes = writer.get("keys", Buffer.from(id));
    if (bytes === undefined) return undefined;
    const before = unpackJson<KeyRecord>(bytes);
    // A revocation is final, and keeps its first time.
    const revokedAtMs = before.revokedAtMs ?? change.revokedAtMs ?? null;
    const record = { ...before, ...change, revokedAtMs };
    writer.put("keys", Buffer.from(id), packJson(record));
    return record;
  };
}

export function touchKeys(uses: ReadonlyMap<string, number>): Write<void> {
  return (writer) => {
    for (const [id, lastUsedAtMs] of uses) {
      const bytes = writer.get("keys", Buffer.from(id));
      if (bytes === undefined) continue;
      const record = unpackJson<KeyRecord>(bytes);
      if ((record.lastUsedAtMs ?? 0) < lastUsedAtMs) {
        writer.put("keys", Buffer.from(id), packJson({ ...record, lastUsedAtMs }));
      }
    }
  };
}

export function addKeyRequest(request: KeyRequest): Write<void> {
  return (writer) => writer.put("key-requests", Buffer.from(request.id), packJson(request));
}

export function decideKeyRequest(
  id: string,
  decision: Pick<KeyRequest, "status" | "decidedAtMs" | "keyId">,
): Write<KeyRequest | undefined> {
  return (writer) => {
    const bytes = writer.get("key-requests", Buffer.from(id));
    const request = bytes && unpackJson<KeyRequest>(bytes);
    if (request?.status !== "open") return undefined;
    const decided = { ...request, ...decision };
    writer.put("key-requests", Buffer.from(id), packJson(decided));
    return decided;
  };
}
