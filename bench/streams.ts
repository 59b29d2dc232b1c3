/**
 * What idle MCP streams cost: the processor time of the service over ten seconds, in % of a core, without a stream and
 * with 1,000. Each stream listens to a user of its own with 40 facts, whose address it writes in 16 ways. Afterwards
 * one user's fact changes, and its stream alone must tell of it.
 */

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LABELS } from "../src/base/channel-labels.ts";
import { readConfig } from "../src/config.ts";
import { openCore } from "../src/main/core.ts";
import { cpuSeconds, type RunningServer, startServer, untilQuiet } from "./http/running-server.ts";
import type { BenchOptions } from "./options.ts";

const STREAMS = 1_000;
const STREAMS_SMALL = 20;
const WINDOW_MS = 10_000;
const WINDOW_SMALL_MS = 500;
const HEARD_WITHIN_MS = 10_000;
/** What the streams add, in % of a core. */
const BAR = 5;
const REVISION = "2026-07-28";

export async function benchStreams({ small, json }: BenchOptions): Promise<boolean> {
  const streams = small ? STREAMS_SMALL : STREAMS;
  const windowMs = small ? WINDOW_SMALL_MS : WINDOW_MS;
  const folder = mkdtempSync(join(tmpdir(), "sideband-streams-"));
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  let server: RunningServer | undefined;
  try {
    const key = await fill(folder, streams);
    server = await startServer(folder, {
      key,
      settings: { SIDEBAND_CONNECTIONS_PER_ADDRESS: String(2 * streams) },
    });
    await untilQuiet(server.process, small);
    const without = await share(server, windowMs);
    const heard = new Map<number, string>();
    for (let i = 0; i < streams; i++) await listen(server, agent, i, (text) => heard.set(i, text));
    await untilQuiet(server.process, small);
    const withThem = await share(server, windowMs);
    await changeOne(server, heard, streams - 1);
    const added = withThem - without;
    if (json) console.log(JSON.stringify({ streams: { streams, without, with: withThem, added } }));
    else
      console.log(
        `streams: ${streams} idle MCP streams over ${windowMs / 1000} s: ${withThem.toFixed(1)} % of a core, without them ${without.toFixed(1)} %; added ${added.toFixed(1)} % (bar ${BAR}) ${added <= BAR ? "ok" : "MISSED"}`,
      );
    return small || added <= BAR;
  } finally {
    agent.destroy();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Written to the store itself: the service would code the facts in the background for minutes. */
async function fill(folder: string, users: number): Promise<string> {
  const core = await openCore(readConfig({ SIDEBAND_DATA: folder }), { create: true });
  const { key } = await core.keys.create({ account: "bench", tier: "unlimited" });
  const changes = LABELS.map((label, i) => ({ place: "", label, value: `value ${i}` }));
  await Promise.all(
    Array.from({ length: users }, (_, i) =>
      core.store.write({ account: "bench", userId: userOf(i), changes, places: [""], nowMs: Date.now() }),
    ),
  );
  await core.close();
  return key;
}

const userOf = (i: number) => `user${i}`;

/** Sixteen ways to write one address: four of its letters, each as it is or percent-encoded. */
function spellings(user: string): string[] {
  const encoded = (letter: string) => `%${Buffer.from(letter).toString("hex")}`;
  return Array.from({ length: 16 }, (_, bits) => {
    const letters = [...user].map((letter, i) => (i < 4 && (bits >> i) % 2 === 1 ? encoded(letter) : letter));
    return `sideband://memory/${letters.join("")}`;
  });
}

/** Resolves when the service has said that the client listens; `hear` gets what comes after that. */
async function listen(server: RunningServer, agent: Agent, i: number, hear: (text: string) => void) {
  const method = "subscriptions/listen";
  const client = { name: "bench", version: "1.0.0" };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": client,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta, notifications: { resourceSubscriptions: spellings(userOf(i)) } };
  const headers = {
    authorization: `Bearer ${server.key}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": REVISION,
    "mcp-method": method,
  };
  const to = { host: "127.0.0.1", port: server.port, path: "/mcp" };
  const call = request({ ...to, method: "POST", headers, agent });
  call.end(JSON.stringify({ jsonrpc: "2.0", id: i, method, params }));
  const [response] = await once(call, "response");
  response.setEncoding("utf8");
  // The stream is cut at the end.
  response.on("error", () => {});
  const [first] = await once(response, "data");
  if (!first.includes("subscriptions/acknowledged")) throw new Error(`a stream was answered ${first}`);
  response.on("data", (text: string) => text.includes("resources/updated") && hear(text));
}

/** The processor time of the service in a window, in % of a core. */
async function share(server: RunningServer, windowMs: number): Promise<number> {
  const [cpuBefore, startedMs] = [cpuSeconds(server.process), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, windowMs));
  return (100_000 * (cpuSeconds(server.process) - cpuBefore)) / (performance.now() - startedMs);
}

async function changeOne({ port, key }: RunningServer, heard: ReadonlyMap<number, string>, i: number) {
  if (heard.size > 0) throw new Error(`an idle stream told of a change: ${[...heard.values()][0]}`);
  const answer = await fetch(`http://127.0.0.1:${port}/encode`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ user_id: userOf(i), label: "USER.name", value: "another" }),
  });
  if (answer.status !== 200) throw new Error(`a change was answered ${answer.status}`);
  for (const untilMs = performance.now() + HEARD_WITHIN_MS; !heard.has(i); ) {
    if (performance.now() > untilMs) throw new Error("a stream told of no change within 10 s");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (heard.size > 1) throw new Error("streams told of changes of others");
}
