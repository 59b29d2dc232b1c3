/**
 * Which pages may call from a browser. At /mcp a page of another site is refused, unless the operator allows its origin.
 * So is a foreign name that was made to point at a service on this machine alone (DNS rebinding). Elsewhere the browser
 * refuses: a page sees the answers to a token, if the operator allows its origin.
 */

import { Failure } from "../../base/errors.ts";
import type { Call } from "../request/call.ts";

export interface OriginsOptions {
  readonly allowed: readonly string[];
  /** The names that the service has: where it listens, and its public address. */
  readonly names: readonly string[];
  /** Whether it listens for this machine alone: then a request must use one of its names. */
  readonly isLocal: boolean;
  /** Whether a 401 says where a token is to be had. */
  readonly tellsChallenge?: boolean;
}

const LOCAL_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const EXPOSED =
  "ETag, Idempotency-Replayed, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

export class Origins {
  readonly #allowed: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  readonly #isLocal: boolean;
  readonly #exposed: string;

  constructor({ allowed, names, isLocal, tellsChallenge = false }: OriginsOptions) {
    this.#exposed = tellsChallenge ? `${EXPOSED}, WWW-Authenticate` : EXPOSED;
    this.#allowed = new Set(allowed);
    this.#names = new Set([...LOCAL_NAMES, ...names, ...allowed.map((origin) => new URL(origin).hostname)]);
    this.#isLocal = isLocal;
  }

  /** @param viaProxy whether a trusted proxy stands for the name */
  check(call: Call, viaProxy: boolean): void {
    const { host = "" } = call.request.headers;
    if (this.#isLocal && !viaProxy && !this.#names.has(hostnameOf(`http://${host}`)))
      throw new Failure(
        "origin_not_allowed",
        `The Host ${host} is not a name of this service. The operator can allow its origin.`,
        {
          param: "Host",
        },
      );
    const { origin } = call.request.headers;
    if (origin === undefined) return;
    if (!this.#allowed.has(origin) && hostOf(origin) !== call.client.host)
      throw new Failure("origin_not_allowed", "Pages of this origin may not call the service.", {
        param: "Origin",
      });
    call.headers = this.#headersFor(origin);
  }

  #headersFor(origin: string): string[] {
    const exposed = ["access-control-expose-headers", this.#exposed];
    return ["access-control-allow-origin", origin, ...exposed, "vary", "origin"];
  }

  /** Lets a page see the answer, if the operator allows its origin. */
  share(call: Call): void {
    const { origin } = call.request.headers;
    if (origin !== undefined && this.#allowed.has(origin)) call.headers = this.#headersFor(origin);
  }
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

export function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
