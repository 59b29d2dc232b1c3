/**
 * What the operator does with keys: they are created here and shown once, revoked, given an expiry; requests for keys are
 * approved or declined. The CLI, the admin API and the console all come through this.
 */

import { randomUUID } from "node:crypto";
import { TIER_LIMITS, type Tier } from "../base/accounts.ts";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { groupsOf } from "../base/groups.ts";
import { labelPatterns } from "../base/label-patterns.ts";
import { withThousands } from "../base/limits.ts";
import { noteOn } from "./audit.ts";
import {
  checkAccount,
  checkIdentifier,
  checkNote,
  checkRequestTexts,
  unusedAccounts,
} from "./identifiers.ts";
import { hashOfKey, KEY_PREFIX_LENGTH, newApiKey } from "./key-format.ts";
import type { FactStore, KeyStore } from "./ports.ts";
import { accountCounter, dayOf, isMonthlyLimit, MONTHLY_LIMIT_MAX, quotaWindow } from "./quota.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  AuditNote,
  KeyAccess,
  KeyChange,
  KeyRecord,
  KeyRequest,
} from "./records.ts";
import { usedOnDays } from "./usage.ts";

interface NewKey {
  readonly account: string;
  readonly tier?: Tier | undefined;
  readonly expiresAtMs?: number | null | undefined;
  readonly note?: string | undefined;
  /** Binds the key to one user. */
  readonly user?: string | null | undefined;
  readonly access?: KeyAccess | undefined;
  /** Limits the key to groups of labels. */
  readonly groups?: string | null | undefined;
  /** Limits what it may write. */
  readonly write?: readonly string[] | null | undefined;
}

/** The key itself is here and nowhere else. */
interface MadeKey {
  readonly key: string;
  readonly record: KeyRecord;
}

interface KeyUsage {
  readonly key: KeyRecord;
  /** That of all keys of the account together where it has one, else of the key's tier. */
  readonly limit: number | null;
  readonly usedThisMonth: number;
  readonly days: readonly { day: string; count: number }[];
}

interface Approval extends Omit<NewKey, "account"> {
  /** Without it the account is a new one under an unused name. */
  readonly account?: string | undefined;
  /** True where the key is for an account that exists; else the account must be new. */
  readonly join?: boolean | undefined;
}

interface KeyTerms {
  readonly newId?: () => string;
  readonly tier?: Tier;
}

type ManagedStore = KeyStore & Pick<FactStore, "walkUsers">;

/** Requests that may be open at a time. */
const OPEN_REQUESTS_MAX = 1_000;
/** Keys and users of an account are counted no further. */
const COUNT_MAX = 1_000;

export class KeyManager {
  readonly #store: ManagedStore;
  readonly #clock: Clock;
  readonly #newId: () => string;
  /** Of a key that is made without one. */
  readonly #tier: Tier;

  constructor(store: ManagedStore, clock: Clock, { newId = randomId, tier = "unlimited" }: KeyTerms = {}) {
    this.#store = store;
    this.#clock = clock;
    this.#newId = newId;
    this.#tier = tier;
  }

  /** @param audit here and below: stored with the change */
  async create(wanted: NewKey, audit?: AuditNote): Promise<MadeKey> {
    const made = this.#newKey(wanted);
    const { id: keyId, account } = made.record;
    assertAdded(await this.#store.addKey(made.record, undefined, noteOn(audit, account, { keyId })));
    return made;
  }

  #newKey(wanted: NewKey): MadeKey {
    checkAccount(wanted.account);
    const nowMs = this.#clock.now();
    const expiresAtMs = wanted.expiresAtMs ?? null;
    if (expiresAtMs !== null && expiresAtMs <= nowMs) {
      throw new Failure("invalid_request", "The expiry lies in the past.", { param: "expires_at" });
    }
    const user = wanted.user ?? null;
    if (user !== null) checkIdentifier(user, "user");
    checkNote(wanted.note ?? "");
    const groups = groupsOf(wanted.groups)?.text;
    const write = wanted.write == null ? undefined : labelPatterns(wanted.write).text;
    const key = newApiKey();
    const record: KeyRecord = {
      id: this.#newId(),
      account: wanted.account,
      tier: wanted.tier ?? this.#tier,
      hash: hashOfKey(key),
      prefix: key.slice(0, KEY_PREFIX_LENGTH),
      note: wanted.note ?? "",
      user,
      access: wanted.access ?? "write",
      createdAtMs: nowMs,
      expiresAtMs,
      revokedAtMs: null,
      lastUsedAtMs: null,
      ...(groups === undefined ? {} : { groups }),
      ...(write === undefined ? {} : { write }),
    };
    return { key, record };
  }

