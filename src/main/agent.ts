/**
 * The agent's side: a memory for `sideband mcp` and `sideband hook`. With an address or a key it is a remote
 * service, through the client; else it is a data folder, opened here and now, safely beside a running server.
 */

import { type AgentConfig, embeddedConfig } from "../config.ts";
import type { AgentMemory } from "../contract/agent-memory.ts";
import { DEFAULT_BASE_URL, Sideband } from "../sdk/index.ts";

export { runHook } from "../agents/hooks.ts";
export { AGENTS, type AgentKind, shownPath } from "../agents/install.ts";

export interface OpenMemory {
  readonly memory: AgentMemory;
  /** Where it is, for people. */
  readonly where: string;
  close(): Promise<void>;
}

export async function openAgentMemory(config: AgentConfig): Promise<OpenMemory> {
  if (config.apiUrl !== undefined || config.apiKey !== undefined) {
    const baseUrl = config.apiUrl ?? DEFAULT_BASE_URL;
    const memory = new Sideband({ baseUrl, apiKey: config.apiKey, timeoutMs: config.timeoutMs });
    return { memory, where: baseUrl, close: async () => {} };
  }
  // Loaded only now: a hook against a remote service needs no store.
  const [{ openCore }, { directMemory, ownerOf }] = await Promise.all([
    import("./core.ts"),
    import("../mcp/direct-memory.ts"),
  ]);
  const core = await openCore(embeddedConfig(config.dataFolder), { create: true });
  const memory = directMemory(core.memory, ownerOf(config.account));
  return { memory, where: config.dataFolder, close: () => core.close() };
}

/** Serves MCP on standard input and output until the client has gone. */
export async function runMcpStdio(
  opened: OpenMemory,
  options: { userId: string; version: string; onError: (error: Error) => void },
): Promise<void> {
  const { serveMcpStdio } = await import("../mcp/stdio.ts");
  const { userId, version, onError } = options;
  const gone = new Promise<void>((resolve) => {
    process.stdin.once("close", resolve).once("end", resolve);
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  const handle = serveMcpStdio({ memory: opened.memory, userId, version }, onError);
  await gone;
  await handle.close();
  await opened.close();
}
