/**
 * The HTTP benchmark: the service as it is run (a process of its own, default settings, a data folder on disk)
 * under load from a second process, 64 connections. Each figure is a ratio to a bare Fastify route that returns
 * a constant of the same size. Both are measured in the same run in many short turns, and each turn is compared with
 * the one beside it, so that the machine's speed cancels out and other load hits both. Nothing is timed while the
 * service still works in the background, as it does for some seconds after a turn of encodes.
 */

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Growth, measureGrowth } from "./http/growth.ts";
import type { LoadJob, LoadResult } from "./http/load.ts";
import { measureNeighbour, type Neighbour } from "./http/neighbour.ts";
import {
  ask,
  cpuSeconds,
  type MemoryUse,
  memoryOf,
  type RunningServer,
  startServer,
  untilQuiet,
} from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

type Shot = LoadResult & { readonly cpuSeconds: number };

interface Figure {
  readonly name: string;
  readonly perSecond: number;
  readonly barePerSecond: number;
  readonly ratio: number;
  /** The same by processor time instead of the clock, which other load on the machine does not distort. */
  readonly cpuRatio: number;
  readonly bar: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Results {
  readonly figures: readonly Figure[];
  readonly startMs: number;
  readonly idle: MemoryUse;
  readonly neighbour: Neighbour;
  readonly grown: Growth;
}

const CONNECTIONS = 64;
const WARM_ROUNDS = 4;
const BARS = { decode: 0.75, context: 0.5, encode: 0.35 } as const;
const START_BAR_MS = 1_000;
const GROWTH_BAR = 1.3;
const IDLE_BAR_BYTES = 150 * 2 ** 20;
/** Applies where the grown store has a million facts. */
const GROWN_BAR_BYTES = 400 * 2 ** 20;
const GROWN_BAR_FACTS = 1_000_000;
const STARTS = 5;
/** A stranger's first context beside a heavy neighbour, as a ratio to the median alone: its median and its worst. */
const NEIGHBOUR_BAR = 4;
const NEIGHBOUR_WORST_BAR = 10;

export async function benchHttp(options: BenchOptions): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-bench-"));
  // They inherit the loader for TypeScript from this process (execArgv).
  const load = fork(fileURLToPath(new URL("./http/load.ts", import.meta.url)));
  const bare = fork(fileURLToPath(new URL("./http/bare.ts", import.meta.url)));
  let server: RunningServer | undefined;
  try {
    const startMs = await measureStart(options.small ? 1 : STARTS);
    server = await startServer(folder);
    await untilQuiet(server.process);
    const idle = memoryOf(server.process);
    const barePort = (await ask<{ port: number }>(bare, { sizes: [108, 4114, 87] })).port;
    const figures = await compare(server, { port: barePort, process: bare }, load, options.small);
    const neighbour = await measureNeighbour(load, options.small);
    const facts = options.small ? 2_000 : (options.facts ?? 1_000_000);
    const grown = await measureGrowth(load, facts, options.small);
    const passed =
      figures.every(({ ratio, bar }) => ratio >= bar) &&
      neighbour.medianRatio <= NEIGHBOUR_BAR &&
      neighbour.worstRatio <= NEIGHBOUR_WORST_BAR &&
      startMs <= START_BAR_MS &&
      idle.residentBytes <= IDLE_BAR_BYTES &&
      // At a rate that both can take: at full speed a request waits for others, and latency is throughput.
      Object.values(grown.gentle).every(({ ratio }) => ratio <= GROWTH_BAR) &&
      (facts > GROWN_BAR_FACTS || grown.memory.residentBytes <= GROWN_BAR_BYTES);
    if (options.json) console.log(JSON.stringify({ http: { figures, startMs, idle, neighbour, grown } }));
    else report({ figures, startMs, idle, neighbour, grown });
    return options.small || passed;
  } finally {
    load.kill();
    bare.kill();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The median of several first starts, each on an empty data folder. */
async function measureStart(starts: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < starts; i++) {
    const folder = mkdtempSync(join(tmpdir(), "sideband-start-"));
    const server = await startServer(folder);
    times.push(server.startMs);
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return median(times);
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
    {
      name: "decode",
      size: 108,
      rounds: 25,
      request: `${head("GET /decode?user_id=ada&label=USER.name")}\r\n`,
    },
    { name: "context", size: 4114, rounds: 25, request: `${head("GET /context?user_id=ada")}\r\n` },
    {
      name: "encode",
      size: 87,
      rounds: 11,
      request: `${head("POST /encode")}Content-Type: application/json\r\nContent-Length: ${post}\r\n\r\n${body}`,
    },
  ] as const;
  const durationMs = small ? 200 : 400;
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
  for (const { name, size, rounds, request } of cases) {
    // With the same headers, so that parsing them costs both the same.
    const bareRequest = `${head(`GET /bare/${size}`)}\r\n`;
    const own: Shot[] = [];
    const reference: Shot[] = [];
    for (let round = 0; round < WARM_ROUNDS; round++) {
      await shoot(bare, bareRequest);
      await shoot(server, request);
    }
    for (let round = 0; round < (small ? 1 : rounds); round++) {
      await untilQuiet(server.process);
      // A process that has been idle is slow at first: that must not flatter the service.
      await shoot(bare, bareRequest);
      reference.push(await shoot(bare, bareRequest));
      own.push(await shoot(server, request));
    }
    const ratio = median(own.map((shot, turn) => rateOf(shot) / rateOf(reference[turn])));
    figures.push(figureOf(name, own, reference, ratio));
  }
  return figures;
}

function rateOf({ answers, seconds }: Shot): number {
  return answers / seconds;
}

function figureOf(
  name: keyof typeof BARS,
  own: readonly Shot[],
  bare: readonly Shot[],
  ratio: number,
): Figure {
  const perCpu = (shots: readonly Shot[]) => {
    const sum = (pick: (shot: Shot) => number) => shots.reduce((total, shot) => total + pick(shot), 0);
    return (
      sum(({ answers }) => answers) /
      Math.max(
        0.01,
        sum((shot) => shot.cpuSeconds),
      )
    );
  };
  return {
    name,
    perSecond: Math.round(median(own.map(rateOf))),
    barePerSecond: Math.round(median(bare.map(rateOf))),
    ratio,
    cpuRatio: perCpu(own) / perCpu(bare),
    bar: BARS[name],
    p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(own.map(({ p99Ms }) => p99Ms)),
  };
}

function report({ figures, startMs, idle, neighbour, grown }: Results): void {
  console.log("http: 64 connections, ratio to a bare Fastify route with an answer of the same size");
  for (const { name, perSecond, barePerSecond, ratio, cpuRatio, bar, p50Ms, p99Ms } of figures) {
    const verdict = ratio >= bar ? "ok" : "MISSED";
    console.log(
      `  ${name.padEnd(8)} ${String(perSecond).padStart(7)}/s  bare ${String(barePerSecond).padStart(7)}/s  ratio ${ratio.toFixed(2)} (bar ${bar}) ${verdict}, by processor time ${cpuRatio.toFixed(2)}  p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
    );
  }
  console.log(`  start to first answer ${Math.round(startMs)} ms (bar ${START_BAR_MS})`);
  console.log(`  idle memory ${memoryText(idle)} (bar ${mebibytes(IDLE_BAR_BYTES)})`);
  const { aloneMs, besideMs, worstMs, medianRatio, worstRatio, batches } = neighbour;
  console.log(
    `  first context beside a heavy neighbour (${batches} batches): median ${besideMs.toFixed(0)} to ${aloneMs.toFixed(0)} ms alone, ratio ${medianRatio.toFixed(1)} (bar ${NEIGHBOUR_BAR}); worst ${worstMs.toFixed(0)} ms, ratio ${worstRatio.toFixed(1)} (bar ${NEIGHBOUR_WORST_BAR})`,
  );
  const { facts, fewFacts, gentle, saturated, memory, fileBytes, fillSeconds } = grown;
  console.log(
    `  ${facts} facts stored in ${fillSeconds.toFixed(0)} s, data file ${mebibytes(fileBytes)}; median latency to that at ${fewFacts} facts (bar ${GROWTH_BAR} at a steady rate):`,
  );
  for (const [how, latencies] of Object.entries({ gentle, saturated })) {
    const list = Object.entries(latencies).map(
      ([name, { fewMs, manyMs, ratio }]) =>
        `${name} ${ratio.toFixed(2)} (${manyMs.toFixed(2)} to ${fewMs.toFixed(2)} ms)`,
    );
    console.log(`    ${how}: ${list.join(", ")}`);
  }
  const bar = facts === GROWN_BAR_FACTS ? ` (bar ${mebibytes(GROWN_BAR_BYTES)})` : "";
  console.log(`  memory at ${facts} facts ${memoryText(memory)}${bar}`);
}

function memoryText({ residentBytes, privateBytes }: MemoryUse): string {
  return `${mebibytes(residentBytes)} resident, of these ${mebibytes(privateBytes)} private`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
