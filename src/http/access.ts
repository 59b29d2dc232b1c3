/**
 * Who may call: one hook for each kind of route. They run before the body is read, so that a stranger's body
 * is never parsed. A key in the query counts for GET (and HEAD) only.
 */

import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../base/errors.ts";
import type { Access } from "../contract/operations.ts";
import { quotaWindow } from "../memory/quota.ts";
import type { ConsoleSessions } from "./console-session.ts";
import type { HttpParts } from "./parts.ts";
import { type Query, raiseQueryFault } from "./query.ts";
import { setQuotaHeaders } from "./quota-headers.ts";
import { enforce } from "./rate-limiter.ts";

export type AccessHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export function accessHooks(parts: HttpParts, sessions: ConsoleSessions): Record<Access, AccessHook> {
  return { key: keyHook(parts), demo: demoHook(parts), open: openHook, admin: adminHook(parts, sessions) };
}

const OPEN_ORIGIN = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Retry-After, Sideband-Demo-Resets-In, X-Request-Id",
};

async function openHook(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.headers(OPEN_ORIGIN);
  raiseQueryFault(request.query);
}

function keyHook({ authentication, memory, clock, limits }: HttpParts): AccessHook {
  return async (request, reply) => {
    const key = bearerOf(request) ?? keyInQuery(request);
    if (key === undefined) {
      const inQuery = request.method !== "GET" && "api_key" in (request.query as Query);
      const detail = inQuery
        ? "A key in the query is accepted for GET only: send Authorization: Bearer <API_KEY>."
        : "Send an API key: Authorization: Bearer <API_KEY>.";
      throw new Failure("missing_key", detail);
    }
    const caller = await authentication.callerOf(key);
    request.caller = caller;
    if (caller.limit !== null) {
      const nowMs = clock.now();
      const used = await memory.store.readUsage(caller.keyId, quotaWindow(nowMs).month);
      setQuotaHeaders(reply, caller.limit, used, nowMs);
    }
    if (limits.key !== undefined) await enforce(limits.key, caller.keyId);
    raiseQueryFault(request.query);
  };
}

function demoHook({ demo, limits }: HttpParts): AccessHook {
  return async (request, reply) => {
    void reply.headers(OPEN_ORIGIN);
    if (demo === undefined) throw new Failure("not_found", "The demo is switched off here.");
    void reply.header("sideband-demo-resets-in", String(demo.resetsInS));
    await enforce(limits.demo, request.ip);
    raiseQueryFault(request.query);
    await demo.resetIfDue();
  };
}

/** The admin token, or the session of the console that was opened with it. */
function adminHook({ limits }: HttpParts, sessions: ConsoleSessions): AccessHook {
  return async (request) => {
    const token = bearerOf(request);
    if (token === undefined && sessions.admits(request)) return raiseQueryFault(request.query);
    if (token === undefined)
      throw new Failure("missing_key", "Send the admin token: Authorization: Bearer <TOKEN>.");
    if (!sessions.isAdminToken(token)) {
      await enforce(limits.adminFailures, request.ip);
      throw new Failure("invalid_key", "This admin token is not valid.");
    }
    raiseQueryFault(request.query);
  };
}

function bearerOf(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  const space = header.indexOf(" ");
  if (space < 0 || header.slice(0, space).toLowerCase() !== "bearer") return undefined;
  const token = header.slice(space + 1).trim();
  return token === "" ? undefined : token;
}

function keyInQuery(request: FastifyRequest): string | undefined {
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const key = (request.query as Query).api_key;
  return key === "" ? undefined : key;
}
