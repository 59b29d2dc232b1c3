/** sideband export --user of a service: everything that it keeps of one user, as the lines of an export. */

import { type AgentConfig, usesService } from "../../config.ts";
import { errorOf, SidebandError } from "../../sdk/errors.ts";
import { DEFAULT_BASE_URL } from "../../sdk/index.ts";
import { UsageError } from "../command.ts";
import { memoryError } from "../memory-errors.ts";
import { memoryConfig } from "../memory-options.ts";

interface ExportValues {
  readonly user?: string | undefined;
  readonly url?: string | undefined;
  readonly data?: string | undefined;
  readonly account?: string | undefined;
}

/** The service that is to be asked; undefined for a data folder. Only a user is exported from a service. */
export function exportedService({ user, url, data, account }: ExportValues): AgentConfig | undefined {
  if (user === undefined) {
    if (url !== undefined)
      throw new UsageError("--url exports one user of a service: name it with --user ID");
    return undefined;
  }
  const config = memoryConfig({ user, url, data });
  if (!usesService(config)) return undefined;
  return memoryConfig({ user, url, data, account });
}

/** The lines of one user, and a last one that says that they are whole. */
export async function* userLinesOf(config: AgentConfig): AsyncGenerator<Record<string, unknown>> {
  const text = await exportText(config).catch((error) => {
    throw memoryError(error, [], config);
  });
  for (const line of text.split("\n")) if (line !== "") yield JSON.parse(line);
  yield { kind: "end" };
}

async function exportText({ apiUrl, apiKey, userId, personTimeoutMs }: AgentConfig): Promise<string> {
  const baseUrl = apiUrl ?? DEFAULT_BASE_URL;
  let status = 0;
  try {
    const response = await fetch(`${baseUrl}/users/export?user_id=${encodeURIComponent(userId)}`, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.trim()}` },
      // The key is for this address alone.
      redirect: "manual",
      signal: AbortSignal.timeout(personTimeoutMs),
    });
    status = response.status;
    const text = await response.text();
    if (status >= 400) throw errorOf(status, response.headers, parsed(text));
    if (status !== 200 || !response.headers.get("content-type")?.startsWith("application/x-ndjson"))
      throw new SidebandError(`HTTP ${status}, but not from Sideband`, { code: "unexpected_answer", status });
    return text;
  } catch (cause) {
    if (cause instanceof SidebandError) throw cause;
    const what = status === 0 ? "cannot reach" : "the export was broken off by";
    throw new SidebandError(`${what} ${baseUrl}`, { code: "connection_failed", status: 0, cause });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
