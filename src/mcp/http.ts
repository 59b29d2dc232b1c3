/**
 * MCP over streamable HTTP at /mcp of the service, under the same keys. `/mcp?user_id=ada` is bound to that
 * user; without it every call names one. Clients of 2026-07-28 listen for changes on the stream that they ask for;
 * clients of the 2025 revisions on the stream of their session, which nothing else needs.
 *
 * Each account has a handler of its own: what changes in one account is never heard in another. Accounts take turns: a
 * visit, and each of its calls to the memory, is begun when it is the account's turn in the event loop.
 */

import type { McpHttpHandler, McpServer } from "@modelcontextprotocol/server";
import { BoundedCache } from "../base/bounded-cache.ts";
import { Failure } from "../base/errors.ts";
import type { McpEndpoint, McpVisit } from "../http/services.ts";
import type { Caller } from "../memory/authentication.ts";
import type { OnEventMessage } from "../memory/events.ts";
import { seenBy } from "../memory/group-view.ts";
import { mayAddLabels } from "../memory/rights.ts";
import type { MemoryServices } from "../memory/services.ts";
import { writtenBy } from "../memory/write-view.ts";
import { directMemory } from "./direct-memory.ts";
import type { ServerCall, ServerShape, Subscriptions } from "./memory-server.ts";
import { memoryUri, userOfUri, watchableUser } from "./memory-server.ts";
import { type ChangeSource, Session, Sessions, WATCHED_MAX } from "./session.ts";

interface McpHttpOptions {
  readonly memory: MemoryServices;
  readonly version: string;
  /** Calls `onEnd` when a caller's key counts no more, unless the function that it returns is called before. */
  readonly watch: (caller: Caller, onEnd: () => void) => () => void;
}

/** What the service knows of a request, handed through to the server that answers it. */
interface Visitor extends Record<string, unknown> {
  readonly call: ServerCall;
  readonly offers: Pick<ServerShape, "isBound" | "isPlaced" | "readOnly" | "addsLabels" | "include">;
  /** Puts the server that answers it back, where it is idle. */
  release: (() => void) | undefined;
}

interface AccountEntry {
  readonly handler: McpHttpHandler;
  readonly sessions: Sessions;
  /** Tells whoever listens. */
  readonly tell: OnEventMessage;
  readonly pendingStarts: PendingStarts;
  readonly onChange: ChangeSource["onChange"];
}

const ACCOUNTS_MAX = 1_000;
const STREAMS_MAX = 1_024;
/** Servers of an account that wait for a visit. */
const IDLE_SERVERS_MAX = 4;
const LISTEN = "subscriptions/listen";
const SESSION_HEADER = "mcp-session-id";
const SESSION_NOT_FOUND = -32_001;
const INVALID_PARAMS = -32_602;
/** The code with which the library refuses a stream too many. */
const LIMIT_REACHED = -32_603;
const TOO_MANY_REQUESTS = 429;
const NEW_SESSION = "Send initialize, and its Mcp-Session-Id with each request.";
/** Why a visit that has its answer, or whose client has gone, ends. Made once: a trace of the stack takes its time. */
const OVER = new DOMException("The visit is over.", "AbortError");
/** Changes within this time are told in one notice, such as those of a batch. */
const TOGETHER_MS = 100;

export class McpHttp implements McpEndpoint {
  readonly #options: McpHttpOptions;
  readonly #accounts = new BoundedCache<Promise<AccountEntry>>({ entriesMax: ACCOUNTS_MAX });
  /** Of those who listen: any other visit ends with its answer. */
  readonly #streams = new Set<AbortController>();

  constructor(options: McpHttpOptions) {
    this.#options = options;
  }

