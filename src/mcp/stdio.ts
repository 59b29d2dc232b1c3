/**
 * The MCP server of one agent on standard input and output, for one user. Serves clients of the 2025 revisions
 * and of 2026-07-28; both are told when the memory changes, by whomever.
 */

import type { McpServer } from "@modelcontextprotocol/server";
import { type StdioServerHandle, serveStdio } from "@modelcontextprotocol/server/stdio";
import { type MemoryServerOptions, memoryServer } from "./memory-server.ts";
import { memoryUri } from "./memory-uri.ts";
import { type Watch, watchMemory } from "./watch.ts";

export function serveMcpStdio(
  options: Omit<MemoryServerOptions, "onChange"> & { userId: string },
  onError: (error: Error) => void,
): StdioServerHandle {
  return serveStdio(({ era }) => watchedServer(options, era === "modern"), { onerror: onError });
}

/** A server that says when its user's memory has changed, to those who asked for it. */
function watchedServer(options: MemoryServerOptions & { userId: string }, modern: boolean): McpServer {
  const uri = memoryUri(options.userId);
  let watch: Watch | undefined;
  const tell = () => void server.server.sendResourceUpdated({ uri }).catch(() => {});
  const start = () => {
    watch ??= watchMemory(options.memory, options.userId, tell);
  };
  const stop = () => {
    watch?.stop();
    watch = undefined;
  };
  const server = memoryServer({
    ...options,
    subscriptions: {
      async subscribe(asked) {
        if (asked === uri) start();
        await watch?.check();
      },
      unsubscribe: (asked) => asked === uri && stop(),
    },
    onChange: () => void watch?.check(),
  });
  server.server.onclose = stop;
  // On a 2026-07-28 connection the transport keeps the subscriptions, and drops what nobody asked for.
  if (modern) start();
  return server;
}
