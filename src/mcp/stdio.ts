/**
 * The MCP server of one agent on standard input and output, for one user. Serves clients of the 2025 revisions
 * and of 2026-07-28; both are told when the memory changes, by whomever. The project is that of the client's roots,
 * where it has roots.
 */

import type { McpServer } from "@modelcontextprotocol/server";
import { type StdioServerHandle, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { AgentMemory } from "../agent-side/agent-memory.ts";
import type { SectionParts } from "../agent-side/memory-section.ts";
import { isForAnotherUser, otherUserText } from "../agent-side/other-user.ts";
import { memoryServer, type ServerCall } from "./memory-server.ts";
import { memoryUri } from "./memory-uri.ts";
import { type Watch, watchMemory } from "./watch.ts";

interface StdioOptions {
  readonly memory: AgentMemory;
  readonly userId: string;
  readonly version: string;
  readonly allowSecrets: boolean;
  readonly include: SectionParts;
  readonly undoIn?: ServerCall["undoIn"];
  /** The project of the client's roots, which are file: addresses; undefined if it has none to tell. */
  readonly projectIn: (roots: readonly string[] | undefined) => Promise<string | undefined>;
}

const ROOTS_TIMEOUT_MS = 1_000;

export function serveMcpStdio(options: StdioOptions, onError: (error: Error) => void): StdioServerHandle {
  return serveStdio(({ era }) => watchedServer(options, era === "modern"), { onerror: onError });
}

/** A server that says when its user's memory has changed, to those who asked for it. */
function watchedServer({ projectIn, ...options }: StdioOptions, modern: boolean): McpServer {
  const { memory, userId, version, include } = options;
  const uri = memoryUri(userId);
  let roots: Promise<string[] | undefined> | undefined;
  const projectOf = async () => {
    roots ??= rootsOf(server);
    return projectIn(await roots);
  };
  let watch: Watch | undefined;
  const tell = () => void server.server.sendResourceUpdated({ uri }).catch(() => {});
  const start = () => {
    watch ??= watchMemory(async () => memory.facts(userId, { project: await projectOf() }), tell);
  };
  const stop = () => {
    watch?.stop();
    watch = undefined;
  };
  const call: ServerCall = {
    ...options,
    projectOf,
    explained: (error) =>
      isForAnotherUser(error)
        ? Object.assign(new Error(otherUserText(userId)), { code: "user_not_allowed" })
        : error,
    clientName: () => server.server.getClientVersion()?.name,
    subscriptions: {
      async subscribe(asked) {
        if (asked === uri) start();
        await watch?.check();
      },
      unsubscribe: (asked) => asked === uri && stop(),
    },
    onChange: () => void watch?.check(),
    onLabels: () => void server.server.sendToolListChanged().catch(() => {}),
  };
  const offers = { isBound: true, isPlaced: true, addsLabels: true };
  const shape = { version, include, ...offers, takesSubscriptions: true, tellsOfLabels: true };
  const server = memoryServer(shape, () => call);
  server.server.onclose = stop;
  server.server.setNotificationHandler("notifications/roots/list_changed", () => {
    roots = undefined;
  });
  // On a 2026-07-28 connection the transport keeps the subscriptions, and drops what nobody asked for.
  if (modern) start();
  return server;
}

async function rootsOf({ server }: McpServer): Promise<string[] | undefined> {
  if (server.getClientCapabilities()?.roots === undefined) return undefined;
  try {
    const { roots } = await server.listRoots(undefined, { timeout: ROOTS_TIMEOUT_MS });
    return roots.length === 0 ? undefined : roots.map(({ uri }) => uri);
  } catch {
    // A client that does not answer works in the folder in which it started us.
    return undefined;
  }
}
