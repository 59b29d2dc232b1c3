/** JSON-RPC to /mcp as clients of both generations send it, and what is in the answer: JSON, or events. */

import type { Reply, Request } from "./exchange.ts";

export type McpEra = "2025-06-18" | "2025-11-25" | "2026-07-28";
export const MCP_ERAS: readonly McpEra[] = ["2025-06-18", "2025-11-25", "2026-07-28"];

export interface RpcAnswer {
  readonly id: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own result.
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface McpCall {
  readonly key: string;
  readonly era: McpEra;
  readonly method: string;
  readonly params?: Record<string, unknown>;
  /** The user that the server is bound to. */
  readonly user?: string | undefined;
  readonly path?: string;
}

export function mcpRequest({ key, era, method, params = {}, user, path = "/mcp" }: McpCall): Request {
  const isModern = era === "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": era,
    "io.modelcontextprotocol/clientInfo": { name: "load", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const { name, uri } = params;
  const about = name ?? uri;
  return {
    method: "POST",
    path: user === undefined ? path : `${path}?user_id=${encodeURIComponent(user)}`,
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": era,
      ...(isModern ? { "mcp-method": method } : {}),
      ...(isModern && typeof about === "string" ? { "mcp-name": about } : {}),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: isModern ? { ...params, _meta: meta } : params,
    }),
  };
}

export function toolRequest(call: Omit<McpCall, "method" | "params">, name: string, args: object): Request {
  return mcpRequest({ ...call, method: "tools/call", params: { name, arguments: args } });
}

/** The answers in a reply, of a batch several. */
export function rpcAnswers({ headers, text }: Pick<Reply, "headers" | "text">): RpcAnswer[] {
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  const parsed: unknown[] = isStream
    ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data))
    : text === ""
      ? []
      : [JSON.parse(text)];
  return parsed.flat() as RpcAnswer[];
}
