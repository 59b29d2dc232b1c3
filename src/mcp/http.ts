/**
 * MCP over streamable HTTP at /mcp of the service, under the same keys. `/mcp?user_id=ada` is bound to that
 * user; without it every call names one. Clients of 2026-07-28 listen for changes on the stream that they ask for;
 * clients of the 2025 revisions on the stream of their session, which nothing else needs.
 *
 * Each account has a handler of its own: what changes in one account is never heard in another.
 */

import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { AgentMemory } from "../agent-side/agent-memory.ts";
import type { SectionParts } from "../agent-side/memory-section.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import { Failure } from "../base/errors.ts";
import type { McpEndpoint, McpVisit } from "../http/services.ts";
import type { Caller } from "../memory/authentication.ts";
import type { OnHeard } from "../memory/events.ts";
import { mayAddLabels } from "../memory/rights.ts";
import type { MemoryServices } from "../memory/services.ts";
import { directMemory, type MemoryCaller } from "./direct-memory.ts";
import type { Subscriptions } from "./memory-server.ts";
import { memoryUri, userOfUri, watchableUser } from "./memory-uri.ts";
import { type ChangeSource, Session, WATCHED_MAX } from "./session.ts";

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
  readonly readOnly: boolean;
  readonly addsLabels: boolean;
  readonly project: string | undefined;
  readonly include: SectionParts;
  /** The session that a client of the 2025 revisions names, where this node has it. */
  readonly session: Session | undefined;
  /** Resolves when no change of a memory that is watched can be missed any more. */
  readonly check: (userId: string) => Promise<void>;
}

interface AccountEntry {
  readonly handler: McpHttpHandler;
  readonly sessions: BoundedCache<Session>;
  /** Tells whoever listens. */
  readonly tell: OnHeard;
  readonly beginnings: Beginnings;
  readonly onChange: ChangeSource["onChange"];
}

const ACCOUNTS_MAX = 1_000;
const STREAMS_MAX = 1_024;
const SESSIONS_MAX = 1_024;
const SESSION_HEADER = "mcp-session-id";
const SESSION_NOT_FOUND = -32_001;
const INVALID_PARAMS = -32_602;
/** The code with which the library refuses a stream too many. */
const LIMIT_REACHED = -32_603;
const TOO_MANY_REQUESTS = 429;
const NEW_SESSION = "Send initialize, and its Mcp-Session-Id with each request.";
const KEYS_INTERVAL_MS = 1_000;
/** Changes within this time are told in one notice, such as those of a batch. */
const TOGETHER_MS = 100;

export class McpHttp implements McpEndpoint {
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

