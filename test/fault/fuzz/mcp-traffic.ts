/** JSON-RPC at /mcp: calls of both generations, batches, notifications, malformed messages, wrong versions and origins. */

import type { Random } from "../../../src/base/random.ts";
import { MCP_ERAS, type McpCall, mcpRequest, rpcAnswers, toolRequest } from "../load/mcp-message.ts";
import { ask, type Field, FuzzFault, fire, type Kind, type Shot } from "./field.ts";
import { bearer } from "./http-traffic.ts";
import { headerText, ODD_TEXTS, oddValue, scratched } from "./odd-values.ts";

const METHODS = ["tools/list", "tools/call", "resources/read", "resources/list", "prompts/get", "ping"];
const ODD_METHODS = [
  "",
  "initialize",
  "subscriptions/listen",
  "notifications/cancelled",
  "server/discover",
  "x",
];
const TOOLS = [
  "remember",
  "recall",
  "forget",
  "list",
  "context",
  "flush",
  "read_block",
  "__proto__",
  "nothing",
];
const VERSIONS = ["1999-01-01", "2024-10-07", "2025-03-26", "2026-07-28", "2027-01-01", "x"];
const BATCH_MAX = 12;

export const MCP_KINDS: readonly Kind[] = [
  { name: "MCP calls", weight: 60, run: callTool },
  { name: "MCP batches", weight: 12, run: sendBatch },
  { name: "MCP malformed", weight: 48, run: sendMalformed },
];

/** What a client with this version has, bound to a user or not. */
function newCall(field: Field, random: Random): Omit<McpCall, "method"> {
  const user = random.below(2) === 0 ? `user ${random.below(20)}` : undefined;
  return {
    key: field.key,
    era: random.pick(MCP_ERAS),
    user,
    path: random.below(4) === 0 ? "/v1/mcp" : "/mcp",
  };
}

async function callTool(field: Field, random: Random, shot: Shot): Promise<void> {
  const call = newCall(field, random);
  const whose = call.user === undefined ? { user_id: "nobody" } : {};
  const fact = { label: "USER.name", value: `value ${random.below(10)}` };
  const isWrite = random.below(2) === 0;
  const request = isWrite
    ? toolRequest(call, "remember", { ...whose, ...fact })
    : toolRequest(call, random.pick(["recall", "forget"]), { ...whose, label: fact.label });
  const reply = await ask(field, shot, request, [200]);
  const [answer] = reply === undefined ? [] : rpcAnswers(reply);
  if (isWrite && answer?.result?.structuredContent?.value !== fact.value)
    throw new FuzzFault(`remember answered ${JSON.stringify(answer)}`);
}

async function sendBatch(field: Field, random: Random, shot: Shot): Promise<void> {
  const { path = "/mcp", key } = newCall(field, random);
  const one = (id: number) => {
    const params = { name: "recall", arguments: { user_id: "nobody", label: "USER.name" } };
    const call = { jsonrpc: "2.0", id, method: random.pick(["ping", "tools/call"]), params };
    return random.below(6) === 0 ? oddValue(random) : call;
  };
  const body = JSON.stringify(Array.from({ length: random.below(BATCH_MAX) }, (_, id) => one(id)));
  await fire(field, shot, { method: "POST", path, headers: headersOf(key, "2025-03-26"), body });
}

async function sendMalformed(field: Field, random: Random, shot: Shot): Promise<void> {
  const { path = "/mcp", key, user } = newCall(field, random);
  const params = random.pick<unknown>([
    { name: random.pick(TOOLS), arguments: { label: "USER.name", value: random.pick(ODD_TEXTS) } },
    { uri: random.pick(["sideband://memory/a", "sideband://memory/%zz", "file:///etc/passwd", ""]) },
    { _meta: oddValue(random), notifications: { resourceSubscriptions: oddValue(random) } },
    oddValue(random),
  ]);
  const method = random.pick(random.below(3) > 0 ? METHODS : ODD_METHODS);
  const id = random.below(6) === 0 ? oddValue(random) : 1;
  const message = random.below(8) === 0 ? oddValue(random) : { jsonrpc: "2.0", id, method, params };
  const headers = headersOf(key, random.pick(VERSIONS));
  if (random.below(8) === 0)
    headers.accept = random.pick(["text/html", "application/json", headerText(random)]);
  if (random.below(8) === 0)
    headers.origin = random.pick(["null", "https://evil.example", headerText(random)]);
  if (random.below(8) === 0) headers.host = random.pick(["evil.example", "localhost", "[::1]", "%"]);
  await fire(field, shot, {
    method: random.below(8) > 0 ? "POST" : random.pick(["GET", "DELETE", "OPTIONS", "PUT"]),
    path: user === undefined ? path : `${path}?user_id=${random.pick(["ada", "%00", "x".repeat(129)])}`,
    headers,
    body: scratched(random, JSON.stringify(message) ?? ""),
    // A stream that is opened by chance is not waited for.
    ...(method === "subscriptions/listen" ? { agent: false as const, cutAfterMs: 200 } : {}),
  });
}

/** A message that asks for a stream, and the old GET for one: opened, held for a while and dropped. */
export function streamRequest(field: Field, random: Random) {
  const user = `user ${random.below(20)}`;
  const uris = Array.from(
    { length: 1 + random.below(20) },
    (_, i) => `sideband://memory/${i === 0 ? encodeURIComponent(user) : i}`,
  );
  const params = { notifications: { resourceSubscriptions: uris } };
  return mcpRequest({ key: field.key, era: "2026-07-28", method: "subscriptions/listen", params, user });
}

function headersOf(key: string, version: string): Record<string, string> {
  return {
    ...bearer(key),
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": version,
  };
}
