/**
 * An operator's sign-in for the console: the admin token or their own once, then a session cookie that the admin API
 * accepts in the token's place. The cookie is HttpOnly and SameSite=Strict, and holds an expiry and a mark of the token
 * under a MAC whose key comes from the master key: every process of the service accepts it, nothing is stored, and a token
 * that counts no more ends its sessions at once. Signing out ends a session in the process that answers: it remembers
 * which ones have ended. Another node, or this one after a restart, would still accept a copy of the session until its
 * expiry.
 *
 * Browsers send a cookie to every port of its host. So the cookie alone opens nothing: the page itself sends a second
 * secret in a header, which only the answer to the sign-in gave it. It is another MAC of the same session.
 *
 * Against forged requests from other sites: beside SameSite, a request in a session that changes anything must
 * come from this origin, by what the browser itself says (Sec-Fetch-Site, or Origin where it does not send that).
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { elementAt } from "../../base/assert.ts";
import { BoundedCache } from "../../base/bounded-cache.ts";
import type { Clock } from "../../base/clock.ts";
import { invalidRequest } from "../../base/errors.ts";
import type { Operator, Operators } from "../../memory/operators.ts";
import type { Call } from "../request/call.ts";
import { hostOf } from "./origins.ts";

export const SESSION_COOKIE = "sideband_console";
/** Where the page sends its secret. */
export const PAGE_SECRET_HEADER = "sideband-console";
export const SESSION_MS = 8 * 3_600_000;
const SESSION_PATTERN = /^(\d{1,15})\.([\w-]{22})\.([0-9a-f]{64})\.([\w-]{43})$/;
/** More than are opened in the time of a session: whoever opens one has a token. */
const ENDED_MAX = 10_000;
const SAFE_METHODS = new Set(["GET", "HEAD"]);

interface ConsoleSession {
  readonly operator: Operator;
  readonly expiresAtMs: number;
}

/** What a session's cookie says, under a MAC that was right. */
interface SealedSession {
  readonly nonce: string;
  readonly expiresAtMs: number;
  readonly tokenHash: string;
}

export class ConsoleSessions {
  readonly #secrets: readonly Uint8Array[];
  readonly #operators: Pick<Operators, "withHash">;
  readonly #clock: Clock;
  /** The nonces of sessions that were ended before their expiry. */
  readonly #ended = new BoundedCache<true>({ entriesMax: ENDED_MAX });

  /** @param secrets the last one opens sessions */
  constructor(secrets: readonly Uint8Array[], operators: Pick<Operators, "withHash">, clock: Clock) {
    this.#secrets = secrets;
    this.#operators = operators;
    this.#clock = clock;
  }

  /** A session of whoever has the token with this hash. */
  open(tokenHash: string): { session: string; pageSecret: string; expiresAtMs: number } {
    const secret = elementAt(this.#secrets, this.#secrets.length - 1);
    const expiresAtMs = this.#clock.now() + SESSION_MS;
    const content = `${expiresAtMs}.${randomBytes(16).toString("base64url")}.${tokenHash}`;
    const session = `${content}.${macOf(secret, "cookie", content)}`;
    return { session, pageSecret: macOf(secret, "page", content), expiresAtMs };
  }

  /** Ends the session that the headers have. */
  end(headers: IncomingHttpHeaders): void {
    const session = this.#sealedIn(headers);
    if (session !== undefined) this.#ended.set(session.nonce, true);
  }

  /** The session that the headers have; undefined where they have none that holds. */
  async sessionOf(headers: IncomingHttpHeaders): Promise<ConsoleSession | undefined> {
    const sealed = this.#sealedIn(headers);
    const operator = sealed && (await this.#operators.withHash(sealed.tokenHash));
    return operator && { operator, expiresAtMs: sealed.expiresAtMs };
  }

  #sealedIn(headers: IncomingHttpHeaders): SealedSession | undefined {
    const session = cookieOf(headers.cookie);
    const match = session === undefined ? null : SESSION_PATTERN.exec(session);
    if (match === null) return undefined;
    const [, expiry, nonce, tokenHash, mac] = match;
    const content = `${expiry}.${nonce}.${tokenHash}`;
    const pageSecret = String(headers[PAGE_SECRET_HEADER]);
    const isOurs = this.#secrets.some(
      (secret) =>
        isSame(mac, macOf(secret, "cookie", content)) && isSame(pageSecret, macOf(secret, "page", content)),
    );
    if (!isOurs || Number(expiry) <= this.#clock.now() || this.#ended.peek(nonce)) return undefined;
    return { nonce, expiresAtMs: Number(expiry), tokenHash };
  }

  /** The signed-in operator whose console a request comes from. */
  async operatorOf(call: Call): Promise<Operator | undefined> {
    const session = await this.sessionOf(call.request.headers);
    if (session !== undefined && !SAFE_METHODS.has(call.method)) requireSameOrigin(call);
    return session?.operator;
  }
}

function macOf(secret: Uint8Array, of: "cookie" | "page", content: string): string {
  return createHmac("sha256", secret).update(`${of}\0${content}`).digest("base64url");
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
