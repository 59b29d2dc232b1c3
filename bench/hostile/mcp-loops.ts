/**
 * What 50 clients of /mcp that ask in a loop, all of one account, cost another account: its calls of /decode and of /mcp,
 * one after the other, alone and beside the loops. What counts is the median wait beside them, as a ratio to that alone.
 * With another commit, its figures come first.
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
import type { BenchOptions } from "../options.ts";

/** The waits of another account for one kind of call. */
interface LoopWaits {
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

/** Milliseconds of each call. */
type Waits = Record<string, number[]>;

const RATIO_BAR = 3;
const LOOPS = 50;
const ROUNDS = 10;
const ASKS = 25;
const SLICE_MS = 500;

/** Prints a line for each commit, unless the figures are wanted as JSON. */
export async function benchMcpLoops({ small, json, before }: BenchOptions) {
  const figures: Record<string, McpLoops> = {};
  if (before !== undefined) figures.before = await measureMcpLoops(small, join(before, "bin", "sideband.js"));
  figures.now = await measureMcpLoops(small);
  const isMet = figures.now.waits.every(({ ratio }) => ratio <= RATIO_BAR);
  for (const [name, { waits, loopsPerSecond }] of json ? [] : Object.entries(figures)) {
    const texts = waits.map(
      ({ call, aloneMs, besideMs, ratio }) =>
        `${call} ${besideMs.toFixed(1)} ms (alone ${aloneMs.toFixed(1)} ms), ratio ${ratio.toFixed(1)}`,
    );
    const verdict = name === "before" ? "" : isMet ? " ok" : " MISSED";
    const title = name === "before" ? "/mcp loops, before" : "/mcp loops";
    console.log(
      `  ${title.padEnd(29)} ${texts.join(", ")} (bar ${RATIO_BAR}), ${loopsPerSecond.toFixed(0)} loops/s${verdict}`,
    );
  }
  return { figures, isMet };
}

/** @param command the `sideband` of another folder */
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
    const alone: Waits = { "/decode": [], "/mcp": [] };
    const beside: Waits = { "/decode": [], "/mcp": [] };
    const visit = async (waits: Waits) => {
      for (let i = 0; i < (small ? 2 : ASKS); i++)
        for (const [call, wait] of Object.entries(waitsOf)) waits[call].push(await wait());
    };
    await visit({ "/decode": [], "/mcp": [] });
    await untilQuiet(server.process, small);
    // In turn, so that whatever else the machine does weighs on both.
    let [answers, seconds] = [0, 0];
    for (let round = 0; round < (small ? 1 : ROUNDS); round++) {
      await visit(alone);
      let isOver = false;
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
      await visit(beside).finally(() => {
        isOver = true;
      });
      await loops;
    }
    const waits = Object.keys(waitsOf).map((call) => {
      const [aloneMs, besideMs] = [median(alone[call]), median(beside[call])];
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
