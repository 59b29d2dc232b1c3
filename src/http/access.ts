/**
 * Who may call: one hook for each kind of route. They run before the body is read, so that a stranger's body
 * is never parsed. A key in the query counts for GET (and HEAD) only.
 */

import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../base/errors.ts";
import { chain, type Eventual } from "../base/eventual.ts";
import type { Access } from "../contract/operations.ts";
import { quotaWindow } from "../memory/quota.ts";
import type { ConsoleSessions } from "./console-session.ts";
import type { HttpParts } from "./parts.ts";
import { type Query, raiseQueryFault } from "./query.ts";
import { setQuotaHeaders } from "./quota-headers.ts";
import { enforce } from "./rate-limiter.ts";

export type AccessHook = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

export function accessHooks(parts: HttpParts, sessions: ConsoleSessions): Record<Access, AccessHook> {
  return { key: keyHook(parts), demo: demoHook(parts), open: openHook, admin: adminHook(parts, sessions) };
}

const OPEN_ORIGIN = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Retry-After, Sideband-Demo-Resets-In, X-Request-Id",
};

/** Calls `done` when the check is through: at once, or later, or with what it has thrown. */
function settling(check: (request: FastifyRequest, reply: FastifyReply) => Eventual<void>): AccessHook {
  return (request, reply, done) => {
    let passed: Eventual<void>;
    try {
      passed = check(request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (passed instanceof Promise) passed.then(() => done(), done);
    else done();
  };
}

const openHook = settling((request, reply) => {
  void reply.headers(OPEN_ORIGIN);
  raiseQueryFault(request.query);
});

function keyHook({ authentication, memory, clock, limits, door }: HttpParts): AccessHook {
  return settling((request, reply) => {
    if (door.admits(request.raw)) {
      request.caller = door.callerOf(request.raw);
      return raiseQueryFault(request.query);
    }
    const key = bearerOf(request) ?? keyInQuery(request);
    if (key === undefined) {
      const inQuery = request.method !== "GET" && "api_key" in (request.query as Query);
      const detail = inQuery
        ? "A key in the query is accepted for GET only: send Authorization: Bearer <API_KEY>."
        : "Send an API key: Authorization: Bearer <API_KEY>.";
      throw new Failure("missing_key", detail);
    }
    return chain(authentication.callerOf(key), (caller) => {
      request.caller = caller;
      const nowMs = clock.now();
      const used = caller.limit === null ? 0 : memory.store.readUsage(caller.keyId, quotaWindow(nowMs).month);
      return chain(used, (count) => {
        setQuotaHeaders(reply, caller.limit, count, nowMs);
        raiseQueryFault(request.query);
        if (limits.key !== undefined) enforce(limits.key, caller.keyId);
      });
    });
  });
}

function demoHook({ demo, limits }: HttpParts): AccessHook {
  return settling(async (request, reply) => {
    void reply.headers(OPEN_ORIGIN);
    if (demo === undefined) throw new Failure("not_found", "The demo is switched off here.");
    void reply.header("sideband-demo-resets-in", String(demo.resetsInS));
    enforce(limits.demo, request.ip);
    raiseQueryFault(request.query);
    await demo.resetIfDue();
  });
}

/** The admin token, the session of the console that was opened with it, or the door. */
function adminHook({ limits, door }: HttpParts, sessions: ConsoleSessions): AccessHook {
  return settling((request) => {
    if (door.admits(request.raw)) return raiseQueryFault(request.query);
    const token = bearerOf(request);
    if (token === undefined && sessions.admits(request)) return raiseQueryFault(request.query);
    if (token === undefined)
      throw new Failure("missing_key", "Send the admin token: Authorization: Bearer <TOKEN>.");
    if (!sessions.isAdminToken(token)) {
      enforce(limits.adminFailures, request.ip);
      throw new Failure("invalid_key", "This admin token is not valid.");
    }
    raiseQueryFault(request.query);
  });
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
