/**
 * The agent's side: a memory for `sideband mcp` and `sideband hook`. With an address or a key it is a remote
 * service; else it is the owner of the data folder, which is started in the background where there is none.
 */

import type { AgentConfig } from "../config.ts";
import type { AgentMemory } from "../contract/agent-memory.ts";
import { DEFAULT_BASE_URL, Sideband } from "../sdk/index.ts";
import { COMMAND_PATH } from "./package.ts";

export { runHook, usesMemory } from "../agents/hooks.ts";
export { AGENTS, type AgentKind, shownPath } from "../agents/install.ts";

/** Where an owner has to be started, that may take longer than a call of the memory may. */
export async function openAgentMemory(config: AgentConfig): Promise<AgentMemory> {
  const { apiUrl, apiKey, timeoutMs, dataFolder, account } = config;
  if (apiUrl !== undefined || apiKey !== undefined) {
    return new Sideband({ baseUrl: apiUrl ?? DEFAULT_BASE_URL, apiKey, timeoutMs });
  }
  // Loaded only now: a hook against a remote service needs no owner.
  const { ownerFetch, reachOwner } = await import("../door/background-owner.ts");
  await reachOwner(COMMAND_PATH, dataFolder, timeoutMs);
  return new Sideband({
    baseUrl: "http://owner",
    timeoutMs,
    fetch: ownerFetch(COMMAND_PATH, dataFolder, account),
  });
}

/** Serves MCP on standard input and output until the client has gone. */
export async function runMcpStdio(
  memory: AgentMemory,
  options: { userId: string; version: string; onError: (error: Error) => void },
): Promise<void> {
  const { serveMcpStdio } = await import("../mcp/stdio.ts");
  const { userId, version, onError } = options;
  const gone = new Promise<void>((resolve) => {
    process.stdin.once("close", resolve).once("end", resolve);
    process.stdout.on("error", () => resolve());
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  const handle = serveMcpStdio({ memory, userId, version }, onError);
  await gone;
  await handle.close();
}
