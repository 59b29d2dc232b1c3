/**
 * MCP over streamable HTTP at /mcp of the service, under the same keys. `/mcp?user_id=ada` is bound to that
 * user; without it every call names one. Clients of the 2025 revisions are served without a session; clients
 * of 2026-07-28 can listen for changes on a stream.
 *
 * Each account has a handler of its own: what changes in one account is never heard in another.
 */

import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BoundedCache } from "../base/bounded-cache.ts";
import { Failure } from "../base/errors.ts";
import type { Caller } from "../memory/authentication.ts";
import { checkIdentifier } from "../memory/identifiers.ts";
import type { MemoryParts } from "../memory/parts.ts";
import { directMemory } from "./direct-memory.ts";
import { userOfUri } from "./memory-uri.ts";
import { type Watch, watchMemory } from "./watch.ts";

export interface McpHttpOptions {
  readonly memory: MemoryParts;
  readonly version: string;
}

type Authenticate = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/** What the service knows of a request, handed through to the server that answers it. */
interface Visitor extends Record<string, unknown> {
  readonly caller: Caller;
  readonly userId: string | undefined;
}

interface AccountEntry {
  readonly handler: McpHttpHandler;
  readonly watches: Map<string, { watch: Watch; streams: number }>;
}

const PATHS = ["/mcp", "/v1/mcp"];
const METHODS = ["GET", "POST", "DELETE"] as const;
const ACCOUNTS_MAX = 1_000;
const STREAMS_MAX = 1_024;
const WATCHED_MAX = 16;

export class McpHttp {
  readonly #options: McpHttpOptions;
  readonly #accounts = new BoundedCache<Promise<AccountEntry>>({ entriesMax: ACCOUNTS_MAX });
  readonly #open = new Set<AbortController>();

  constructor(options: McpHttpOptions) {
    this.#options = options;
  }

  /** Adds the route; `authenticate` sets the caller or refuses. Streams end when the server begins to close. */
  register(app: FastifyInstance, authenticate: Authenticate): void {
    for (const url of PATHS) {
      const handler = (request: FastifyRequest, reply: FastifyReply) => this.#answer(request, reply);
      app.route({ method: [...METHODS], url, onRequest: authenticate, handler });
      app.route({ method: ["PUT", "PATCH"], url, handler: refuseMethod });
    }
    // A server that stops does not wait for listeners.
    app.addHook("preClose", async () => {
      for (const controller of this.#open) controller.abort();
    });
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const caller = (request as FastifyRequest & { caller: Caller }).caller;
    const { user_id: userId } = request.query as { user_id?: string };
    if (userId !== undefined) checkIdentifier(userId, "user_id");
    const account = await this.#accountOf(caller.account);
    const controller = new AbortController();
    this.#open.add(controller);
    const unwatch = this.#watchFor(account, { caller, userId }, request.body);
    reply.raw.once("close", () => {
      this.#open.delete(controller);
      controller.abort();
      unwatch();
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === "string" && name !== "authorization") headers.set(name, value);
    }
    const web = new Request(new URL(request.url, "http://service"), {
      method: request.method,
      headers,
      signal: controller.signal,
    });
    const visitor: Visitor = { caller, userId };
    const response = await account.handler.fetch(web, {
      // The key has been checked already and goes no further.
      authInfo: { token: "", clientId: caller.keyId, scopes: [], extra: visitor },
      ...(request.body === undefined || request.body === null ? {} : { parsedBody: request.body }),
    });
    return reply.send(response);
  }

  #accountOf(name: string): Promise<AccountEntry> {
    let entry = this.#accounts.get(name);
    if (entry === undefined) {
      entry = this.#newAccount();
      this.#accounts.set(name, entry);
    }
    return entry;
  }

  async #newAccount(): Promise<AccountEntry> {
    // Loaded for the first client: a service that no agent asks over MCP stays smaller and starts sooner.
    const [{ createMcpHandler }, { memoryServer }] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("./memory-server.ts"),
    ]);
    const { memory, version } = this.#options;
    const handler = createMcpHandler(
      ({ authInfo }) => {
        const { caller, userId } = authInfo!.extra as Visitor;
        return memoryServer({ memory: directMemory(memory, caller), userId, version });
      },
      { maxSubscriptions: STREAMS_MAX },
    );
    return { handler, watches: new Map() };
  }

  /** While a client listens, its resources are watched; several streams of an account share a watch. */
  #watchFor({ handler, watches }: AccountEntry, { caller, userId }: Visitor, body: unknown): () => void {
    const uris = urisOf(body).filter((uri) => {
      const user = userOfUri(uri);
      return user !== undefined && (userId === undefined || user === userId);
    });
    const memory = directMemory(this.#options.memory, caller);
    for (const uri of uris) {
      const known = watches.get(uri);
      if (known !== undefined) known.streams += 1;
      else {
        const watch = watchMemory(memory, userOfUri(uri)!, () => handler.notify.resourceUpdated(uri));
        watches.set(uri, { watch, streams: 1 });
      }
    }
    return () => {
      for (const uri of uris) {
        const known = watches.get(uri);
        if (known === undefined) continue;
        known.streams -= 1;
        if (known.streams > 0) continue;
        known.watch.stop();
        watches.delete(uri);
      }
    };
  }
}

async function refuseMethod(): Promise<never> {
  const allow = METHODS.join(", ");
  throw new Failure("method_not_allowed", `Use ${METHODS.join(" or ")} here.`, { allow });
}

/** The resources that a `subscriptions/listen` request wants to hear of. */
function urisOf(body: unknown): string[] {
  const { method, params } = (body ?? {}) as {
    method?: unknown;
    params?: { notifications?: { resourceSubscriptions?: unknown } };
  };
  const uris = method === "subscriptions/listen" ? params?.notifications?.resourceSubscriptions : undefined;
  if (!Array.isArray(uris)) return [];
  const texts = uris.filter((uri): uri is string => typeof uri === "string");
  return [...new Set(texts)].slice(0, WATCHED_MAX);
}