  async answer(visit: McpVisit): Promise<Response> {
    const { caller, userId, project, request, body, ended, failureOf } = visit;
    const seen = seenBy(writtenBy(this.#options.memory, caller), caller.groups);
    const account = await this.#accountOf(caller.account, seen);
    await seen.turns.next(caller.account);
    const controller = new AbortController();
    if (isListening(request.method, body)) this.#streams.add(controller);
    const watch = (user: string) => {
      const { ready, stop } = seen.events.listen(caller.account, user, account.tell);
      account.pendingStarts.add(user, ready);
      return stop;
    };
    const check = (user: string) => account.pendingStarts.of(user);
    // A stream ends with its key.
    const releases = [this.#options.watch(caller, () => controller.abort())];
    const end = () => {
      this.#streams.delete(controller);
      // Before the signal, which also ends the server's connection: one that is cut off is not used again.
      for (const release of releases.splice(0)) release();
      controller.abort(OVER);
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
    const memory = directMemory(seen, { ...caller, signal: controller.signal }, failureOf, visit.audit);
    const visitor: Visitor = {
      call: {
        memory,
        userId,
        projectOf: project === undefined ? undefined : async () => project,
        groupsIn: async () => visit.groups,
        clientName: () => session?.clientName,
        subscriptions: subscriptionsOf(session, userId, check),
        onLabels: () => account.handler.notify.toolsChanged(),
      },
      offers: offersTo(visit),
      release: undefined,
    };
    const response = await account.handler.fetch(
      new Request(new URL(url, "http://service"), { method, headers, signal: controller.signal }),
      {
        authInfo: { token: "", clientId: caller.keyId, scopes: [], extra: visitor },
        ...(body === undefined || body === null ? {} : { parsedBody: listened.body }),
      },
    );
    if (visitor.release !== undefined) releases.push(visitor.release);
    if (methodOf(body) === "initialize" && response.ok) {
      const opened = new Session(caller.user, clientNameIn(body));
      account.sessions.add(opened, `${caller.keyId} ${caller.user}`);
      response.headers.set(SESSION_HEADER, opened.id);
    }
    return response;
  }

  /** Ends the streams. */
  close(): void {
    for (const controller of this.#streams) controller.abort();
  }

  /** Who sees other groups of labels is told of other changes. */
  #accountOf(account: string, { groups }: MemoryServices): Promise<AccountEntry> {
    const name = `${account}\0${groups.text}`;
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
    const servers = new IdleServers((shape) =>
      memoryServer(shape, ({ http }) => (http!.authInfo!.extra as Visitor).call),
    );
    const handler: McpHttpHandler = createMcpHandler(
      ({ authInfo, era }) => {
        const visitor = authInfo!.extra as Visitor;
        const isLegacy = era === "legacy";
        // The stream of a session tells of memories alone.
        const { server, release } = servers.take({
          version,
          ...visitor.offers,
          takesSubscriptions: isLegacy,
          tellsOfLabels: !isLegacy,
        });
        visitor.release = release;
        return server;
      },
      { maxSubscriptions: STREAMS_MAX },
    );
    return {
      handler,
      sessions: new Sessions(),
      pendingStarts: new PendingStarts(),
      tell: debounced((user) => handler.notify.resourceUpdated(memoryUri(user))),
      onChange: (listener) =>
        handler.bus.subscribe(
          (event) => event.kind === "resource_updated" && listener(userOfUri(event.uri)!),
        ),
    };
  }
}

function offersTo({ caller, userId, addLabel, project, include }: McpVisit): Visitor["offers"] {
  return {
    isBound: userId !== undefined,
    isPlaced: project !== undefined,
    readOnly: caller.access === "read",
    addsLabels: mayAddLabels(caller) && (addLabel ?? userId === undefined),
    include,
  };
}

/** Servers that have answered a visit, for the next that is offered the same. A server answers one at a time. */
class IdleServers {
  readonly #make: (shape: ServerShape) => McpServer;
  #idle: { readonly name: string; readonly server: McpServer }[] = [];

  constructor(make: (shape: ServerShape) => McpServer) {
    this.#make = make;
  }

  /** `release` puts the server back, unless its visit was cut off: then something of it may still run. */
  take(shape: ServerShape): { server: McpServer; release: () => void } {
    const name = JSON.stringify(shape);
    const idle = this.#idle.find((entry) => entry.name === name);
    if (idle !== undefined) this.#idle = this.#idle.filter((entry) => entry !== idle);
    const server = idle?.server ?? this.#make(shape);
    const release = () => {
      if (server.isConnected()) return;
      this.#idle = [{ name, server }, ...this.#idle].slice(0, IDLE_SERVERS_MAX);
    };
    return { server, release };
  }
}

/** The memories that somebody has begun to listen to, until no change of them can be missed any more. */
class PendingStarts {
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
function debounced(tell: (user: string) => void): OnEventMessage {
  const changed = new Set<string>();
  return (message, userId) => {
    if (message === "end" || userId === undefined) return;
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

function subscriptionsOf(
  session: Session | undefined,
  userId: string | undefined,
  check: (userId: string) => Promise<void>,
): Subscriptions {
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
  if (methodOf(body) !== LISTEN || !Array.isArray(uris) || !uris.every(isText)) return { users: [], body };
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

function isListening(method: string, body: unknown): boolean {
  return method === "GET" || methodOf(body) === LISTEN;
}

function methodOf(body: unknown): unknown {
  return (body as { method?: unknown } | null | undefined)?.method;
}
