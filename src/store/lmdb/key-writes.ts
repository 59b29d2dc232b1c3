/** What belongs to an account: the writes of keys, of what they have used, of labels and key requests, and the reads of labels and use. */

import { isDeepStrictEqual } from "node:util";
import { assert } from "../../base/assert.ts";
import { addedLabel, changedLabel, removedLabel } from "../../memory/label-records.ts";
import type { EndedGrants } from "../../memory/ports.ts";
import { accountCounter } from "../../memory/quota.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  AddLabelOutcome,
  ChangeLabelOutcome,
  KeyApproval,
  KeyChange,
  KeyGrant,
  KeyRecord,
  KeyRequest,
  LabelChange,
  LabelRecord,
} from "../../memory/records.ts";
import { counterKey, counterName, goneLabelKey, labelKey, rangeBelow, strictKey } from "./entry-keys.ts";
import { type Environment, FIRST_KEY } from "./environment.ts";
import { packJson, packNumber, unpackJson, unpackNumber } from "./records.ts";
import { noteForgetting, type Write, type Writer } from "./writer.ts";

/** Ids of keys are texts. */
const LAST_KEY = Buffer.of(255);

export function addKey(record: KeyRecord, approval?: KeyApproval): Write<AddKeyOutcome> {
  return (writer) => {
    const [id, hash] = [Buffer.from(record.id), Buffer.from(record.hash, "hex")];
    assert(hash.length === 32, "the hash of a key has 32 bytes");
    if (writer.has("keys", id) || writer.has("key-hashes", hash)) return "key_exists";
    const account = Buffer.from(record.account);
    const known = writer.get("accounts", account) !== undefined;
    if (approval !== undefined) {
      const request = openRequest(writer, approval.requestId);
      if (request === undefined) return "request_not_open";
      const exists = known || holdsFacts(writer, account);
      if (approval.account === "new" && exists) return "account_exists";
      if (approval.account === "existing" && !exists) return "account_missing";
      const decision = { status: "approved", decidedAtMs: record.createdAtMs, keyId: record.id } as const;
      writer.put("key-requests", Buffer.from(request.id), packJson({ ...request, ...decision }));
    }
    if (!known) {
      const entry: AccountRecord = { account: record.account, createdAtMs: record.createdAtMs };
      writer.put("accounts", account, packJson(entry));
    }
    writer.put("keys", id, packJson(record));
    writer.put("key-hashes", hash, id);
    return "added";
  };
}

/** An account may have facts and no key: agents on this machine write without one. */
function holdsFacts(writer: Writer, account: Buffer): boolean {
  return writer.environment.keys("facts", { ...rangeBelow(account), limit: 1 }).length > 0;
}

export function changeAccount(
  account: string,
  monthlyLimit: number | null,
  onlyNew = false,
): Write<AccountRecord | undefined> {
  return (writer) => {
    const bytes = writer.get("accounts", Buffer.from(account));
    if (bytes === undefined) return undefined;
    const known = unpackJson<AccountRecord>(bytes);
    if (onlyNew && known.monthlyLimit !== undefined) return known;
    const { monthlyLimit: _, ...before } = known;
    const record = monthlyLimit === null ? before : { ...before, monthlyLimit };
    writer.put("accounts", Buffer.from(account), packJson(record));
    return record;
  };
}

