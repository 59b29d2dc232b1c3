/**
 * The audit in the embedded store. An entry is put in the write that it tells of; putting one again changes nothing. Keys:
 *
 *   audit        moment id                      who has changed what
 *   audit-names  "h" hash                       the person that a hash in the audit stands for
 *                "n" 0 account 0 user 0 hash    the hashes of a person
 */

import { AUDIT_KEPT_MS } from "../../base/limits.ts";
import { hasChanged, personsIn } from "../../memory/audit.ts";
import type { AuditEntry, AuditNote, AuditQuery, AuditStore, PersonName } from "../../memory/records.ts";
import { momentPrefix, rangeBelow } from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import { packJson, packNumber, unpackJson } from "./records.ts";
import { noteForgetting, type Write, type Writer } from "./writer.ts";

/** Entries that are looked at in one go. */
const PAGE = 256;

type KeptName = PersonName & { readonly lastMs: number };

export function auditIn(
  environment: () => Environment,
  run: (write: Write<void>) => Promise<void>,
): AuditStore {
  return {
    add: (note) => run((writer) => keepNote(writer, note)),
    read: (query) => readAudit(environment, query),
  };
}

/** A write that stores its note where it changes something. */
export function audited<T>(write: Write<T>, note: AuditNote | undefined): Write<T> {
  if (note === undefined) return write;
  return (writer) => {
    const result = write(writer);
    if (hasChanged(result)) keepNote(writer, note);
    return result;
  };
}

export function keepNote(writer: Writer, { entry, names }: AuditNote): void {
  writer.put("audit", entryKey(entry), packJson(entry));
  for (const person of names) {
    const kept: KeptName = { ...person, lastMs: entry.atMs };
    writer.put("audit-names", hashKey(person.hash), packJson(kept));
    writer.put("audit-names", nameKey(person), packNumber(entry.atMs));
  }
}

/** The name of a person who is erased: entries keep its hash. */
export function forgetNames(writer: Writer, account: string, name: string): void {
  for (const key of writer.keys("audit-names", rangeBelow(personKey(account, name)))) {
    writer.remove("audit-names", key);
    writer.remove("audit-names", hashKey(hashIn(key)));
  }
}

/** Ends entries that are old enough, at most so many, and names that no later one has; how many entries there were. */
export function sweepAudit(nowMs: number, countMax: number): Write<number> {
  return (writer) => {
    const end = momentPrefix(Math.max(1, nowMs - AUDIT_KEPT_MS));
    const old = writer.environment.keys("audit", { end, limit: countMax });
    for (const key of old) {
      const { atMs, ...entry } = unpackJson<AuditEntry>(writer.get("audit", key)!);
      writer.remove("audit", key);
      for (const hash of personsIn({ ...entry, atMs })) {
        const bytes = writer.get("audit-names", hashKey(hash));
        const kept = bytes && unpackJson<KeptName>(bytes);
        if (kept === undefined || kept.lastMs > atMs) continue;
        writer.remove("audit-names", hashKey(hash));
        writer.remove("audit-names", nameKey(kept));
      }
    }
    if (old.length > 0) noteForgetting(writer, nowMs);
    return old.length;
  };
}

/** Page by page, the last first: other requests go on in between. */
async function readAudit(environment: () => Environment, query: AuditQuery): Promise<AuditNote[]> {
  const { account, operation, person, sinceMs, before, limit } = query;
  const hashes = new Set(person?.hashes);
  if (person !== undefined) {
    const range = rangeBelow(personKey(account ?? "", person.name));
    for (const key of environment().keys("audit-names", range)) hashes.add(hashIn(key));
    if (hashes.size === 0) return [];
  }
  const isMeant = (entry: AuditEntry) =>
    (account === undefined || entry.account === account) &&
    (operation === undefined || entry.operation === operation) &&
    (person === undefined || personsIn(entry).some((hash) => hashes.has(hash)));
  const found: AuditNote[] = [];
  const end = momentPrefix(sinceMs);
  for (let start = entryKey({ atMs: before.atMs, id: before.id ?? "" }); ; ) {
    const page = environment().entries("audit", { start, end, reverse: true, limit: PAGE });
    for (const { key, value } of page) {
      const entry = unpackJson<AuditEntry>(value);
      if (key.equals(start) || !isMeant(entry)) continue;
      found.push({ entry, names: namesOf(environment(), entry) });
      if (found.length === limit) return found;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return found;
    start = last.key;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function namesOf(environment: Environment, entry: AuditEntry): PersonName[] {
  return [...new Set(personsIn(entry))].flatMap((hash) => {
    const bytes = environment.get("audit-names", hashKey(hash));
    if (bytes === undefined) return [];
    const { account, name } = unpackJson<KeptName>(bytes);
    return [{ hash, account, name }];
  });
}

function entryKey({ atMs, id }: Pick<AuditEntry, "atMs" | "id">): Buffer {
  return Buffer.concat([momentPrefix(atMs), Buffer.from(id)]);
}

const hashKey = (hash: string) => Buffer.from(`h${hash}`);
const personKey = (account: string, name: string) => Buffer.from(`n\0${account}\0${name}`);
const nameKey = ({ account, name, hash }: PersonName) => Buffer.from(`n\0${account}\0${name}\0${hash}`);
const hashIn = (key: Buffer) => key.toString("utf8", key.lastIndexOf(0) + 1);