  async #change(id: string, change: KeyChange, audit: AuditNote | undefined): Promise<KeyRecord> {
    // The account of a key never changes.
    const account = audit && (await this.#store.readKey(id))?.account;
    return known(await this.#store.changeKey(id, change, noteOn(audit, account, { keyId: id })));
  }

  async revoke(id: string, audit?: AuditNote): Promise<KeyRecord> {
    const record = await this.#change(id, { revokedAtMs: this.#clock.now() }, audit);
    assert(record.id === id && record.revokedAtMs !== null, "the key that was named is revoked");
    return record;
  }

  async expire(id: string, expiresAtMs: number | null, audit?: AuditNote): Promise<KeyRecord> {
    const record = await this.#change(id, { expiresAtMs }, audit);
    assert(
      record.id === id && record.expiresAtMs === expiresAtMs,
      "the key that was named has the new expiry",
    );
    return record;
  }

  /** What the key has used in this month counts. */
  async changeTier(id: string, tier: Tier, audit?: AuditNote): Promise<KeyRecord> {
    const { month } = quotaWindow(this.#clock.now());
    return this.#change(id, { tier, month }, audit);
  }

  /** All keys of the account together, in place of what each of their tiers allows; null: as the tiers say. */
  async limitAccount(
    account: string,
    monthlyLimit: number | null,
    audit?: AuditNote,
  ): Promise<AccountRecord> {
    checkAccount(account);
    if (monthlyLimit !== null && !isMonthlyLimit(monthlyLimit)) {
      const detail = `monthly_limit is a whole number from 0 to ${withThousands(MONTHLY_LIMIT_MAX)}, or null.`;
      throw new Failure("invalid_request", detail, { param: "monthly_limit" });
    }
    const { month } = quotaWindow(this.#clock.now());
    const record = await this.#store.changeAccount(account, monthlyLimit, month, audit);
    if (record === undefined)
      throw new Failure("not_found", `There is no account ${account}.`, { param: "account" });
    return record;
  }

  list(account?: string): Promise<KeyRecord[]> {
    if (account !== undefined) checkAccount(account);
    return this.#store.listKeys(account);
  }

  async accounts(): Promise<(AccountRecord & { keys: number; usedThisMonth: number | null })[]> {
    const keyCounts = new Map<string, number>();
    for (const { account } of (await this.#store.listKeys()).filter(isKey))
      keyCounts.set(account, (keyCounts.get(account) ?? 0) + 1);
    const { month } = quotaWindow(this.#clock.now());
    const accounts = await this.#store.listAccounts();
    return Promise.all(
      accounts.map(async (record) => ({
        ...record,
        keys: keyCounts.get(record.account) ?? 0,
        usedThisMonth:
          record.monthlyLimit === undefined
            ? null
            : await this.#store.readUsage(accountCounter(record.account), month),
      })),
    );
  }

  async usage(filter: { keyId?: string; account?: string; from: string; to: string }): Promise<KeyUsage[]> {
    const { month } = quotaWindow(this.#clock.now());
    const keys = (await this.list(filter.account)).filter(
      (key) => isKey(key) && (filter.keyId === undefined || key.id === filter.keyId),
    );
    const accounts = await this.#store.listAccounts();
    const limits = new Map(accounts.map(({ account, monthlyLimit }) => [account, monthlyLimit]));
    return Promise.all(
      keys.map(async (key) => ({
        key,
        limit: limits.get(key.account) ?? TIER_LIMITS[key.tier],
        usedThisMonth: await usedOnDays(this.#store, key.id, month),
        days: await this.#store.readDailyUsage(key.id, filter.from, filter.to),
      })),
    );
  }

  /** The last 31 days, today included. */
  recentDays(): { from: string; to: string } {
    const nowMs = this.#clock.now();
    return { from: dayOf(nowMs - 30 * 86_400_000), to: dayOf(nowMs) };
  }

  /** The oldest open requests are deleted where there are too many, so that one sender cannot block others. */
  async request(wanted: {
    name: string;
    email: string;
    purpose: string;
    tier?: Tier | undefined;
  }): Promise<void> {
    checkRequestTexts(wanted);
    const open = (await this.#store.listKeyRequests()).filter(({ status }) => status === "open");
    const excess = Math.max(0, open.length + 1 - OPEN_REQUESTS_MAX);
    for (const { id } of open.slice(0, excess)) await this.#store.deleteKeyRequest(id);
    await this.#store.addKeyRequest({
      id: this.#newId(),
      name: wanted.name,
      email: wanted.email,
      purpose: wanted.purpose,
      tier: wanted.tier ?? "free",
      createdAtMs: this.#clock.now(),
      status: "open",
      decidedAtMs: null,
      keyId: null,
    });
  }

  requests(): Promise<KeyRequest[]> {
    return this.#store.listKeyRequests();
  }

  async approve(id: string, wanted: Approval, audit?: AuditNote): Promise<MadeKey> {
    const request = (await this.#store.listKeyRequests()).find((candidate) => candidate.id === id);
    if (request?.status !== "open") throw notOpen();
    const { account } = wanted;
    if (account === undefined) return this.#approveUnnamed(request, wanted, audit);
    const made = await this.#approveInto(account, request, wanted, audit);
    if (made === undefined) throw await this.#accountExists(account);
    return made;
  }

  /** Into a new account whose name nobody uses. */
  async #approveUnnamed(
    request: KeyRequest,
    wanted: Approval,
    audit: AuditNote | undefined,
  ): Promise<MadeKey> {
    if (wanted.join) {
      const detail = "An approval with join needs the name of the account.";
      throw new Failure("invalid_request", detail, { param: "account" });
    }
    const accounts = await this.#store.listAccounts();
    const names = unusedAccounts(request.email, new Set(accounts.map(({ account }) => account)));
    for (;;) {
      const made = await this.#approveInto(names.next().value, request, wanted, audit);
      if (made !== undefined) return made;
      // The name has facts and no key, or another approval has just taken it.
    }
  }

  /**
   * The store checks and decides in one step: of two approvals at once, the refused one leaves nothing behind.
   * @returns undefined where the account is to be new and exists
   */
  async #approveInto(
    account: string,
    request: KeyRequest,
    wanted: Approval,
    audit: AuditNote | undefined,
  ): Promise<MadeKey | undefined> {
    const made = this.#newKey({
      ...wanted,
      account,
      tier: wanted.tier ?? request.tier,
      note: wanted.note ?? `${request.name} <${request.email}>`,
    });
    const approval = { requestId: request.id, account: wanted.join ? "existing" : "new" } as const;
    const note = noteOn(audit, account, { keyId: made.record.id });
    const outcome = await this.#store.addKey(made.record, approval, note);
    if (outcome === "account_exists") return undefined;
    if (outcome === "account_missing")
      throw new Failure("not_found", `There is no account ${account}.`, { param: "account" });
    if (outcome === "request_not_open") throw notOpen();
    assertAdded(outcome);
    return made;
  }

  async #accountExists(account: string): Promise<Failure> {
    const keys = (await this.#store.listKeys(account)).filter(isKey).length;
    let users = 0;
    for await (const _user of this.#store.walkUsers(account)) {
      users += 1;
      if (users > COUNT_MAX) break;
    }
    const content = `${countOf(keys, "key")} and ${countOf(users, "user")}`;
    const detail = `The account ${account} exists, with ${content}. The key would have access to all of it.`;
    return new Failure("account_exists", detail, { param: "account" });
  }

  async deleteRequest(id: string, audit?: AuditNote): Promise<void> {
    if (!(await this.#store.deleteKeyRequest(id, audit)))
      throw new Failure("not_found", "There is no request with this id.", { param: "id" });
  }

  async decline(id: string, audit?: AuditNote): Promise<KeyRequest> {
    const decision = { status: "declined", decidedAtMs: this.#clock.now(), keyId: null } as const;
    const request = await this.#store.decideKeyRequest(id, decision, audit);
    if (request === undefined) throw notOpen();
    assert(request.id === id && request.status === "declined", "the request that was named is declined");
    return request;
  }
}

/** What was allowed to an application counts to the key that allowed it. */
function isKey({ grant }: KeyRecord): boolean {
  return grant === undefined;
}

/** A key that was not stored must not be handed out. */
function assertAdded(outcome: AddKeyOutcome): void {
  assert(outcome === "added", `a new key was not stored: ${outcome}`);
}

/** 16 hexadecimal digits. */
function randomId(): string {
  return randomUUID().replaceAll("-", "").slice(0, 16);
}

function countOf(count: number, what: string): string {
  const number = withThousands(Math.min(count, COUNT_MAX));
  return `${count > COUNT_MAX ? "more than " : ""}${number} ${what}${count === 1 ? "" : "s"}`;
}

function known(record: KeyRecord | undefined): KeyRecord {
  if (record === undefined) throw new Failure("not_found", "There is no key with this id.", { param: "id" });
  return record;
}

function notOpen(): Failure {
  return new Failure("conflict", "There is no open request with this id.", { param: "id" });
}
