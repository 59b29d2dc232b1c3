/**
 * The operator's sign-in for the console: the admin token once, then a session cookie that the admin API accepts
 * in the token's place. The cookie is HttpOnly and SameSite=Strict, and holds an expiry under a MAC whose key comes
 * from the admin token: every process of the service accepts it, nothing is stored, and a new admin token ends all
 * sessions at once. Signing out ends a session in the process that answers: it remembers which ones have ended. Another
 * node, or this one after a restart, would still accept a copy of the session until its expiry.
 *
 * Browsers send a cookie to every port of its host. So the cookie alone opens nothing: the page itself sends a second
 * secret in a header, which only the answer to the sign-in gave it. It is another MAC of the same session.
 *
 * Against forged requests from other sites: beside SameSite, a request in a session that changes anything must
 * come from this origin, by what the browser itself says (Sec-Fetch-Site, or Origin where it does not send that).
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { BoundedCache } from "../../base/bounded-cache.ts";
import type { Clock } from "../../base/clock.ts";
import { invalidRequest } from "../../base/errors.ts";
import type { Call } from "../request/call.ts";
import { hostOf } from "./origins.ts";

export const SESSION_COOKIE = "sideband_console";
/** Where the page sends its secret. */
export const PAGE_SECRET_HEADER = "sideband-console";
export const SESSION_MS = 8 * 3_600_000;
const SESSION_PATTERN = /^(\d{1,15})\.([\w-]{22})\.([\w-]{43})$/;
/** More than are opened in the time of a session: whoever opens one has the admin token. */
const ENDED_MAX = 10_000;
const SAFE_METHODS = new Set(["GET", "HEAD"]);

export class ConsoleSessions {
  readonly #adminDigest: Buffer;
  readonly #macKey: Buffer;
  readonly #clock: Clock;
  /** The nonces of sessions that were ended before their expiry. */
  readonly #ended = new BoundedCache<true>({ entriesMax: ENDED_MAX });

  constructor(adminToken: string, clock: Clock) {
    this.#adminDigest = digest(adminToken);
    this.#macKey = digest(`sideband console session\0${adminToken}`);
    this.#clock = clock;
  }

  isAdminToken(token: string): boolean {
    return timingSafeEqual(digest(token), this.#adminDigest);
  }

  open(): { session: string; pageSecret: string; expiresAtMs: number } {
    const expiresAtMs = this.#clock.now() + SESSION_MS;
    const content = `${expiresAtMs}.${randomBytes(16).toString("base64url")}`;
    const session = `${content}.${this.#mac("cookie", content)}`;
    return { session, pageSecret: this.#mac("page", content), expiresAtMs };
  }

  /** Ends the session that the headers have. */
  end(headers: IncomingHttpHeaders): void {
    const session = this.#sessionIn(headers);
    if (session !== undefined) this.#ended.set(session.nonce, true);
  }

  /** When the session that the headers have ends; undefined where they have none that holds. */
  expiryOf(headers: IncomingHttpHeaders): number | undefined {
    return this.#sessionIn(headers)?.expiresAtMs;
  }

  #sessionIn(headers: IncomingHttpHeaders): { nonce: string; expiresAtMs: number } | undefined {
    const session = cookieOf(headers.cookie);
    const match = session === undefined ? null : SESSION_PATTERN.exec(session);
    if (match === null) return undefined;
    const [, expiry, nonce, mac] = match;
    const content = `${expiry}.${nonce}`;
    if (!isSame(mac, this.#mac("cookie", content))) return undefined;
    if (!isSame(String(headers[PAGE_SECRET_HEADER]), this.#mac("page", content))) return undefined;
    if (Number(expiry) <= this.#clock.now() || this.#ended.peek(nonce)) return undefined;
    return { nonce, expiresAtMs: Number(expiry) };
  }

  /** Whether a request comes from the console of a signed-in operator. */
  admits(call: Call): boolean {
    if (this.expiryOf(call.request.headers) === undefined) return false;
    if (!SAFE_METHODS.has(call.method)) requireSameOrigin(call);
    return true;
  }

  #mac(of: "cookie" | "page", content: string): string {
    return createHmac("sha256", this.#macKey).update(`${of}\0${content}`).digest("base64url");
  }
}

export function requireSameOrigin(call: Pick<Call, "request" | "client">): void {
  const { origin, "sec-fetch-site": site } = call.request.headers;
  const same =
    site === undefined ? origin !== undefined && hostOf(origin) === call.client.host : site === "same-origin";
  if (!same) throw invalidRequest("Origin", "This call is for the console of this site.");
}

export function cookieText({ client }: Pick<Call, "client">, value: string): string {
  const secure = client.protocol === "https" ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

function cookieOf(header: string | undefined): string | undefined {
  const pairs = header?.split(/;\s*/) ?? [];
  return pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1);
}

/** In a time that does not tell how much is right. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
