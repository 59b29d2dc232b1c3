/**
 * The audit: who has changed keys, operators, labels, shared projects or settings, connected or ended an application, or erased
 * something, and when. A note is made where a request comes in, and stored in the transaction of its change, so that neither is there
 * without the other (docs/decisions/0032). It has names and never a value. A person is a hash under the service's key, and the name
 * to it is kept apart until the person is erased: then whoever knows the name still finds the entry, and nobody learns it from there.
 */

import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { AUDIT_KEPT_MS, TIME_MS_MAX } from "../base/limits.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Store, WriteOutcome, WriteRequest } from "./ports.ts";
import type { AuditEntry, AuditedNames, AuditNote, AuditQuery } from "./records.ts";
import { StoreLayer } from "./store-layer.ts";

/** Where a change comes from. */
export interface AuditSource {
  readonly keyId?: string | undefined;
  readonly operator?: string | undefined;
  readonly person?: string | null | undefined;
  readonly address: string;
  readonly requestId: string;
}

export interface AuditFilter {
  readonly account?: string | undefined;
  /** A person of the account. */
  readonly user?: string | undefined;
  readonly operation?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** The last entry of the page before. */
  readonly after?: { readonly atMs: number; readonly id: string } | undefined;
  readonly limit: number;
}

interface AuditParts {
  readonly store: Pick<Store, "audit">;
  readonly keyRing: Pick<KeyRing, "auditSecrets">;
  readonly clock: Clock;
}

const HASH_LENGTH = 32;

export class Audit {
  readonly #parts: AuditParts;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** @param erased the person whose name is not kept for it */
  note(
    operation: string,
    { keyId, operator, person, address, requestId }: AuditSource,
    { account, user, members, ...names }: AuditedNames & { readonly account?: string | undefined },
    erased?: string,
  ): AuditNote {
    const { keyRing, clock } = this.#parts;
    const hash = (name: string) => hashOf(keyRing.auditSecrets.at(-1)!, account, name);
    const persons = new Set([person, user, ...(members ?? [])].flatMap((name) => name ?? []));
    if (erased !== undefined) persons.delete(erased);
    return {
      entry: {
        id: randomBytes(8).toString("hex"),
        atMs: clock.now(),
        operation,
        account: account ?? null,
        by: {
          ...(keyId !== undefined && { keyId }),
          ...(operator !== undefined && { operator }),
          ...(person != null && { person: hash(person) }),
        },
        of: {
          ...(user !== undefined && { user: hash(user) }),
          ...(members !== undefined && { members: members.map(hash) }),
          ...names,
        },
        address: address === "" ? null : address,
        requestId,
      },
      names: [...persons].sort().map((name) => ({ hash: hash(name), account: account ?? "", name })),
    };
  }

  /** For what has no change to be stored with. */
  add(note: AuditNote): Promise<void> {
    return this.#parts.store.audit.add(note);
  }

  /** A page, the newest first, and whether there are more. */
  async list(filter: AuditFilter): Promise<{ notes: readonly AuditNote[]; isMore: boolean }> {
    const {
      account,
      user,
      operation,
      sinceMs = 0,
      untilMs = Number.POSITIVE_INFINITY,
      after,
      limit,
    } = filter;
    const { keyRing, store, clock } = this.#parts;
    const hashes = keyRing.auditSecrets.map((secret) => hashOf(secret, account, user ?? ""));
    const query: AuditQuery = {
      ...{ account, operation, person: user === undefined ? undefined : { name: user, hashes } },
      // What is due to be swept is not shown.
      sinceMs: Math.max(0, sinceMs, clock.now() - AUDIT_KEPT_MS),
      before: after !== undefined && after.atMs < untilMs ? after : { atMs: Math.min(untilMs, TIME_MS_MAX) },
      limit: limit + 1,
    };
    const notes = await store.audit.read(query);
    return { notes: notes.slice(0, limit), isMore: notes.length > limit };
  }
}

/** Neither accounts nor user ids hold U+0000. */
function hashOf(secret: Uint8Array, account: string | undefined, name: string): string {
  const mac = createHmac("sha256", secret).update(`${account ?? ""}\0${name}`);
  return mac.digest("hex").slice(0, HASH_LENGTH);
}

/** What is known of a change only when it is made. */
export function noteOn(
  note: AuditNote | undefined,
  account: string | undefined,
  of: AuditedNames,
): AuditNote | undefined {
  if (note === undefined) return undefined;
  const { entry } = note;
  return { ...note, entry: { ...entry, account: account ?? entry.account, of: { ...entry.of, ...of } } };
}

/** Those of an entry, as hashes. */
export function personsIn({ by, of }: AuditEntry): string[] {
  return [by.person, of.user, ...(of.members ?? [])].filter((hash) => hash !== undefined);
}

/** The services for one call: the first of its changes stores the note, and all others the same one. */
export function auditedMemory<S extends { readonly store: Store }>(
  services: S,
  note: AuditNote | undefined,
): S {
  return note === undefined ? services : { ...services, store: auditedStore(services.store, note) };
}

function auditedStore(store: Store, note: AuditNote): Store {
  const layer = new StoreLayer(store);
  layer.write = (request) => store.write({ ...request, audit: note });
  layer.forgetUser = (account, userId, place, writable) =>
    store.forgetUser(account, userId, place, writable, note);
  layer.addLabel = (account, label) => store.addLabel(account, label, note);
  layer.changeLabel = (account, base, change) => store.changeLabel(account, base, change, note);
  layer.removeLabel = (account, label) => store.removeLabel(account, label, note);
  layer.changeStrict = (account, isStrict) => store.changeStrict(account, isStrict, note);
  layer.changeProject = (account, change) => store.changeProject(account, change, note);
  layer.removeProject = (account, project) => store.removeProject(account, project, note);
  return layer;
}

const CHANGES: ReadonlySet<unknown> = new Set(["added", "changed", "removed", true]);

/** Whether what a store tells of a change means that there was one. A record stands for one. */
export function hasChanged(result: unknown): boolean {
  if (typeof result !== "object" || result === null) return CHANGES.has(result);
  if ("outcome" in result) return CHANGES.has(result.outcome);
  return !("removed" in result) || Number(result.removed) > 0;
}

/** The same of a write. Erasing a person takes the name out of the audit, also of one who has nothing else. */
export function hasWritten({ changes: [first] }: WriteRequest, outcome: WriteOutcome): boolean {
  if (outcome.outcome !== "stored") return false;
  if (first?.kind === "erase" && first.within === null) return true;
  const { report, changes } = outcome;
  if (report === undefined) return changes.some(({ found }) => found);
  return (report.erased?.labels ?? report.disowned ?? report.moved ?? 0) > 0;
}
