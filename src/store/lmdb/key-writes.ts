/** The writes of keys and key requests. Records are JSON: few, seldom written, and readable in an emergency. */

import type { AccountRecord, KeyRecord, KeyRequest } from "../../memory/ports.ts";
import type { Write, Writer } from "./group-commit.ts";
import { packNumber, unpackNumber } from "./records.ts";

/** Counts the changes of keys: every process compares it before it trusts its cache. */
export const KEYS_VERSION = Buffer.from("keys-version");

export function packJson(record: unknown): Buffer {
  return Buffer.from(JSON.stringify(record));
}

export function unpackJson<T>(bytes: Buffer): T {
  return JSON.parse(bytes.toString()) as T;
}

export function addKey(record: KeyRecord): Write<void> {
  return (writer) => {
    const account = Buffer.from(record.account);
    if (writer.get("accounts", account) === undefined) {
      const entry: AccountRecord = { account: record.account, createdAtMs: record.createdAtMs };
      writer.put("accounts", account, packJson(entry));
    }
    writer.put("keys", Buffer.from(record.id), packJson(record));
    writer.put("key-hashes", Buffer.from(record.hash, "hex"), Buffer.from(record.id));
    bumpKeysVersion(writer);
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
    bumpKeysVersion(writer);
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

function bumpKeysVersion(writer: Writer): void {
  writer.put("meta", KEYS_VERSION, packNumber(unpackNumber(writer.get("meta", KEYS_VERSION)) + 1));
}
