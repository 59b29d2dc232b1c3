/**
 * MCP over streamable HTTP at /mcp of the service, under the same keys. `/mcp?user_id=ada` is bound to that
 * user; without it every call names one. Clients of the 2025 revisions are served without a session; clients
 * of 2026-07-28 can listen for changes on a stream.
 *
 * Each account has a handler of its own: what changes in one account is never heard in another.
 */

import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { BoundedCache } from "../base/bounded-cache.ts";
import type { AgentMemory } from "../contract/agent-memory.ts";
import type { Caller } from "../memory/authentication.ts";
import type { MemoryServices } from "../memory/services.ts";
import { directMemory, type FailureOf, type MemoryCaller } from "./direct-memory.ts";
import { userOfUri } from "./memory-uri.ts";
import { type Watch, watchMemory } from "./watch.ts";

export interface McpHttpOptions {
  readonly memory: MemoryServices;
  readonly version: string;
  /** Whether a caller's key still counts. */
  readonly isLive: (caller: Caller) => Promise<boolean>;
}

/** What the service knows of a request, handed through to the server that answers it. */
interface Visitor extends Record<string, unknown> {
  readonly memory: AgentMemory;
  readonly userId: string | undefined;
}

/** A request to /mcp; http/routes/mcp.ts makes it of a call. */
interface Visit {
  readonly caller: Caller;
  readonly userId: string | undefined;
  readonly request: { readonly method: string; readonly url: string; readonly headers: Headers };
  readonly body: unknown;
  /** Fires when the answer has been sent, or the client has gone. */
  readonly ended: AbortSignal;
  /** What the client is told of an error. */
  readonly failureOf: FailureOf;
}

interface AccountEntry {
  readonly handler: McpHttpHandler;
  readonly watches: Map<string, { watch: Watch; streams: number }>;
}

const ACCOUNTS_MAX = 1_000;
const STREAMS_MAX = 1_024;
const WATCHED_MAX = 16;
const KEYS_INTERVAL_MS = 1_000;

export class McpHttp {
  readonly #options: McpHttpOptions;
  readonly #accounts = new BoundedCache<Promise<AccountEntry>>({ entriesMax: ACCOUNTS_MAX });
  /** The visits that are being answered. */
  readonly #open = new Map<AbortController, Caller>();
  readonly #timer: NodeJS.Timeout;
  #looking = false;

  constructor(options: McpHttpOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#endRevoked(), KEYS_INTERVAL_MS).unref();
  }

  async answer({ caller, userId, request, body, ended, failureOf }: Visit): Promise<Response> {
    const account = await this.#accountOf(caller.account);
    const controller = new AbortController();
    this.#open.set(controller, caller);
    const memoryOf = (owner: MemoryCaller) => directMemory(this.#options.memory, owner, failureOf);
    const { unwatch, watching } = this.#watchFor(account, { memory: memoryOf(caller), userId }, body);
    const end = () => {
      this.#open.delete(controller);
      controller.abort();
      unwatch();
    };
    if (ended.aborted) end();
    else ended.addEventListener("abort", end, { once: true });
    // A client is told that it listens when no change can be missed any more.
    await watching;
    const visitor: Visitor = { memory: memoryOf({ ...caller, signal: controller.signal }), userId };
    const { method, url, headers } = request;
    return account.handler.fetch(
      new Request(new URL(url, "http://service"), { method, headers, signal: controller.signal }),
      {
        authInfo: { token: "", clientId: caller.keyId, scopes: [], extra: visitor },
        ...(body === undefined || body === null ? {} : { parsedBody: body }),
      },
    );
  }

  /** Ends the streams. */
  close(): void {
    clearInterval(this.#timer);
    for (const controller of this.#open.keys()) controller.abort();
  }

  /** A stream ends soon after its key. Each key is looked up once, however many streams it has. */
  async #endRevoked(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const callers = new Map([...this.#open.values()].map((caller) => [caller.keyId, caller]));
    for (const [keyId, caller] of callers) {
      // A store that does not answer says nothing about the key.
      if (await this.#options.isLive(caller).catch(() => true)) continue;
      for (const [controller, { keyId: own }] of this.#open) if (own === keyId) controller.abort();
    }
    this.#looking = false;
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
    const { version } = this.#options;
    const handler = createMcpHandler(
      ({ authInfo, era }) => {
        const { memory, userId } = authInfo!.extra as Visitor;
        // Clients of the 2025 revisions are served without a session: nothing could be sent to them later.
        const canSubscribe = era === "modern";
        return memoryServer({ memory, userId, version, canSubscribe });
      },
      { maxSubscriptions: STREAMS_MAX },
    );
    return { handler, watches: new Map() };
  }

  /** While a client listens, its resources are watched; several streams of an account share a watch. */
  #watchFor(
    { handler, watches }: AccountEntry,
    { memory, userId }: Visitor,
    body: unknown,
  ): { unwatch: () => void; watching: Promise<unknown> } {
    const uris = urisOf(body).filter((uri) => {
      const user = userOfUri(uri);
      return user !== undefined && (userId === undefined || user === userId);
    });
    for (const uri of uris) {
      const known = watches.get(uri);
      if (known !== undefined) known.streams += 1;
      else {
        const watch = watchMemory(memory, userOfUri(uri)!, () => handler.notify.resourceUpdated(uri));
        watches.set(uri, { watch, streams: 1 });
      }
    }
    const unwatch = () => {
      for (const uri of uris) {
        const known = watches.get(uri);
        if (known === undefined) continue;
        known.streams -= 1;
        if (known.streams > 0) continue;
        known.watch.stop();
        watches.delete(uri);
      }
    };
    return { unwatch, watching: Promise.all(uris.map((uri) => watches.get(uri)!.watch.check())) };
  }
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
