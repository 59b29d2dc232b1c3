/** A client of an MCP server over standard input and output. */

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { WRITER } from "./memory.ts";
import type { Place } from "./place.ts";

export interface McpClient {
  /** The text of a tool's answer. Throws where the tool says that it failed. */
  call(name: string, input: Readonly<Record<string, unknown>>): Promise<string>;
  /** What a model reads before it has called anything. */
  tools(): Promise<string>;
  /** How often a tool was called. */
  calls(): Promise<number>;
  close(): Promise<void>;
}

export async function startMcp(
  place: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<McpClient> {
  const client = new Client({ name: WRITER, version: "1.0.0" });
  const command = process.execPath;
  const all = { ...place.env, ...env };
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env: all, cwd: place.folder, stderr: "ignore" }),
  );
  let calls = 0;
  return {
    calls: async () => calls,
    call: async (name, input) => {
      calls += 1;
      const { content, isError } = await client.callTool({ name, arguments: { ...input } });
      const text = (content as { text?: string }[]).map((part) => part.text ?? "").join("\n");
      if (isError) throw new Error(text.slice(0, 300));
      return text;
    },
    tools: async () => {
      const { tools } = await client.listTools();
      const shown = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
      return `${client.getInstructions() ?? ""}\n${JSON.stringify(shown)}`;
    },
    close: () => client.close(),
  };
}
