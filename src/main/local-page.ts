/**
 * The memory page on this machine, for `sideband open`: a server on 127.0.0.1 that hands on what the page asks for to the
 * owner of a data folder. The owner trusts whoever comes through its door, so this server lets only one browser in:
 *
 * - A link with a random code works once. It gives the browser a cookie, and leads to a page at a random path.
 * - A call needs both, the path and the cookie. Browsers send a cookie to every port of a machine, so that a server of
 *   another user could be sent it; but only below its path, which no other server knows.
 * - Host must be the address itself, which a foreign name that points here (DNS rebinding) is not, and a call must come
 *   from the page's own origin, by what the browser says.
 * - Of the owner's calls only those are handed on that a key has; not those of the operator.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { ACCOUNT_HEADER } from "../base/accounts.ts";
import { BODY_BYTES_MAX } from "../base/limits.ts";
import type { Operation } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";
import type { OwnerRequest } from "../door-client/owner-client.ts";

interface LocalPageOptions {
  /** Asks the owner of the data folder. */
  readonly send: (request: OwnerRequest) => Promise<IncomingMessage>;
  readonly account: string;
  /** What stands after the # of the page's address. */
  readonly hash: string;
}

const HOST = "127.0.0.1";
const SECRET_BYTES = 32;
/** What of a browser's request the owner gets to see. */
const HEADERS_IN = ["accept", "content-type", "if-match", "if-none-match", "last-event-id"];
/** What of the owner's answer is about the connection to it, or for pages of other origins. */
const HEADERS_OUT_DROPPED = /^(connection|keep-alive|transfer-encoding|access-control-.*)$/;
const EVENTS_PATH = OPERATIONS.events.path;

const CALLS = (Object.values(OPERATIONS) as Operation[])
  .filter(({ access }) => access === "key" || access === "any")
  .map(({ method, path, bodyBytesMax = BODY_BYTES_MAX }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+")}$`),
    bodyBytesMax,
  }));

/** Something that is refused, as a person reads it in a browser. */
class PageRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class LocalPage {
  readonly #options: LocalPageOptions;
  readonly #server: Server;
  readonly #path = secret();
  readonly #cookie = secret();
  #code: string | undefined = secret();
  #lastMs = performance.now();
  #onUsed = () => {};