export function changeKey(id: string, { month: _, ...change }: KeyChange): Write<KeyRecord | undefined> {
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

/** Only what was read: of two nodes, or two requests, that use one refresh token, one is the first. */
export function changeGrant(id: string, before: KeyGrant, after: KeyGrant): Write<boolean> {
  return (writer) => {
    const bytes = writer.get("keys", Buffer.from(id));
    const record = bytes && unpackJson<KeyRecord>(bytes);
    if (record === undefined || record.revokedAtMs !== null) return false;
    if (!isDeepStrictEqual(record.grant, before)) return false;
    writer.put("keys", Buffer.from(id), packJson({ ...record, grant: after }));
    return true;
  };
}

export function removeGrants(account: string, user: string, endedBeforeMs: number): Write<void> {
  return (writer) => {
    for (const { key, value } of writer.entries("keys", { start: FIRST_KEY, end: LAST_KEY })) {
      const { grant, hash, revokedAtMs, expiresAtMs, ...record } = unpackJson<KeyRecord>(value);
      const endedAtMs = Math.min(
        revokedAtMs ?? Number.POSITIVE_INFINITY,
        expiresAtMs ?? Number.POSITIVE_INFINITY,
      );
      const isGone = grant !== undefined && endedAtMs < endedBeforeMs;
      if (!isGone || record.account !== account || record.user !== user) continue;
      writer.remove("keys", key);
      writer.remove("key-hashes", Buffer.from(hash, "hex"));
    }
  };
}

/** Removes all grants of a user, which end with it. */
export function endGrants(
  account: string,
  user: string,
  nowMs: number,
): Write<EndedGrants & { removed: number }> {
  return (writer) => {
    const found = { connections: 0, removed: 0, keysLeft: 0 };
    for (const { key, value } of writer.entries("keys", { start: FIRST_KEY, end: LAST_KEY })) {
      const { grant, hash, revokedAtMs, expiresAtMs, ...record } = unpackJson<KeyRecord>(value);
      if (record.account !== account || record.user !== user) continue;
      const counts = revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs);
      if (grant === undefined) {
        found.keysLeft += Number(counts);
        continue;
      }
      found.connections += Number(counts);
      found.removed += 1;
      writer.remove("keys", key);
      writer.remove("key-hashes", Buffer.from(hash, "hex"));
    }
    if (found.removed > 0) noteForgetting(writer, nowMs);
    return found;
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

export function addKeyRequest(request: KeyRequest): Write<boolean> {
  return (writer) => {
    const id = Buffer.from(request.id);
    if (writer.has("key-requests", id)) return false;
    writer.put("key-requests", id, packJson(request));
    return true;
  };
}

export function decideKeyRequest(
  id: string,
  decision: Pick<KeyRequest, "status" | "decidedAtMs" | "keyId">,
): Write<KeyRequest | undefined> {
  assert(decision.status !== "open", "a decision approves or declines");
  return (writer) => {
    const request = openRequest(writer, id);
    if (request === undefined) return undefined;
    const decided = { ...request, ...decision };
    writer.put("key-requests", Buffer.from(id), packJson(decided));
    return decided;
  };
}

function openRequest(writer: Writer, id: string): KeyRequest | undefined {
  const bytes = writer.get("key-requests", Buffer.from(id));
  const request = bytes && unpackJson<KeyRequest>(bytes);
  return request?.status === "open" ? request : undefined;
}

export function deleteKeyRequest(id: string, nowMs: number): Write<boolean> {
  return (writer) => {
    if (!writer.has("key-requests", Buffer.from(id))) return false;
    noteForgetting(writer, nowMs);
    writer.remove("key-requests", Buffer.from(id));
    return true;
  };
}

export function addLabel(account: string, label: Omit<LabelRecord, "channel">): Write<AddLabelOutcome> {
  return (writer) => {
    const outcome = addedLabel(labelsOf(writer, account), label);
    if (outcome.outcome === "added") putLabel(writer, account, outcome.label);
    return outcome;
  };
}

export function changeLabel(
  account: string,
  base: LabelRecord,
  change: LabelChange,
): Write<ChangeLabelOutcome> {
  return (writer) => {
    const outcome = changedLabel(labelsOf(writer, account), base, change);
    if (outcome.outcome === "changed") putLabel(writer, account, outcome.label);
    return outcome;
  };
}

/** Of a label that nobody uses. */
export function removeLabel(account: string, label: string, nowMs: number): Write<"removed" | "missing"> {
  return (writer) => {
    const bytes = writer.get("labels", labelKey(account, label));
    if (bytes === undefined) return "missing";
    putLabel(writer, account, removedLabel(unpackJson<LabelRecord>(bytes)));
    noteForgetting(writer, nowMs);
    return "removed";
  };
}

export function changeStrict(account: string, isStrict: boolean): Write<true> {
  return (writer) => {
    const key = strictKey(account);
    if (isStrict) writer.put("labels", key, packNumber(1));
    else if (writer.has("labels", key)) writer.remove("labels", key);
    return true;
  };
}

function labelsOf(writer: Writer, account: string): LabelRecord[] {
  const keys = writer.keys("labels", rangeBelow(Buffer.from(account)));
  return keys.map((key) => unpackJson<LabelRecord>(writer.get("labels", key)!));
}

/** A removed label has a key of its own: whether one is gone is asked for every write. */
function putLabel(writer: Writer, account: string, label: LabelRecord): void {
  const [live, gone] = [labelKey(account, label.label), goneLabelKey(account, label.label)];
  const [key, other] = label.removed === true ? [gone, live] : [live, gone];
  writer.put("labels", key, packJson(label));
  if (writer.has("labels", other)) writer.remove("labels", other);
}

/** In channel order. */
export function readLabels(environment: Environment, account: string): LabelRecord[] {
  return environment
    .entries("labels", rangeBelow(Buffer.from(account)))
    .map(({ value }) => unpackJson<LabelRecord>(value))
    .sort((a, b) => a.channel - b.channel);
}

/** Days with use, both ends included. */
export function readDailyUsage(environment: Environment, keyId: string, fromDay: string, toDay: string) {
  const start = counterKey(keyId, fromDay);
  const end = counterKey(keyId, `${toDay}~`);
  return environment
    .entries("counters", { start, end })
    .map(({ key, value }) => ({ day: key.toString("utf8", keyId.length + 1), count: unpackNumber(value) }))
    .filter(({ day }) => day.length === 10);
}

/** Raises the counts of days, and those of their months by as much. */
export function raiseUsage(
  { id: keyId, account }: Pick<KeyRecord, "id" | "account">,
  days: readonly { day: string; count: number }[],
): Write<void> {
  return (writer) => {
    for (const { day, count: wanted } of days) {
      const added = wanted - writer.count(counterName(keyId, day));
      if (added <= 0) continue;
      const month = day.slice(0, "YYYY-MM".length);
      const whole = counterName(accountCounter(account), month);
      for (const name of [counterName(keyId, day), counterName(keyId, month), whole]) {
        writer.setCount(name, writer.count(name) + added);
      }
    }
  };
}
