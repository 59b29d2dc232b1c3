/**
 * Who may call: one check for each kind of route. They run before the body is read, so that a stranger's body is never
 * parsed. A key in the query counts for GET (and HEAD) only. A token is taken wherever a key is, and only the answers to
 * it can be seen by pages of other sites: a page never has the account's key.
 */

import { clockFault, type ServiceClock } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import { andThen } from "../../base/maybe-promise.ts";
import { enforce, tooMany } from "../../base/rate-limiter.ts";
import { OPERATIONS } from "../../contract/operations.ts";
import type { Caller } from "../../memory/authentication.ts";
import { isAccessToken } from "../../memory/grant-tokens.ts";
import { seenBy } from "../../memory/group-view.ts";
import { hashOfToken, type Operator, OWNER } from "../../memory/operators.ts";
import { quotaWindow } from "../../memory/quota.ts";
import { isToken } from "../../memory/tokens.ts";
import { writtenBy } from "../../memory/write-view.ts";
import { limitHeaders, withDemoReset } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { limitGroupOf } from "../request/client.ts";
import type { AccessCheck, AccessChecks } from "../request/route.ts";
import { UnknownAddress } from "../request/router.ts";
import type { HttpServices } from "../services.ts";
import type { ConsoleSessions } from "./console-session.ts";
import type { Origins } from "./origins.ts";

const OPEN_ORIGIN = [
  "access-control-allow-origin",
  "*",
  "access-control-expose-headers",
  "ETag, RateLimit, RateLimit-Policy, Retry-After, Sideband-Demo-Resets-In, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
];

const CLOCK_RETRY_S = 10;

export interface AccessOptions {
  readonly sessions: ConsoleSessions;
  readonly origins: Origins;
  readonly isProxy: (address: string) => boolean;
}

export function accessChecks(
  services: HttpServices,
  { sessions, origins, isProxy }: AccessOptions,
): AccessChecks {
  const { door } = services;
  const key = keyCheck(services, origins);
  const origin = (call: Call) => {
    if (!door.admits(call.request)) origins.check(call, isProxy(call.request.socket.remoteAddress ?? ""));
  };
  return {
    key,
    origin,
    mcp(call) {
      origin(call);
      return key(call);
    },
    preflight: (call) => origins.share(call),
    demo: demoCheck(services),
    admin: adminCheck(services, sessions),
    open(call) {
      // Figures about the whole service are for the operator's tools, not for pages of other sites.
      if (call.routePath !== OPERATIONS.metrics.path) call.headers = OPEN_ORIGIN;
    },
    any(call) {
      call.headers = OPEN_ORIGIN;
      if (door.admits(call.request) || bearerOf(call) !== undefined || call.query?.api_key !== undefined)
        return key(call);
    },
    page() {},
    door(call) {
      if (!door.admits(call.request)) throw new UnknownAddress(call.routePath);
      call.operator = OWNER;
    },
  };
}

function keyCheck(
  { authentication, memory, clock, limits, door, oauth }: HttpServices,
  origins: Origins,
): AccessCheck {
  const usedBy = ({ keyId, limit, counter = keyId }: Caller) =>
    limit === null ? 0 : memory.store.readUsage(counter, quotaWindow(clock.now()).month);
  return (call) => {
    if (door.admits(call.request)) {
      call.caller = door.callerOf(call.request);
      call.memory = memory;
      return;
    }
    requireClock(clock);
    const credential = keyOf(call);
    if (isToken(credential) || isAccessToken(credential)) origins.share(call);
    return andThen(authentication.callerOf(credential), (caller) => {
      if (caller.token !== undefined && oauth?.opens(caller.token, call.routePath) === false)
        throw new Failure(
          "invalid_key",
          "This access token is for another address of the service, or for another service.",
        );
      call.caller = caller;
      call.memory = seenBy(writtenBy(memory, caller), caller.groups);
      return andThen(usedBy(caller), (used) => {
        call.used = used;
        if (limits.key !== undefined) enforce(limits.key, caller.keyId);
      });
    });
  };
}

