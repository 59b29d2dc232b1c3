/**
 * sideband bench http: the service as it is run (a process of its own, default settings, a data folder on disk)
 * under load from a second process, 64 connections. Each figure is a ratio to a bare Fastify route that returns
 * a constant of the same size, measured in turns in the same run: the machine's own speed drops out.
 */

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Growth, measureGrowth } from "./http/growth.ts";
import type { LoadJob, LoadResult } from "./http/load.ts";
import { ask, cpuSeconds, type RunningServer, residentBytes, startServer } from "./http/running-server.ts";

export interface HttpBenchOptions {
  readonly small: boolean;
  readonly json: boolean;
  /** How large the grown store is (a million unless told). */
  readonly facts?: number | undefined;
}

type Shot = LoadResult & { readonly cpuSeconds: number };

interface Figure {
  readonly name: string;
  readonly perSecond: number;
  readonly barePerSecond: number;
  readonly ratio: number;
  /** The same by processor time instead of the clock: what other work on the machine cannot distort. */
  readonly cpuRatio: number;
  readonly bar: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const CONNECTIONS = 64;
const BARS = { decode: 0.75, context: 0.5, encode: 0.35 } as const;
const START_BAR_MS = 1_000;
const GROWTH_BAR = 1.3;
const IDLE_BAR_BYTES = 150 * 2 ** 20;

export async function benchHttp(options: HttpBenchOptions): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-bench-"));
  const load = fork(beside("load"));
  const bare = fork(beside("bare"));
  let server: RunningServer | undefined;
  try {
    server = await startServer(folder);
    const idleBytes = residentBytes(server.process);
    const barePort = (await ask<{ port: number }>(bare, { sizes: [108, 4114, 87] })).port;
    const figures = await compare(server, { port: barePort, process: bare }, load, options.small);
    const grown = await measureGrowth(
      load,
      options.small ? 2_000 : (options.facts ?? 1_000_000),
      options.small,
    );
    const { startMs } = server;
    const passed =
      figures.every(({ ratio, bar }) => ratio >= bar) &&
      startMs <= START_BAR_MS &&
      idleBytes <= IDLE_BAR_BYTES &&
      Object.values(grown.ratios).every((ratio) => ratio <= GROWTH_BAR);
    if (options.json) console.log(JSON.stringify({ http: { figures, startMs, idleBytes, grown } }));
    else report(figures, startMs, idleBytes, grown);
    return options.small || passed;
  } finally {
    load.kill();
    bare.kill();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(
  server: RunningServer,
  bare: { port: number; process: ChildProcess },
  load: ChildProcess,
  small: boolean,
): Promise<Figure[]> {
  const { port, key } = server;
  const head = (line: string) => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
  const body = '{"user_id":"writer-#","label":"USER.name","value":"Ada #"}';
  const post = body.replaceAll("#", "123456789").length;
  await fetch(`http://127.0.0.1:${port}/encode`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ user_id: "ada", label: "USER.name", value: "Ada Lovelace" }),
  });
  const cases = [
    { name: "decode", size: 108, request: `${head("GET /decode?user_id=ada&label=USER.name")}\r\n` },
    { name: "context", size: 4114, request: `${head("GET /context?user_id=ada")}\r\n` },
    {
      name: "encode",
      size: 87,
      request: `${head("POST /encode")}Content-Type: application/json\r\nContent-Length: ${post}\r\n\r\n${body}`,
    },
  ] as const;
  const durationMs = small ? 300 : 2_000;
  const rounds = small ? 1 : 5;
  let from = 100_000_000;
  const shoot = async (target: { port: number; process: ChildProcess }, request: string) => {
    const cpuBefore = cpuSeconds(target.process);
    const job: LoadJob = { port: target.port, connections: CONNECTIONS, durationMs, request, from };
    const result = await ask<LoadResult>(load, job);
    from = result.next;
    if (result.others > 0) throw new Error(`${result.others} answers were not 200`);
    return { ...result, cpuSeconds: cpuSeconds(target.process) - cpuBefore };
  };
  const figures: Figure[] = [];
  for (const { name, size, request } of cases) {
    const bareRequest = `GET /bare/${size} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    await shoot(server, request);
    await shoot(bare, bareRequest);
    const turns: { own: Shot; bare: Shot }[] = [];
    for (let round = 0; round < rounds; round++) {
      turns.push({ bare: await shoot(bare, bareRequest), own: await shoot(server, request) });
    }
    const rate = ({ answers, seconds }: Shot) => answers / seconds;
    const perCpu = (shot: Shot) => shot.answers / Math.max(0.01, shot.cpuSeconds);
    const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
    const own = turns[turns.length - 1].own;
    figures.push({
      name,
      perSecond: Math.round(turns.reduce((sum, turn) => sum + rate(turn.own), 0) / rounds),
      barePerSecond: Math.round(turns.reduce((sum, turn) => sum + rate(turn.bare), 0) / rounds),
      ratio: median(turns.map((turn) => rate(turn.own) / rate(turn.bare))),
      cpuRatio: median(turns.map((turn) => perCpu(turn.own) / perCpu(turn.bare))),
      bar: BARS[name],
      p50Ms: own.p50Ms,
      p99Ms: own.p99Ms,
    });
  }
  return figures;
}

function report(figures: readonly Figure[], startMs: number, idleBytes: number, grown: Growth): void {
  console.log("http: 64 connections, ratio to a bare Fastify route with an answer of the same size");
  for (const { name, perSecond, barePerSecond, ratio, cpuRatio, bar, p50Ms, p99Ms } of figures) {
    const verdict = ratio >= bar ? "ok" : "MISSED";
    console.log(
      `  ${name.padEnd(8)} ${String(perSecond).padStart(7)}/s  bare ${String(barePerSecond).padStart(7)}/s  ratio ${ratio.toFixed(2)} (bar ${bar}) ${verdict}, by processor time ${cpuRatio.toFixed(2)}  p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
    );
  }
  console.log(`  start to first answer ${Math.round(startMs)} ms (bar ${START_BAR_MS})`);
  console.log(`  idle memory ${(idleBytes / 2 ** 20).toFixed(0)} MiB (bar ${IDLE_BAR_BYTES / 2 ** 20})`);
  const { facts, fewFacts, ratios, residentBytes: resident, fileBytes } = grown;
  const list = Object.entries(ratios).map(([name, ratio]) => `${name} ${ratio.toFixed(2)}`);
  console.log(
    `  median latency at ${facts} facts to that at ${fewFacts}: ${list.join(", ")} (bar ${GROWTH_BAR})`,
  );
  console.log(
    `  memory at ${facts} facts ${(resident / 2 ** 20).toFixed(0)} MiB, data file ${(fileBytes / 2 ** 20).toFixed(0)} MiB`,
  );
}

function beside(name: string): string {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf("."));
  return fileURLToPath(new URL(`./http/${name}${extension}`, import.meta.url));
}
