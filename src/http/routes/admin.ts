/** /admin/*: the operator's desk over HTTP. */

import type { FastifyReply, FastifyRequest } from "fastify";
import { momentOf } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import type {
  ApproveBody,
  CreateKeyBody,
  ExpireKeyBody,
  KeyIdParams,
  KeyRequestView,
  KeysQuery,
  KeyView,
  UsageQuery,
} from "../../contract/admin-schemas.ts";
import type { KeyRecord, KeyRequest } from "../../memory/ports.ts";
import type { HttpParts } from "../parts.ts";

export function adminRoutes({ desk }: HttpParts) {
  return {
    async adminKeys(request: FastifyRequest) {
      return { keys: (await desk.list((request.query as KeysQuery).account)).map(viewOfKey) };
    },

    async adminCreateKey(request: FastifyRequest, reply: FastifyReply) {
      const { account, tier, expires_at, note } = request.body as CreateKeyBody;
      const { key, record } = await desk.create({ account, tier, note, expiresAtMs: timeOf(expires_at) });
      return reply.code(201).send({ key, ...viewOfKey(record) });
    },

    async adminRevokeKey(request: FastifyRequest) {
      return viewOfKey(await desk.revoke((request.params as KeyIdParams).id));
    },

    async adminExpireKey(request: FastifyRequest) {
      const { expires_at } = request.body as ExpireKeyBody;
      return viewOfKey(await desk.expire((request.params as KeyIdParams).id, timeOf(expires_at) ?? null));
    },

    async adminAccounts() {
      const accounts = await desk.accounts();
      return {
        accounts: accounts.map(({ account, createdAtMs, keys }) => ({
          account,
          created_at: textOf(createdAtMs),
          keys,
        })),
      };
    },

    async adminUsage(request: FastifyRequest) {
      const query = request.query as UsageQuery;
      const { from = desk.recentDays().from, to = desk.recentDays().to } = query;
      const usage = await desk.usage({
        from,
        to,
        ...(query.key_id === undefined ? {} : { keyId: query.key_id }),
      });
      return {
        from,
        to,
        keys: usage.map(({ key, limit, usedThisMonth, days }) => ({
          key_id: key.id,
          account: key.account,
          tier: key.tier,
          limit,
          used_this_month: usedThisMonth,
          days,
        })),
      };
    },

    async adminKeyRequests() {
      return { requests: (await desk.requests()).map(viewOfRequest) };
    },

    async adminApprove(request: FastifyRequest, reply: FastifyReply) {
      const { account, tier, expires_at } = request.body as ApproveBody;
      const wanted = { account, expiresAtMs: timeOf(expires_at), ...(tier === undefined ? {} : { tier }) };
      const { key, record } = await desk.approve((request.params as KeyIdParams).id, wanted);
      return reply.code(201).send({ key, ...viewOfKey(record) });
    },

    async adminDecline(request: FastifyRequest) {
      return viewOfRequest(await desk.decline((request.params as KeyIdParams).id));
    },
  };
}

function viewOfKey(record: KeyRecord): KeyView {
  return {
    id: record.id,
    account: record.account,
    tier: record.tier,
    prefix: record.prefix,
    note: record.note,
    created_at: textOf(record.createdAtMs),
    expires_at: record.expiresAtMs === null ? null : textOf(record.expiresAtMs),
    revoked_at: record.revokedAtMs === null ? null : textOf(record.revokedAtMs),
    last_used_at: record.lastUsedAtMs === null ? null : textOf(record.lastUsedAtMs),
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
    created_at: textOf(createdAtMs),
    decided_at: decidedAtMs === null ? null : textOf(decidedAtMs),
    key_id: keyId,
  };
}

function timeOf(text: string | null | undefined): number | null | undefined {
  if (text === null || text === undefined) return text;
  const ms = momentOf(text);
  if (ms === undefined || ms < 0 || ms >= 2 ** 48) {
    throw new Failure("invalid_request", "expires_at must be a real moment as in RFC 3339.", {
      param: "expires_at",
    });
  }
  return ms;
}

function textOf(ms: number): string {
  return new Date(ms).toISOString();
}