/** A machine whose clock is far from the database's takes no traffic: another node does. */
export function requireClock(clock: ServiceClock): void {
  const fault = clockFault(clock);
  if (fault?.stops) throw new Failure("store_unavailable", fault.line, { retryAfterS: CLOCK_RETRY_S });
}

function demoCheck({ demo, limits, clock }: HttpServices): AccessCheck {
  return (call) => {
    call.headers = OPEN_ORIGIN;
    if (demo === undefined)
      throw new Failure("not_found", "The demo is switched off here: SIDEBAND_DEMO=1 switches it on.");
    requireClock(clock);
    const group = limitGroupOf(call.client);
    const waitS = limits.demo.take(group);
    const { resetInMs, ...rest } = limits.demo.standing(group);
    const nowMs = clock.now();
    const standing = { name: "demo", ...rest, resetAtMs: nowMs + resetInMs };
    call.headers = withDemoReset([...OPEN_ORIGIN, ...limitHeaders(standing, nowMs)], demo.resetsInS);
    if (waitS > 0) throw tooMany(waitS);
  };
}

/** The admin token or an operator's own, the session of the console that was opened with it, or the door. */
function adminCheck(services: HttpServices, sessions: ConsoleSessions): AccessCheck {
  return (call) => {
    if (services.door.admits(call.request)) {
      call.operator = OWNER;
      return;
    }
    const token = bearerOf(call);
    const found = token === undefined ? sessions.operatorOf(call) : operatorWithToken(token, call, services);
    return found.then((operator) => {
      call.operator = operator;
      requireOperator(operator, call.method);
    });
  };
}

function requireOperator(operator: Operator | undefined, method: string): void {
  if (operator === undefined) {
    const detail = "Send the admin token, or your own as an operator: Authorization: Bearer <TOKEN>.";
    throw new Failure("missing_key", detail);
  }
  if (operator.access === "read" && method !== "GET" && method !== "HEAD") {
    const detail = `The operator ${operator.name} may look at everything and change nothing.`;
    throw new Failure("read_only_key", detail);
  }
}

/**
 * Wrong tokens count against the limit of their sender. Beyond it every token is refused, also the right one, so that
 * whoever guesses does not learn which one is right.
 */
export async function operatorWithToken(
  token: string,
  { client }: Pick<Call, "client">,
  { limits: { adminFailures }, operators }: Pick<HttpServices, "limits" | "operators">,
): Promise<Operator> {
  const sender = limitGroupOf(client);
  const waitS = adminFailures.waitS(sender);
  if (waitS > 0) throw tooMany(waitS);
  const operator = await operators.withHash(hashOfToken(token));
  if (operator !== undefined) return operator;
  adminFailures.take(sender);
  throw new Failure("invalid_key", "This admin token is not valid.");
}

function keyOf(call: Call): string {
  const bearer = bearerOf(call);
  if (bearer !== undefined) return bearer;
  const inQuery = call.query?.api_key;
  const mayBeInQuery = call.method === "GET" || call.method === "HEAD";
  // An application has no reason to put its token where proxies log it (RFC 9700, 4.3.2).
  if (inQuery !== undefined && isAccessToken(inQuery))
    throw new Failure(
      "missing_key",
      "An access token is taken from the header alone: Authorization: Bearer <TOKEN>.",
    );
  if (mayBeInQuery && inQuery !== undefined && inQuery !== "") return inQuery;
  const detail =
    inQuery === undefined || mayBeInQuery
      ? "Send an API key: Authorization: Bearer <API_KEY>."
      : "A key in the query is accepted for GET only: send Authorization: Bearer <API_KEY>.";
  throw new Failure("missing_key", detail);
}

function bearerOf({ request }: Call): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  const space = header.indexOf(" ");
  if (space < 0 || header.slice(0, space).toLowerCase() !== "bearer") return undefined;
  const token = header.slice(space + 1).trim();
  return token === "" ? undefined : token;
}
