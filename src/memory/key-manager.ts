/**
 * What the operator does with keys: they are created here and shown once, revoked, given an expiry; requests for keys are
 * approved or declined. The CLI, the admin API and the console all come through this.
 */

import { randomUUID } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { TIER_LIMITS, type Tier } from "../base/tiers.ts";
import { checkAccount } from "./identifiers.ts";
import { hashOfKey, KEY_PREFIX_LENGTH, newApiKey } from "./key-format.ts";
import type { KeyRecord, KeyRequest, KeyStore } from "./ports.ts";
import { dayOf, quotaWindow } from "./quota.ts";

export interface NewKey {
  readonly account: string;
  readonly tier?: Tier | undefined;
  readonly expiresAtMs?: number | null | undefined;
  readonly note?: string | undefined;
}

export interface KeyUsage {
  readonly key: KeyRecord;
  readonly limit: number | null;
  readonly usedThisMonth: number;
  readonly days: readonly { day: string; count: number }[];
}

/** Requests that may be open at a time: someone who sends too many is stopped. */
const OPEN_REQUESTS_MAX = 1_000;

export class KeyManager {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor(store: KeyStore, clock: Clock, newId = randomId) {
    this.#store = store;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** The key itself is in the answer and nowhere else. */
  async create(wanted: NewKey): Promise<{ key: string; record: KeyRecord }> {
    checkAccount(wanted.account);
    const nowMs = this.#clock.now();
    const expiresAtMs = wanted.expiresAtMs ?? null;
    if (expiresAtMs !== null && expiresAtMs <= nowMs) {
      throw new Failure("invalid_request", "The expiry lies in the past.", { param: "expires_at" });
    }
    const key = newApiKey();
    const record: KeyRecord = {
      id: this.#newId(),
      account: wanted.account,
      tier: wanted.tier ?? "free",
      hash: hashOfKey(key),
      prefix: key.slice(0, KEY_PREFIX_LENGTH),
      note: wanted.note ?? "",
      createdAtMs: nowMs,
      expiresAtMs,
      revokedAtMs: null,
      lastUsedAtMs: null,
    };
    await this.#store.addKey(record);
    return { key, record };
  }

  async revoke(id: string): Promise<KeyRecord> {
    return known(await this.#store.changeKey(id, { revokedAtMs: this.#clock.now() }));
  }

  async expire(id: string, expiresAtMs: number | null): Promise<KeyRecord> {
    return known(await this.#store.changeKey(id, { expiresAtMs }));
  }

  list(account?: string): Promise<KeyRecord[]> {
    if (account !== undefined) checkAccount(account);
    return this.#store.listKeys(account);
  }

  async accounts(): Promise<{ account: string; createdAtMs: number; keys: number }[]> {
    const keys = await this.#store.listKeys();
    const accounts = await this.#store.listAccounts();
    return accounts.map(({ account, createdAtMs }) => ({
      account,
      createdAtMs,
      keys: keys.filter((key) => key.account === account).length,
    }));
  }

  async usage(filter: { keyId?: string; account?: string; from: string; to: string }): Promise<KeyUsage[]> {
    const { month } = quotaWindow(this.#clock.now());
    const keys = (await this.list(filter.account)).filter(
      ({ id }) => filter.keyId === undefined || id === filter.keyId,
    );
    return Promise.all(
      keys.map(async (key) => ({
        key,
        limit: TIER_LIMITS[key.tier],
        usedThisMonth: await this.#store.readUsage(key.id, month),
        days: await this.#store.readDailyUsage(key.id, filter.from, filter.to),
      })),
    );
  }

  /** The last 31 days, today included. */
  recentDays(): { from: string; to: string } {
    const nowMs = this.#clock.now();
    return { from: dayOf(nowMs - 30 * 86_400_000), to: dayOf(nowMs) };
  }

  async request(wanted: {
    name: string;
    email: string;
    purpose: string;
    tier?: Tier | undefined;
  }): Promise<void> {
    const open = (await this.#store.listKeyRequests()).filter(({ status }) => status === "open");
    if (open.length >= OPEN_REQUESTS_MAX) {
      throw new Failure("rate_limited", "Too many requests are waiting for the operator.", {
        retryAfterS: 3600,
      });
    }
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

  async approve(id: string, wanted: NewKey): Promise<{ key: string; record: KeyRecord }> {
    const request = (await this.#store.listKeyRequests()).find((candidate) => candidate.id === id);
    if (request?.status !== "open") throw notOpen();
    const created = await this.create({
      ...wanted,
      tier: wanted.tier ?? request.tier,
      note: wanted.note ?? `${request.name} <${request.email}>`,
    });
    const decision = {
      status: "approved",
      decidedAtMs: this.#clock.now(),
      keyId: created.record.id,
    } as const;
    if ((await this.#store.decideKeyRequest(id, decision)) !== undefined) return created;
    // Someone else decided meanwhile: the key that was just made must not live.
    await this.revoke(created.record.id);
    throw notOpen();
  }

  async decline(id: string): Promise<KeyRequest> {
    const decision = { status: "declined", decidedAtMs: this.#clock.now(), keyId: null } as const;
    const request = await this.#store.decideKeyRequest(id, decision);
    if (request === undefined) throw notOpen();
    return request;
  }
}

/** 16 hexadecimal digits. */
function randomId(): string {
  return randomUUID().replaceAll("-", "").slice(0, 16);
}

function known(record: KeyRecord | undefined): KeyRecord {
  if (record === undefined) throw new Failure("not_found", "There is no key with this id.", { param: "id" });
  return record;
}

function notOpen(): Failure {
  return new Failure("conflict", "There is no open request with this id.", { param: "id" });
}
