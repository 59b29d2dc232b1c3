/** /admin/*: what the operator does over HTTP. */

import { momentOf } from "../../base/clock.ts";
import { invalidRequest } from "../../base/errors.ts";
import { patternsOf } from "../../base/label-patterns.ts";
import { TIME_MS_MAX } from "../../base/limits.ts";
import type { AdminStatusAnswer, KeyRequestView, KeyView } from "../../contract/admin-schemas.ts";
import { auditedMemory } from "../../memory/audit.ts";
import { DEMO_ACCOUNT } from "../../memory/demo.ts";
import { listFacts } from "../../memory/facts.ts";
import { checkAccount } from "../../memory/identifiers.ts";
import { addLabelSet, changeStrict } from "../../memory/label-terms.ts";
import type { AccountRecord, KeyRecord, KeyRequest, OperatorRecord } from "../../memory/records.ts";
import { Answer } from "../request/answer.ts";
import type { CallHistory } from "../request/recent-calls.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { labelAnswer } from "./life-mapping.ts";
import { sharedProjects } from "./projects.ts";
import type { Readiness } from "./public.ts";
import { usersPage } from "./users.ts";

/** Keys, and the requests for them. */
function keyRoutes({ keys }: HttpServices) {
  return {
    async adminKeys(call) {
      return { keys: (await keys.list(call.query.account)).map(viewOfKey) };
    },

    async adminCreateKey(call) {
      const { account, tier, expires_at, note, user, access, groups, write } = call.body;
      const expiresAtMs = timeOf(expires_at);
      const rights = { user, access, groups, write };
      const { key, record } = await keys.create({ account, tier, note, expiresAtMs, ...rights }, call.audit);
      return Answer.json({ key, ...viewOfKey(record) }, { status: 201 });
    },

    async adminRevokeKey(call) {
      return viewOfKey(await keys.revoke(call.params.id, call.audit));
    },

    async adminExpireKey(call) {
      const expiresAtMs = timeOf(call.body.expires_at) ?? null;
      return viewOfKey(await keys.expire(call.params.id, expiresAtMs, call.audit));
    },

    async adminChangeKey(call) {
      return viewOfKey(await keys.changeTier(call.params.id, call.body.tier, call.audit));
    },

    async adminChangeAccount(call) {
      const { monthly_limit: limit } = call.body;
      return viewOfAccount(await keys.limitAccount(call.params.account, limit, call.audit));
    },

    async adminKeyRequests() {
      return { requests: (await keys.requests()).map(viewOfRequest) };
    },

    async adminApprove(call) {
      const { account, tier, expires_at, join } = call.body;
      const wanted = {
        account,
        join,
        expiresAtMs: timeOf(expires_at),
        ...(tier === undefined ? {} : { tier }),
      };
      const { key, record } = await keys.approve(call.params.id, wanted, call.audit);
      return Answer.json({ key, ...viewOfKey(record) }, { status: 201 });
    },

    async adminDecline(call) {
      return viewOfRequest(await keys.decline(call.params.id, call.audit));
    },

    async adminDeleteRequest(call) {
      await keys.deleteRequest(call.params.id, call.audit);
      return { status: "ok" };
    },
  } satisfies Partial<Handlers>;
}

/** The labels of an account, and what it may have. */
function labelRoutes({ memory }: HttpServices) {
  return {
    async adminLabels(call) {
      const { account } = call.query;
      checkAccount(account);
      return labelsOf(memory, account);
    },

    async adminChangeLabels(call) {
      const { account, strict, add_set: set } = call.body;
      checkAccount(account);
      const changed = auditedMemory(memory, call.audit);
      if (strict !== undefined) await changeStrict(changed, account, strict);
      if (set !== undefined) await addLabelSet(changed, account, set, { writtenBy: "console" });
      return labelsOf(memory, account);
    },
  } satisfies Partial<Handlers>;
}

/** The people who operate the service. */
function peopleRoutes({ operators }: HttpServices) {
  return {
    async adminOperators() {
      return { operators: (await operators.list()).map(viewOfOperator) };
    },

    async adminAddOperator(call) {
      const { token, record } = await operators.add(call.body.name, call.body.access ?? "write", call.audit);
      return Answer.json({ token, ...viewOfOperator(record) }, { status: 201 });
    },

    async adminRemoveOperator(call) {
      await operators.remove(call.params.name, call.audit);
      return { status: "ok" };
    },
  } satisfies Partial<Handlers>;
}

