/**
 * Clients that publish their own metadata: their client_id is the address of a JSON document (OAuth Client ID Metadata
 * Document). It is fetched from a public address, at port 443, without following a redirect, within bounds of size and time.
 * A few fetches run at once, and the outcome of each is kept for a while, also a failure: whoever names addresses here
 * cannot have a third party asked again and again.
 */

import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { BoundedCache } from "../base/bounded-cache.ts";
import type { MonotonicClock } from "../base/clock.ts";
import { RateLimiter } from "../base/rate-limiter.ts";
import { KNOWN_CLIENTS, type KnownClient } from "./known-clients.ts";
import { OAuthError } from "./oauth-error.ts";
import { publicLookup } from "./public-lookup.ts";
import { redirectFault } from "./redirect-addresses.ts";

type PublishedClient = KnownClient;

export interface ClientDocumentsOptions {
  readonly clock: MonotonicClock;
  /** Instead of the ones for the public network, for tests. */
  readonly lookup?: LookupFunction;
  readonly port?: number;
  readonly ca?: string;
}

interface CachedDocument {
  readonly client: PublishedClient | undefined;
  readonly untilMs: number;
}

const URL_LENGTH_MAX = 512;
const DOCUMENT_BYTES_MAX = 16_384;
const FETCH_MS_MAX = 4_000;
const KEPT_MS = 600_000;
const FAILURE_KEPT_MS = 60_000;
const FETCHES_MAX = 8;
/** Of one address. */
const FETCHES_A_MINUTE = 20;
const NAME_LENGTH_MAX = 80;
const REDIRECTS_MAX = 20;

export class ClientDocuments {
  readonly #options: ClientDocumentsOptions;
  readonly #kept = new BoundedCache<CachedDocument>({ entriesMax: 1_000 });
  readonly #bySender: RateLimiter;
  readonly #running = new Map<string, Promise<PublishedClient | undefined>>();

  constructor(options: ClientDocumentsOptions) {
    this.#options = options;
    this.#bySender = new RateLimiter({ countMax: FETCHES_A_MINUTE, windowMs: 60_000, clock: options.clock });
  }

  /** Undefined where there is no such document, or none that holds. */
  async clientAt(address: string, sender: string): Promise<PublishedClient | undefined> {
    const kept = this.#kept.get(address);
    if (kept !== undefined && kept.untilMs > this.#options.clock.now()) return kept.client;
    const running = this.#running.get(address);
    if (running !== undefined) return running;
    // Whoever names slow addresses keeps nobody from those that most people use.
    if (this.#running.size >= FETCHES_MAX && address in KNOWN_CLIENTS) return KNOWN_CLIENTS[address];
    if (this.#running.size >= FETCHES_MAX || this.#bySender.take(sender) > 0)
      throw new OAuthError(
        "temporarily_unavailable",
        "Too many clients are looked up: try again in a moment.",
      );
    const looking = this.#look(address).finally(() => this.#running.delete(address));
    this.#running.set(address, looking);
    return looking;
  }

  async #look(address: string): Promise<PublishedClient | undefined> {
    const found = await this.#fetched(address);
    // A document that was fetched and does not hold is no reason to take an older one.
    const client = found === undefined ? KNOWN_CLIENTS[address] : publishedClient(address, found);
    const keptMs = found === undefined ? FAILURE_KEPT_MS : KEPT_MS;
    this.#kept.set(address, { client, untilMs: this.#options.clock.now() + keptMs });
    return client;
  }

  /** The text of the document; undefined where it cannot be had. */
  #fetched(address: string): Promise<string | undefined> {
    const { lookup = publicLookup(), port = 443, ca } = this.#options;
    return new Promise((resolve) => {
      const end = (text?: string) => {
        clearTimeout(timer);
        sent.destroy();
        resolve(text);
      };
      const timer = setTimeout(() => end(), FETCH_MS_MAX);
      const sent = request(
        address,
        { lookup, port, ca, agent: false, headers: { accept: "application/json" } },
        (answer) => {
          const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(answer.headers["content-type"] ?? "");
          if (answer.statusCode !== 200 || !isJson) return end();
          let text = "";
          answer.setEncoding("utf8");
          answer.on("data", (part: string) => {
            text += part;
            if (text.length > DOCUMENT_BYTES_MAX) end();
          });
          answer.on("end", () => end(text)).on("error", () => end());
        },
      );
      sent.on("error", () => end()).end();
    });
  }
}

/** Whether a client_id is meant as the address of a document, and may be fetched: a name, never an address of a machine. */
export function isDocumentAddress(clientId: string): boolean {
  if (!clientId.startsWith("https://") || clientId.length > URL_LENGTH_MAX || !URL.canParse(clientId))
    return false;
  const url = new URL(clientId);
  const isPlain = url.href === clientId && url.username === "" && url.password === "" && url.hash === "";
  const isName = isIP(url.hostname.replace(/^\[|\]$/g, "")) === 0 && url.hostname.includes(".");
  return isPlain && isName && url.port === "" && url.pathname !== "/";
}

function publishedClient(address: string, text: string): PublishedClient | undefined {
  let found: Record<string, unknown>;
  try {
    found = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof found !== "object" || found === null || found.client_id !== address) return undefined;
  const { redirect_uris: redirects, client_name: name, client_secret: secret } = found;
  const { token_endpoint_auth_method: method = "none", token_endpoint_auth_methods_supported: methods } =
    found;
  // What everybody can read is no secret; and who wants to prove itself with a key may do so elsewhere, or say "none" too.
  const isPublic = method === "none" || (Array.isArray(methods) && methods.includes("none"));
  if (secret !== undefined || !isPublic || !Array.isArray(redirects)) return undefined;
  const redirectUris = redirects
    .slice(0, REDIRECTS_MAX)
    .filter((uri) => redirectFault(uri) === undefined) as string[];
  if (redirectUris.length === 0) return undefined;
  return { name: nameIn(name) ?? new URL(address).hostname, redirectUris };
}

/** A client's name, as people may be shown it: without control characters and changes of direction. */
export function nameIn(name: unknown): string | undefined {
  if (typeof name !== "string") return undefined;
  const shown = name
    .replace(/[\p{C}\u2028\u2029]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return shown === "" ? undefined : [...shown].slice(0, NAME_LENGTH_MAX).join("");
}
