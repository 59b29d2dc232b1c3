/** Visits to /mcp without a network, for tests. */

import type { TestContext } from "node:test";
import type { Failure } from "../../../src/base/errors.ts";
import type { McpVisit } from "../../../src/http/services.ts";
import { McpHttp } from "../../../src/mcp/http.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { settled } from "../blockwork/fake-workers.ts";
import { ACCOUNT, auditFor, memoryServices } from "../memory/memory-services.ts";

export const CALLER = {
  account: ACCOUNT,
  keyId: "k",
  tier: "unlimited",
  limit: null,
  expiresAtMs: null,
  user: null,
  access: "write",
} as const;
export const USERS = ["ada", "eve"] as const;
const MODERN = "2026-07-28";

/** A server of /mcp, and clients that visit it. */
export async function setUp(context: TestContext, caller: Caller = CALLER) {
  const { services, write } = await memoryServices(context);
  /** What ends the next visit. */
  const ended = new AbortController();
  /** Who comes next, and asks for what in the address of /mcp. */
  const place: Pick<McpVisit, "caller" | "project" | "include" | "addLabel" | "ended"> = {
    caller,
    project: undefined,
    include: "index",
    ended: ended.signal,
  };
  for (const user of USERS) await write(user, `the name of ${user}`);
  /** What is to be called when the key ends, of the visits that are watched. */
  const watched = new Set<() => void>();
  const watch = (_: Caller, onEnd: () => void) => {
    watched.add(onEnd);
    return () => void watched.delete(onEnd);
  };
  const mcp = new McpHttp({ memory: services, version: "1.0.0", watch });
  context.after(() => mcp.close());
  const visit = (
    userId: string | undefined,
    method: string,
    session: string | undefined,
    body: unknown,
    revision = "2025-06-18",
  ) =>
    mcp.answer({
      ...place,
      userId,
      request: {
        method,
        url: "/mcp",
        headers: new Headers({
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": revision,
          ...(revision === MODERN ? { "mcp-method": "subscriptions/listen" } : {}),
          ...(session === undefined ? {} : { "mcp-session-id": session }),
        }),
      },
      body,
      failureOf: (error) => error as Failure,
      audit: auditFor(services),
    });
  /** Bound to a user, unless there is none. */
  const ask = (userId: string | undefined, method: string, params: object, session?: string) =>
    visit(userId, "POST", session, { jsonrpc: "2.0", id: 1, method, params });
  const openStream = (session: string) => visit(undefined, "GET", session, undefined);
  /** A new session. */
  const initialize = async () => {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    return (await ask("ada", "initialize", params)).headers.get("mcp-session-id")!;
  };
  /** Listens as a client of 2026-07-28. Returns what the stream has told so far. */
  const listen = async (userId: string | undefined, resourceSubscriptions: string[]) => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { _meta, notifications: { resourceSubscriptions } };
    const body = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
    const response = await visit(userId, "POST", undefined, body, MODERN);
    let text = "";
    void (async () => {
      for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
    })();
    await settled();
    return () => text;
  };
  return { mcp, place, services, write, visit, ask, openStream, initialize, listen, ended, watched };
}

/** The JSON of an answer, which may come as an event. */
// biome-ignore lint/suspicious/noExplicitAny: each method has its own result.
export async function answerOf(response: Response): Promise<any> {
  const text = await response.text();
  return JSON.parse(text.startsWith("{") ? text : text.slice(text.indexOf("data: ") + 6));
}