function viewOfOperator({ name, access, createdAtMs }: OperatorRecord) {
  return { name, access, created_at: momentText(createdAtMs) };
}

export function adminRoutes(services: HttpServices, readiness: Readiness, recent: CallHistory) {
  const { keys, clock } = services;
  const startedAt = momentText(clock.now());
  return {
    ...keyRoutes(services),
    ...labelRoutes(services),
    ...peopleRoutes(services),

    async adminAccounts() {
      const accounts = await keys.accounts();
      return {
        accounts: accounts.map(({ keys, usedThisMonth, ...record }) => ({
          ...viewOfAccount(record),
          keys,
          used_this_month: usedThisMonth,
        })),
      };
    },

    async adminUsers(call) {
      const { account, ...page } = call.query;
      checkAccount(account);
      return usersPage(services.memory, { account, user: null }, page);
    },

    async adminProjects(call) {
      const { account } = call.query;
      checkAccount(account);
      return { projects: await sharedProjects(services.memory, account) };
    },

    async adminUsage(call) {
      const days = keys.recentDays();
      const { from = days.from, to = days.to, key_id: keyId } = call.query;
      const usage = await keys.usage({ from, to, ...(keyId === undefined ? {} : { keyId }) });
      return {
        from,
        to,
        keys: usage.map(({ key, limit, usedThisMonth, days }) => ({
          key_id: key.id,
          account: key.account,
          tier: key.tier,
          limit,
          used_this_month: usedThisMonth,
          days: [...days],
        })),
      };
    },

    async adminStatus() {
      const { store } = services.memory;
      const ready = await readiness.check().then(
        () => true,
        () => false,
      );
      const { facts, users, sizeBytes } = await store.statistics();
      return {
        version: services.version,
        process_id: process.pid,
        started_at: startedAt,
        ready,
        store: { facts, users, size_bytes: sizeBytes },
        demo: await demoStatus(services),
        recent_errors: recent.errors.list((code) => ({ code })),
        recent_requests: recent.requests.list(({ account, keyId }) => ({ account, key_id: keyId })),
      };
    },
  } satisfies Partial<Handlers>;
}

async function labelsOf({ labels }: HttpServices["memory"], account: string) {
  const { all, free, isStrict } = await labels.of(account);
  const views = all.map(labelAnswer);
  return { labels: views.filter(({ own, hidden }) => own || hidden), free, strict: isStrict };
}

async function demoStatus({ memory, demo }: HttpServices): Promise<AdminStatusAnswer["demo"]> {
  if (demo === undefined) return null;
  const facts = await listFacts(memory, DEMO_ACCOUNT, { userId: await demo.userOf(undefined) });
  const labels = facts.map(({ label }) => label);
  return { labels, resets_in_s: demo.resetsInS };
}

function viewOfAccount({ account, createdAtMs, monthlyLimit }: AccountRecord) {
  return { account, created_at: momentText(createdAtMs), monthly_limit: monthlyLimit ?? null };
}

function viewOfKey(record: KeyRecord): KeyView {
  return {
    id: record.id,
    account: record.account,
    tier: record.tier,
    prefix: record.prefix,
    note: record.note,
    user: record.user,
    access: record.access,
    created_at: momentText(record.createdAtMs),
    expires_at: momentText(record.expiresAtMs),
    revoked_at: momentText(record.revokedAtMs),
    last_used_at: momentText(record.lastUsedAtMs),
    groups: record.groups ?? null,
    write: patternsOf(record.write)?.list.slice() ?? null,
  };
}

function viewOfRequest(request: KeyRequest): KeyRequestView {
  const { id, name, email, purpose, tier, status, createdAtMs, decidedAtMs, keyId } = request;
  return {
    id,
    name,
    email,
    purpose,
    tier,
    status,
    created_at: momentText(createdAtMs),
    decided_at: momentText(decidedAtMs),
    key_id: keyId,
  };
}

function timeOf(text: string | null | undefined): number | null | undefined {
  if (text === null || text === undefined) return text;
  const ms = momentOf(text);
  if (ms === undefined || ms < 0 || ms > TIME_MS_MAX) {
    throw invalidRequest(
      "expires_at",
      "expires_at must be a real day (YYYY-MM-DD), or a real moment as in RFC 3339, with Z or another zone.",
    );
  }
  return ms;
}

function momentText<T extends number | null>(ms: T): T extends null ? null : string {
  return (ms === null ? null : new Date(ms).toISOString()) as T extends null ? null : string;
}