  constructor(options: LocalPageOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error) => refuse(response, error));
    });
  }

  /** Listens on a free port; resolves to the link. */
  async start(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen({ host: HOST, port: 0 }, resolve);
    });
    return `${this.#origin}/open/${this.#code}`;
  }

  /** Milliseconds since the page was last used. Its stream of events is no use: it is open as long as the page is. */
  get idleMs(): number {
    return performance.now() - this.#lastMs;
  }

  /** Calls `onUsed` when the link has been used. */
  whenUsed(onUsed: () => void): void {
    this.#onUsed = onUsed;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get #address(): string {
    return `${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  get #origin(): string {
    return `http://${this.#address}`;
  }

  /** With the port: a cookie of another page of this kind does not take its place. */
  get #cookieName(): string {
    return `sideband_open_${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, origin } = request.headers;
    if (host !== this.#address) throw new PageRefusal(403, `This page has the address ${this.#origin} only.`);
    if (origin !== undefined && origin !== this.#origin)
      throw new PageRefusal(403, "Pages of other origins may not call this one.");
    const [target, query] = (request.url ?? "/").split(/\?(.*)/s);
    const [, first, ...rest] = target.split("/");
    const inside = `/${rest.join("/")}`;
    const isRead = request.method === "GET";
    if (isRead && first === "open" && rest.length === 1) this.#enter(request, response, rest[0]);
    else if (isRead && first === "assets") await this.#handOn(request, response, { path: target });
    else if (!isSame(first, this.#path)) throw new PageRefusal(404, "There is nothing at this address.");
    else if (isRead && inside === "/memory") await this.#showPage(response);
    else await this.#call(request, response, inside, query);
  }

  /** Takes the code of the link for the cookie. */
  #enter(request: IncomingMessage, response: ServerResponse, code: string): void {
    // A browser that only prepares for a visit must not use the link up.
    if (request.headers["sec-purpose"] !== undefined) throw new PageRefusal(403, "Open the link itself.");
    if (this.#code === undefined || !isSame(code, this.#code))
      throw new PageRefusal(
        403,
        "This link was used already, or is none. Run sideband open again for a new one.",
      );
    this.#code = undefined;
    this.#lastMs = performance.now();
    response.writeHead(303, {
      location: `/${this.#path}/memory${this.#options.hash}`,
      "set-cookie": `${this.#cookieName}=${this.#cookie}; Path=/${this.#path}; HttpOnly; SameSite=Strict`,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
    response.end();
    this.#onUsed();
  }

  /** The website's page, without the ways to its other pages, which are not here. It holds nothing of the memory. */
  async #showPage(response: ServerResponse): Promise<void> {
    this.#lastMs = performance.now();
    const answer = await this.#options.send({
      method: "GET",
      path: "/memory",
      headers: { accept: "text/html" },
    });
    if (answer.statusCode !== 200)
      throw new PageRefusal(502, "The owner of the data folder does not have this page.");
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    const html = Buffer.concat(chunks)
      .toString()
      .replace("<html ", '<html class="local" ')
      .replace('class="brand" href="/"', 'class="brand" href="#main"');
    const { etag: _, "content-length": __, ...headers } = headersOut(answer);
    response.writeHead(200, { ...headers, "cache-control": "no-store" }).end(html);
  }

  async #call(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: string | undefined,
  ): Promise<void> {
    const { method = "", headers } = request;
    const site = headers["sec-fetch-site"];
    // Browsers that do not say where a call comes from say its origin, unless it only reads: then they keep the answer.
    const isOwn =
      site === undefined ? method === "GET" || headers.origin !== undefined : site === "same-origin";
    if (!isOwn || !this.#hasCookie(headers.cookie))
      throw new PageRefusal(403, "This browser was not let in. Run sideband open again for a new link.");
    const known = CALLS.find((call) => call.method === method && call.pattern.test(path));
    if (known === undefined) throw new PageRefusal(404, "There is nothing at this address.");
    if (path !== EVENTS_PATH) this.#lastMs = performance.now();
    const body = method === "GET" ? undefined : await readBody(request, known.bodyBytesMax);
    await this.#handOn(request, response, { path: query === undefined ? path : `${path}?${query}`, body });
  }

  async #handOn(
    request: IncomingMessage,
    response: ServerResponse,
    { path, body }: { path: string; body?: string | undefined },
  ): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const headers: Record<string, string> = { [ACCOUNT_HEADER]: this.#options.account };
    for (const name of HEADERS_IN) {
      const value = request.headers[name];
      if (typeof value === "string") headers[name] = value;
    }
    const answer = await this.#options.send({
      method: request.method ?? "",
      path,
      headers,
      ...(body === undefined || body === "" ? {} : { body }),
      signal: gone.signal,
    });
    response.writeHead(answer.statusCode ?? 502, headersOut(answer));
    response.flushHeaders();
    // A browser that leaves ends the stream, and a stream that fails ends the answer.
    pipeline(answer, response, () => {});
  }

  #hasCookie(cookies = ""): boolean {
    const name = `${this.#cookieName}=`;
    const found = cookies.split(/;\s*/).find((pair) => pair.startsWith(name));
    return found !== undefined && isSame(found.slice(name.length), this.#cookie);
  }
}

async function readBody(request: IncomingMessage, sizeMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > sizeMax) throw new PageRefusal(413, `The body has more than ${sizeMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function headersOut({ headers }: IncomingMessage): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !HEADERS_OUT_DROPPED.test(entry[0]),
    ),
  );
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const status = error instanceof PageRefusal ? error.status : 502;
  const text = error instanceof Error ? error.message : String(error);
  response.writeHead(status, {
    // As a problem of the service: the page shows its detail.
    "content-type": "application/problem+json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  const code = status < 500 ? "page_refused" : "store_unavailable";
  response.end(JSON.stringify({ status, code, detail: text }));
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** In a time that does not tell how much is right. */
function isSame(given: string | undefined, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(expected));
}
