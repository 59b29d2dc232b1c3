/**
 * The operator's sign-in for the console: the admin token once, then a session cookie that the admin API accepts
 * in the token's place. The cookie is HttpOnly and SameSite=Strict, and holds an expiry under a MAC whose key comes
 * from the admin token: every process of the service accepts it, nothing is stored, and a new admin token ends all
 * sessions at once.
 *
 * Against forged requests from other sites: beside SameSite, a request with the cookie that changes anything must
 * come from this origin, by what the browser itself says (Sec-Fetch-Site, or Origin where it does not send that).
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import type { HttpParts } from "./parts.ts";
import { enforce } from "./rate-limiter.ts";

export const SESSION_COOKIE = "sideband_console";
export const SESSION_MS = 8 * 3_600_000;
const SESSION_PATTERN = /^(\d{1,15})\.([\w-]{22})\.([\w-]{43})$/;
const SAFE_METHODS = new Set(["GET", "HEAD"]);

export class ConsoleSessions {
  readonly #adminDigest: Buffer;
  readonly #macKey: Buffer;
  readonly #clock: Clock;

  constructor(adminToken: string, clock: Clock) {
    this.#adminDigest = digest(adminToken);
    this.#macKey = digest(`sideband console session\0${adminToken}`);
    this.#clock = clock;
  }

  isAdminToken(token: string): boolean {
    return timingSafeEqual(digest(token), this.#adminDigest);
  }

  open(): { session: string; expiresAtMs: number } {
    const expiresAtMs = this.#clock.now() + SESSION_MS;
    const content = `${expiresAtMs}.${randomBytes(16).toString("base64url")}`;
    return { session: `${content}.${this.#mac(content)}`, expiresAtMs };
  }

  /** When the session of a request ends; undefined where it has none that holds. */
  expiryOf(request: FastifyRequest): number | undefined {
    const session = cookieOf(request.headers.cookie);
    const match = session === undefined ? null : SESSION_PATTERN.exec(session);
    if (match === null) return undefined;
    const [, expiry, nonce, mac] = match;
    const expected = Buffer.from(this.#mac(`${expiry}.${nonce}`));
    if (!timingSafeEqual(Buffer.from(mac), expected)) return undefined;
    return Number(expiry) > this.#clock.now() ? Number(expiry) : undefined;
  }

  /** Whether a request comes from the console of a signed-in operator. */
  admits(request: FastifyRequest): boolean {
    if (this.expiryOf(request) === undefined) return false;
    if (!SAFE_METHODS.has(request.method)) assertSameOrigin(request);
    return true;
  }

  #mac(content: string): string {
    return createHmac("sha256", this.#macKey).update(content).digest("base64url");
  }
}

/** POST, GET and DELETE /console/session: sign in, ask, sign out. They are the website's own, not part of the API. */
export function registerConsole(
  app: FastifyInstance,
  sessions: ConsoleSessions,
  { limits }: HttpParts,
): void {
  const url = "/console/session";
  app.post(url, async (request, reply) => {
    assertSameOrigin(request);
    const { token } = (request.body ?? {}) as { token?: unknown };
    if (typeof token !== "string")
      throw new Failure("invalid_request", "token is required.", { param: "token" });
    if (!sessions.isAdminToken(token)) {
      enforce(limits.adminFailures, request.ip);
      throw new Failure("invalid_key", "This admin token is not valid.");
    }
    const { session, expiresAtMs } = sessions.open();
    const maxAgeS = Math.floor(SESSION_MS / 1000);
    return reply
      .header("set-cookie", `${cookieText(request, session)}; Max-Age=${maxAgeS}`)
      .header("cache-control", "no-store")
      .send({ expires_at: new Date(expiresAtMs).toISOString() });
  });
  app.get(url, async (request, reply) => {
    const expiresAtMs = sessions.expiryOf(request);
    const expiresAt = expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString();
    return reply.header("cache-control", "no-store").send({ expires_at: expiresAt });
  });
  app.delete(url, async (request, reply) => {
    assertSameOrigin(request);
    return reply
      .header("set-cookie", `${cookieText(request, "")}; Max-Age=0`)
      .code(204)
      .send();
  });
}

function assertSameOrigin(request: FastifyRequest): void {
  const site = request.headers["sec-fetch-site"];
  const { origin } = request.headers;
  const same =
    site === undefined ? origin !== undefined && hostOf(origin) === request.host : site === "same-origin";
  if (!same)
    throw new Failure("invalid_request", "This call is for the console of this site.", { param: "Origin" });
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

function cookieText(request: FastifyRequest, value: string): string {
  const secure = request.protocol === "https" ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

function cookieOf(header: string | undefined): string | undefined {
  const pairs = header?.split(/;\s*/) ?? [];
  return pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1);
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
