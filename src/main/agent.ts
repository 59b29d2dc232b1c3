/**
 * The agent's side: a memory for `sideband mcp` and `sideband hook`. With an address or a key it is a remote
 * service; else it is the owner of the data folder, which is started in the background where there is none.
 */

import type { UndoCommand } from "../agent-side/written-line.ts";
import { openProject } from "../agents/open-project.ts";
import { type AgentConfig, usesService } from "../config.ts";
import { nodeFetch } from "../door-client/node-fetch.ts";
import { DEFAULT_BASE_URL, Sideband } from "../sdk/index.ts";
import { folderError } from "./folder-errors.ts";
import { COMMAND_PATH, packageVersion } from "./package.ts";

/**
 * Where an owner has to be started, that may take longer than a call of the memory may.
 * @param begin whether the data folder's store is made where there is none; else that is an error
 */
export async function openAgentMemory(config: AgentConfig, { begin = true } = {}): Promise<Sideband<string>> {
  const { apiUrl, apiKey, timeoutMs, dataFolder, account } = config;
  if (usesService(config)) {
    return new Sideband<string>({ baseUrl: apiUrl ?? DEFAULT_BASE_URL, apiKey, timeoutMs, fetch: nodeFetch });
  }
  // Loaded only now: a hook against a remote service needs no owner.
  const { ownerFetch, reachOwner } = await import("../door-client/background-owner.ts");
  await reachOwner(COMMAND_PATH, dataFolder, timeoutMs, { begin, version: packageVersion() }).catch(
    (error) => {
      throw folderError(dataFolder, error);
    },
  );
  return new Sideband<string>({
    baseUrl: "http://owner",
    timeoutMs,
    fetch: ownerFetch(COMMAND_PATH, dataFolder, account, { begin }),
  });
}

/** Where the memory of these settings is: an address or a folder. */
export function whereMemoryIs(config: AgentConfig): string {
  return usesService(config) ? (config.apiUrl ?? DEFAULT_BASE_URL) : config.dataFolder;
}

/** Serves MCP on standard input and output until the client has gone. */
export async function runMcpStdio(
  memory: Sideband<string>,
  config: AgentConfig,
  options: {
    version: string;
    onError: (error: Error) => void;
    /** The command with which the person undoes what the agent wrote. */
    undoIn: (project: string | undefined) => UndoCommand;
  },
): Promise<void> {
  const { serveMcpStdio } = await import("../mcp/stdio.ts");
  const { userId, allowSecrets, include } = config;
  const { version, onError, undoIn } = options;
  const gone = new Promise<void>((resolve) => {
    process.stdin.once("close", resolve).once("end", resolve);
    process.stdout.on("error", () => resolve());
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  const handle = serveMcpStdio(
    {
      memory,
      userId,
      version,
      allowSecrets,
      include,
      undoIn,
      projectIn: (roots) => openProject(memory, userId, roots ?? [process.cwd()], config),
    },
    onError,
  );
  await gone;
  await handle.close();
}
