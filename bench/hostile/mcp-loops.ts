/**
 * What 50 clients of /mcp that ask in a loop, all of one account, cost another account: its calls of /decode and of /mcp,
 * one after the other, alone and beside the loops. What counts is the median wait beside them, as a ratio to that alone.
 */

import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../src/config.ts";
import { openCore } from "../../src/main/core.ts";
import type { LoadJob, LoadResult } from "../http/load.ts";
import { ask, MASTER_KEY, startServer, untilQuiet } from "../http/running-server.ts";
import { median } from "../median.ts";

/** The waits of another account for one kind of call. */
export interface LoopWaits {
  readonly call: string;
  readonly aloneMs: number;
  readonly besideMs: number;
  /** The median beside the loops to that alone. */
  readonly ratio: number;
}

export interface McpLoops {
  readonly waits: readonly LoopWaits[];
  /** Answers to the loops in a second. */
  readonly loopsPerSecond: number;
}

export const MCP_RATIO_BAR = 3;
const LOOPS = 50;
const ASKS = 200;
const SLICE_MS = 500;

/** @param command the `sideband` of another folder, to compare with */
export async function measureMcpLoops(small: boolean, command?: string): Promise<McpLoops> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-mcp-loops-"));
  const core = await openCore(readConfig({ SIDEBAND_DATA: folder, SIDEBAND_MASTER_KEY: MASTER_KEY }), {
    create: true,
  });
  const keyOf = async (account: string) => (await core.keys.create({ account, tier: "unlimited" })).key;
  const [looping, other] = [await keyOf("looping"), await keyOf("other")];
  await core.close();
  const load = fork(fileURLToPath(new URL("../http/load.ts", import.meta.url)));
  const server = await startServer(folder, {
    key: other,
    settings: { SIDEBAND_LOG_LEVEL: "error", SIDEBAND_RATE: "0" },
    ...(command === undefined ? {} : { command }),
  });
  try {
    const { port } = server;
    const url = `http://127.0.0.1:${port}`;
    const waitsOf: Record<string, () => Promise<number>> = {
      "/decode": () => decodeMs(url, other),
      "/mcp": () => recallMs(url, other),
    };
    for (const key of [looping, other]) await writeFact(url, key);
    const round = async () => {
      const medians: Record<string, number> = {};
      for (const [call, wait] of Object.entries(waitsOf)) {
        const waits: number[] = [];
        for (let i = 0; i < (small ? 5 : ASKS); i++) waits.push(await wait());
        medians[call] = median(waits);
      }
      return medians;
    };
    await round();
    await untilQuiet(server.process);
    const alone = await round();

    let [answers, seconds, isOver] = [0, 0, false];
    const loops = (async () => {
      while (!isOver) {
        const request = recallRequest(looping);
        const job: LoadJob = { port, connections: LOOPS, durationMs: SLICE_MS, request, from: 0 };
        const result = await ask<LoadResult>(load, job);
        if (result.others > 0) throw new Error(`${result.others} calls of the loops were refused`);
        answers += result.answers;
        seconds += result.seconds;
      }
    })();
    const beside = await round().finally(() => {
      isOver = true;
    });
    await loops;
    const waits = Object.keys(waitsOf).map((call) => {
      const [aloneMs, besideMs] = [alone[call], beside[call]];
      return { call, aloneMs, besideMs, ratio: besideMs / aloneMs };
    });
    return { waits, loopsPerSecond: answers / seconds };
  } finally {
    load.kill();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const RECALL = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "recall", arguments: { label: "USER.name" } },
};

function headersOf(key: string) {
  return {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
}

function recallRequest(key: string): string {
  const body = JSON.stringify(RECALL);
  const headers = Object.entries({ host: "127.0.0.1", ...headersOf(key), "content-length": body.length });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `POST /mcp?user_id=ada HTTP/1.1\r\n${lines}\r\n${body}`;
}

async function writeFact(url: string, key: string): Promise<void> {
  const body = JSON.stringify({ user_id: "ada", label: "USER.name", value: "Ada" });
  const answer = await fetch(`${url}/encode`, { method: "POST", headers: headersOf(key), body });
  if (answer.status !== 200) throw new Error(`/encode was answered ${answer.status}`);
}

function decodeMs(url: string, key: string): Promise<number> {
  const visit = () => fetch(`${url}/decode?user_id=ada&label=USER.name`, { headers: headersOf(key) });
  return timed(visit, /"value":"Ada"/);
}

function recallMs(url: string, key: string): Promise<number> {
  const body = JSON.stringify(RECALL);
  const visit = () => fetch(`${url}/mcp?user_id=ada`, { method: "POST", headers: headersOf(key), body });
  return timed(visit, /"value":"Ada"/);
}

async function timed(call: () => Promise<Response>, wanted: RegExp): Promise<number> {
  const startedMs = performance.now();
  const answer = await call();
  const text = await answer.text();
  const ms = performance.now() - startedMs;
  if (!wanted.test(text)) throw new Error(`a call was answered ${answer.status}: ${text}`);
  return ms;
}
