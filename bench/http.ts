/**
 * The HTTP benchmark: the service as it is run (a process of its own, a data folder on disk) under load from a second
 * process: throughput beside a bare route (http/ratios.ts), the start, memory, a heavy neighbour, and growth. Nothing is
 * timed while the service still works in the background, as it does for some seconds after a turn of encodes.
 */

import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Growth, measureGrowth } from "./http/growth.ts";
import { measureNeighbour, type Neighbour } from "./http/neighbour.ts";
import { measureRatios, type Ratio } from "./http/ratios.ts";
import {
  type MemoryUse,
  memoryOf,
  type RunningServer,
  startServer,
  untilQuiet,
} from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

interface Results {
  readonly ratios: readonly Ratio[];
  readonly startMs: number;
  readonly idle: MemoryUse;
  readonly neighbour: Neighbour;
  readonly grown: Growth;
}

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
  // It inherits the loader for TypeScript from this process (execArgv).
  const load = fork(fileURLToPath(new URL("./http/load.ts", import.meta.url)));
  let server: RunningServer | undefined;
  try {
    const startMs = await measureStart(options.small ? 1 : STARTS);
    server = await startServer(folder);
    await untilQuiet(server.process, options.small);
    const idle = memoryOf(server.process);
    const ratios = await measureRatios(load, options.small);
    const neighbour = await measureNeighbour(load, options.small);
    const facts = options.small ? 2_000 : (options.facts ?? 1_000_000);
    const grown = await measureGrowth(load, facts, options.small);
    const passed =
      ratios.every(isMet) &&
      neighbour.medianRatio <= NEIGHBOUR_BAR &&
      neighbour.worstRatio <= NEIGHBOUR_WORST_BAR &&
      startMs <= START_BAR_MS &&
      idle.residentBytes <= IDLE_BAR_BYTES &&
      // At a rate that both can take: at full speed a request waits for others, and latency is throughput.
      Object.values(grown.gentle).every(({ ratio }) => ratio <= GROWTH_BAR) &&
      (facts > GROWN_BAR_FACTS || grown.memory.residentBytes <= GROWN_BAR_BYTES);
    if (options.json) console.log(JSON.stringify({ http: { ratios, startMs, idle, neighbour, grown } }));
    else report({ ratios, startMs, idle, neighbour, grown });
    return options.small || passed;
  } finally {
    load.kill();
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

function report({ ratios, startMs, idle, neighbour, grown }: Results): void {
  console.log("http: 64 connections, ratio to a bare Fastify route with an answer of the same size");
  for (const row of ratios) {
    const { service, operation, perSecond, barePerSecond, ratio, cpuRatio, bar, p50Ms, p99Ms } = row;
    const verdict = bar === undefined ? "" : ` (bar ${bar.toFixed(2)}) ${isMet(row) ? "ok" : "MISSED"}`;
    console.log(
      `  ${service.padEnd(13)} ${operation.padEnd(13)} ${String(perSecond).padStart(7)}/s  bare ${String(barePerSecond).padStart(7)}/s  ratio ${ratio.toFixed(2)}${verdict}, by processor time ${cpuRatio.toFixed(2)}  p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
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

function isMet({ ratio, bar = 0 }: Ratio): boolean {
  return ratio >= bar;
}

function memoryText({ residentBytes, privateBytes }: MemoryUse): string {
  return `${mebibytes(residentBytes)} resident, of these ${mebibytes(privateBytes)} private`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
