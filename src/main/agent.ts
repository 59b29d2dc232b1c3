/**
 * The agent's side: a memory for `sideband mcp` and `sideband hook`. With an address or a key it is a remote
 * service; else it is the owner of the data folder, which is started in the background where there is none.
 */

import { hostGroups } from "../agent-side/host-groups.ts";
import type { UndoIn } from "../agent-side/written-line.ts";
import { offText } from "../agents/off.ts";
import { openProject } from "../agents/project.ts";
import type { LabelPatterns } from "../base/label-patterns.ts";
import { linesOf } from "../base/lines.ts";
import { type AgentConfig, readPersonSettings, usesService } from "../config.ts";
import { nodeFetch } from "../door-client/node-fetch.ts";
import { errorOf, SidebandError } from "../sdk/errors.ts";
import { DEFAULT_BASE_URL, type Fetch, Sideband } from "../sdk/index.ts";
import { folderError } from "./operator-errors.ts";
import { COMMAND_PATH, packageVersion } from "./package.ts";

/**
 * Where an owner has to be started, that may take longer than a call of the memory may.
 * @param begin whether the data folder's store is made where there is none; else that is an error
 * @param reach whether it must answer now; else an owner is started by the first call
 */
export async function openAgentMemory(
  config: AgentConfig,
  { begin = true, reach = true } = {},
): Promise<Sideband<string>> {
  const { apiKey, timeoutMs, dataFolder } = config;
  if (reach && !usesService(config)) {
    const { reachOwner } = await import("../door-client/background-owner.ts");
    const reached = reachOwner(COMMAND_PATH, dataFolder, timeoutMs, { begin, version: packageVersion() });
    await reached.catch((error) => {
      throw folderError(dataFolder, error);
    });
  }
  return new Sideband<string>({ apiKey, timeoutMs, ...(await addressOf(config, begin)) });
}

/** How requests reach the memory. */
async function addressOf(config: AgentConfig, begin: boolean): Promise<{ baseUrl: string; fetch: Fetch }> {
  if (usesService(config)) return { baseUrl: memoryLocation(config), fetch: await fetchOf(config) };
  // Loaded only now: a hook against a remote service needs no owner.
  const { ownerFetch } = await import("../door-client/background-owner.ts");
  const { dataFolder, account } = config;
  return { baseUrl: "http://owner", fetch: ownerFetch(COMMAND_PATH, dataFolder, account, { begin }) };
}

/** Where the person has signed in at the service, a token that ends is followed by the next one. */
async function fetchOf({ apiUrl, apiKey }: AgentConfig): Promise<Fetch> {
  const { service } = readPersonSettings();
  if (service?.signedIn === undefined || service.key !== apiKey || service.url !== apiUrl) return nodeFetch;
  const { refreshingFetch } = await import("./connected-service.ts");
  return refreshingFetch(service, nodeFetch);
}

/** Everything that is kept of the user, as the lines of an export, and a last line that says that they are whole. */
export async function* exportedUser(config: AgentConfig): AsyncGenerator<Record<string, unknown>> {
  const { apiKey, userId, personTimeoutMs } = config;
  const { baseUrl, fetch } = await addressOf(config, false);
  let status = 0;
  try {
    const response = await fetch(`${baseUrl}/users/export?user_id=${encodeURIComponent(userId)}`, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.trim()}` },
      signal: AbortSignal.timeout(personTimeoutMs),
    });
    status = response.status;
    const lines = linesOf(response.body as unknown as AsyncIterable<Uint8Array>);
    const isExport = response.headers.get("content-type")?.startsWith("application/x-ndjson");
    if (status !== 200 || !isExport) throw errorOf(status, response.headers, await problemIn(lines));
    for await (const line of lines) yield JSON.parse(line);
  } catch (cause) {
    if (cause instanceof SidebandError) throw cause;
    const what = status === 0 ? "cannot reach" : "the export was broken off by";
    throw new SidebandError(`${what} ${baseUrl}`, { code: "connection_failed", status: 0, cause });
  }
  yield { kind: "end" };
}

async function problemIn(lines: AsyncIterable<string>): Promise<unknown> {
  let text = "";
  for await (const line of lines) text += line;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where the memory of these settings is: an address or a folder. */
export function memoryLocation(config: AgentConfig): string {
  return usesService(config) ? (config.apiUrl ?? DEFAULT_BASE_URL) : config.dataFolder;
}

/** Serves MCP on standard input and output until the client has gone. */
export async function runMcpStdio(
  memory: Sideband<string>,
  config: AgentConfig,
  options: {
    version: string;
    /** The labels that the tools write; undefined: all that the key may. */
    labels: LabelPatterns | undefined;
    onError: (error: Error) => void;
    /** The command with which the person undoes what the agent wrote. */
    undoIn: UndoIn;
  },
): Promise<void> {
  const { serveMcpStdio } = await import("../mcp/stdio.ts");
  const { userId, allowSecrets, include, contextTokens, groups } = config;
  const { version, labels, onError, undoIn } = options;
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
      labels,
      allowSecrets,
      include,
      contextTokens,
      undoIn,
      groupsIn: (project) => hostGroups(memory, userId, groups, { project }),
      projectIn: (roots) => openProject(memory, userId, roots ?? [process.cwd()], config),
      offIn: (roots) => offText(config, roots ?? [process.cwd()]),
    },
    onError,
  );
  await gone;
  await handle.close();
}