  async answer(visit: McpVisit): Promise<Response> {
    const { caller, userId, addLabel, project, include, request, body, ended, failureOf } = visit;
    const account = await this.#accountOf(caller.account);
    const controller = new AbortController();
    this.#open.set(controller, caller);
    const memoryOf = (owner: MemoryCaller) => directMemory(this.#options.memory, owner, failureOf);
    const { events } = this.#options.memory;
    const watch = (user: string) => {
      const { ready, stop } = events.listen(caller.account, user, account.tell);
      account.beginnings.add(user, ready);
      return stop;
    };
    const check = (user: string) => account.beginnings.of(user);
    const releases: (() => void)[] = [];
    const end = () => {
      this.#open.delete(controller);
      controller.abort();
      for (const release of releases.splice(0)) release();
    };
    const listened = listenedOf(body, userId);
    try {
      for (const user of listened.users) releases.push(watch(user));
    } catch (error) {
      end();
      return refusalOf(error, (body as { id?: unknown }).id, 200);
    }
    if (ended.aborted) end();
    else ended.addEventListener("abort", end, { once: true });
    // A client is told that it listens when no change can be missed any more.
    await Promise.all(listened.users.map(check));
    const { method, url, headers } = request;
    const sessionId = headers.get(SESSION_HEADER);
    const found = sessionId === null ? undefined : account.sessions.get(sessionId);
    // A session may have subscribed to memories that the key of another client is not for.
    const session = found?.user === caller.user ? found : undefined;
    if (method === "GET" && sessionId !== null)
      return streamOf(session, { watch, onChange: account.onChange }, controller.signal);
    const memory = memoryOf({ ...caller, signal: controller.signal });
    const readOnly = caller.access === "read";
    const addsLabels = mayAddLabels(caller) && (addLabel ?? userId === undefined);
    const visitor: Visitor = { memory, userId, readOnly, addsLabels, project, include, session, check };
    const response = await account.handler.fetch(
      new Request(new URL(url, "http://service"), { method, headers, signal: controller.signal }),
      {
        authInfo: { token: "", clientId: caller.keyId, scopes: [], extra: visitor },
        ...(body === undefined || body === null ? {} : { parsedBody: listened.body }),
      },
    );
    if (methodOf(body) === "initialize" && response.ok) {
      const opened = new Session(caller.user, clientNameIn(body));
      account.sessions.set(opened.id, opened);
      response.headers.set(SESSION_HEADER, opened.id);
    }
    return response;
  }

  /** Ends the streams. */
  close(): void {
    clearInterval(this.#timer);
    for (const controller of this.#open.keys()) controller.abort();
  }

  /** A stream ends soon after its key, or its token. Each is looked up once, however many streams it has. */
  async #endRevoked(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const nameOf = ({ keyId, token }: Caller) => `${keyId} ${token?.expiresAtMs}`;
    const callers = new Map([...this.#open.values()].map((caller) => [nameOf(caller), caller]));
    for (const [name, caller] of callers) {
      // A store that does not answer says nothing about the key.
      if (await this.#options.isLive(caller).catch(() => true)) continue;
      for (const [controller, own] of this.#open) if (nameOf(own) === name) controller.abort();
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
    const handler: McpHttpHandler = createMcpHandler(
      ({ authInfo, era }) => {
        const visitor = authInfo!.extra as Visitor;
        const { memory, userId, readOnly, addsLabels, project, include, session } = visitor;
        const isLegacy = era === "legacy";
        return memoryServer({
          memory,
          userId,
          readOnly,
          addsLabels,
          version,
          include,
          projectOf: project === undefined ? undefined : async () => project,
          clientName: () => session?.clientName,
          subscriptions: isLegacy ? subscriptionsOf(visitor) : undefined,
          // The stream of a session tells of memories alone.
          onLabels: isLegacy ? undefined : () => handler.notify.toolsChanged(),
        });
      },
      { maxSubscriptions: STREAMS_MAX },
    );
    return {
      handler,
      sessions: new BoundedCache<Session>({ entriesMax: SESSIONS_MAX }),
      beginnings: new Beginnings(),
      tell: soon((user) => handler.notify.resourceUpdated(memoryUri(user))),
      onChange: (listener) =>
        handler.bus.subscribe(
          (event) => event.kind === "resource_updated" && listener(userOfUri(event.uri)!),
        ),
    };
  }
}

/** The memories that somebody has begun to listen to, until no change of them can be missed any more. */
class Beginnings {
  readonly #byUser = new Map<string, Promise<unknown>>();

  add(user: string, ready: Promise<void>): void {
    // Where the store is away, a change is told when it is back.
    const all = Promise.allSettled([this.#byUser.get(user), ready]).then(() => {
      if (this.#byUser.get(user) === all) this.#byUser.delete(user);
    });
    this.#byUser.set(user, all);
  }

  async of(user: string): Promise<void> {
    await this.#byUser.get(user);
  }
}

/** Tells of each user once, a moment after the first of many events. What is not known any more may have changed. */
function soon(tell: (user: string) => void): OnHeard {
  const changed = new Set<string>();
  return (heard, userId) => {
    if (heard === "end" || userId === undefined) return;
    if (changed.size === 0) {
      const tellAll = () => {
        const users = [...changed];
        changed.clear();
        for (const user of users) tell(user);
      };
      setTimeout(tellAll, TOGETHER_MS).unref();
    }
    changed.add(userId);
  };
}

/** The stream of a session. Where it is not known, the client is to begin a new one. */
function streamOf(session: Session | undefined, source: ChangeSource, ended: AbortSignal): Response {
  if (session === undefined) {
    const error = { code: SESSION_NOT_FOUND, message: `Session not found. ${NEW_SESSION}` };
    return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
  }
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  try {
    return new Response(session.open(source, ended), { headers });
  } catch (error) {
    return refusalOf(error, null, TOO_MANY_REQUESTS);
  }
}

/** The answer to a client whose account listens to too much. Any other error is thrown on. */
function refusalOf(error: unknown, id: unknown, status: number): Response {
  if (!isTooMany(error)) throw error;
  const { message } = error;
  return Response.json({ jsonrpc: "2.0", error: { code: LIMIT_REACHED, message }, id }, { status });
}

function isTooMany(error: unknown): error is Failure {
  return error instanceof Failure && error.code === "overloaded";
}

function subscriptionsOf({ session, userId, check }: Visitor): Subscriptions {
  const refuse = (code: number, message: string) => Object.assign(new Error(message), { code });
  const subscribe = (user: string, uri: string) => {
    try {
      return session!.subscribe(user, uri);
    } catch (error) {
      throw isTooMany(error) ? refuse(LIMIT_REACHED, error.message) : error;
    }
  };
  return {
    async subscribe(uri) {
      if (session === undefined)
        throw refuse(SESSION_NOT_FOUND, `A subscription needs a session of this node. ${NEW_SESSION}`);
      const user = watchableUser(uri, userId);
      if (user === undefined && userId !== undefined && userOfUri(uri) !== undefined)
        throw refuse(INVALID_PARAMS, "This is the memory of another user.");
      if (user === undefined) return;
      if (!subscribe(user, uri))
        throw refuse(INVALID_PARAMS, `A session has at most ${WATCHED_MAX} subscriptions.`);
      await check(user);
    },
    unsubscribe(uri) {
      const user = watchableUser(uri, userId);
      if (user !== undefined) session?.unsubscribe(user);
    },
  };
}

/**
 * The users whose memories a `subscriptions/listen` request wants to hear of, and the request with one address for each,
 * as notices write it. What the client may not hear of is not in it: the library tells all streams of an account.
 */
function listenedOf(body: unknown, boundUser: string | undefined): { users: string[]; body: unknown } {
  const { params } = (body ?? {}) as { params?: { notifications?: { resourceSubscriptions?: unknown } } };
  const uris = params?.notifications?.resourceSubscriptions;
  if (methodOf(body) !== "subscriptions/listen" || !Array.isArray(uris) || !uris.every(isText))
    return { users: [], body };
  const watched = new Set(uris.flatMap((uri) => watchableUser(uri, boundUser) ?? []));
  const users = [...watched].slice(0, WATCHED_MAX);
  const others = uris.filter((uri) => userOfUri(uri) === undefined);
  const resourceSubscriptions = [...users.map(memoryUri), ...others];
  const notifications = { ...params!.notifications, resourceSubscriptions };
  return { users, body: { ...(body as object), params: { ...params, notifications } } };
}

/** The name that a client of the 2025 revisions gives itself in its first request. */
function clientNameIn(body: unknown): string | undefined {
  const name = (body as { params?: { clientInfo?: { name?: unknown } } }).params?.clientInfo?.name;
  return isText(name) ? name : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function methodOf(body: unknown): unknown {
  return (body as { method?: unknown } | null | undefined)?.method;
}
