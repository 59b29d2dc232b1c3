/** Who wrote a fact, as our clients say it: `claude-code`, `codex`, `cli`, `mcp: CLIENT`. */

import { WRITER_LENGTH_MAX } from "../base/limits.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what it looks for.
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/gu;

/** The names that clients of MCP give themselves, where we have another one for the same host. */
const HOSTS_BY_CLIENT: ReadonlyMap<string, string> = new Map([
  ["claude-code", "claude-code"],
  ["codex-mcp-client", "codex"],
  ["gemini-cli-mcp-client", "gemini-cli"],
  ["opencode", "opencode"],
  ["@cline/core", "cline"],
  ["cursor-vscode", "cursor"],
  ["Visual Studio Code", "vscode"],
]);

/** A name as the service takes it; the fallback where nothing is left of it. */
export function writerName(name: string, fallback: string): string {
  const kept = [...name.replace(UNFIT, "").trim()].slice(0, WRITER_LENGTH_MAX).join("");
  return kept === "" ? fallback : kept;
}

/** @param client the name in MCP's clientInfo */
export function mcpWriter(client: string | undefined): string {
  if (client === undefined || writerName(client, "") === "") return "mcp";
  return HOSTS_BY_CLIENT.get(client) ?? writerName(`mcp: ${client}`, "mcp");
}
