/**
 * Requests a second of the service as ratios to a bare Fastify route that returns a constant of the same size. Both are
 * measured in many short turns, and each turn is compared with the one beside it, so that the machine's speed cancels
 * out and other load hits both. Three services: with default settings, with a rate limit for each key, on PostgreSQL.
 */

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../median.ts";
import { PostgresServer } from "../store/postgres-server.ts";
import type { LoadJob, LoadResult } from "./load.ts";
import { ask, cpuSeconds, type RunningServer, startServer, untilQuiet } from "./running-server.ts";

export interface Ratio {
  readonly service: string;
  readonly operation: string;
  readonly perSecond: number;
  readonly barePerSecond: number;
  readonly ratio: number;
  /** The same by processor time instead of the clock, which other load on the machine does not distort. */
  readonly cpuRatio: number;
  /** What the ratio must be at least; absent where it is only reported. */
  readonly bar?: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Shot = LoadResult & { readonly cpuSeconds: number };

interface Target {
  readonly port: number;
  readonly process: ChildProcess;
}

interface Case {
  readonly operation: string;
  /** Bytes of an answer. */
  readonly size: number;
  readonly rounds: number;
  readonly bar: number;
  readonly request: string;
}

const CONNECTIONS = 64;
const WARM_ROUNDS = 4;
/** An encode with an Idempotency-Key, to one without. */
const KEYED_BAR = 0.9;
const UNREACHED_RATE = "1000000";

export async function measureRatios(load: ChildProcess, small: boolean): Promise<Ratio[]> {
  // It inherits the loader for TypeScript from this process (execArgv).
  const process = fork(fileURLToPath(new URL("./bare.ts", import.meta.url)));
  const postgres = await PostgresServer.start();
  const ratios: Ratio[] = [];
  try {
    const { port } = await ask<{ port: number }>(process, { sizes: [108, 4114, 87] });
    for (const [service, settings] of [
      ["default", {}],
      ["SIDEBAND_RATE", { SIDEBAND_RATE: UNREACHED_RATE }],
      ["PostgreSQL", { SIDEBAND_DATABASE_URL: await postgres.createDatabase("bench") }],
    ] as const) {
      const folder = mkdtempSync(join(tmpdir(), "sideband-bench-"));
      const server = await startServer(folder, { settings });
      try {
        const rows = await compare(server, { port, process }, load, small);
        ratios.push(...rows.map((row) => rowOf(service, row, rows)));
      } finally {
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    }
  } finally {
    process.kill();
    await postgres.remove();
  }
  return ratios;
}

/** On PostgreSQL nothing is enforced. The bar of an encode with a key is relative to the encode without. */
function rowOf(service: string, row: Omit<Ratio, "service">, rows: readonly Omit<Ratio, "service">[]): Ratio {
  const { bar, ...rest } = row;
  if (service === "PostgreSQL") return { service, ...rest };
  const plain = rows.find(({ operation }) => operation === "encode")!;
  return { service, ...rest, bar: row.operation === "encode, keyed" ? KEYED_BAR * plain.ratio : bar! };
}

function casesOf(key: string): Case[] {
  const head = (line: string) => headOf(line, key);
  const body = '{"user_id":"writer-#","label":"USER.name","value":"Ada #"}';
  const length = body.replaceAll("#", "123456789").length;
  const encode = (headers: string) =>
    `${head("POST /encode")}${headers}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
  const decode = `${head("GET /decode?user_id=ada&label=USER.name")}\r\n`;
  const context = `${head("GET /context?user_id=ada")}\r\n`;
  return [
    { operation: "decode", size: 108, rounds: 25, bar: 0.75, request: decode },
    { operation: "context", size: 4114, rounds: 25, bar: 0.8, request: context },
    { operation: "encode", size: 87, rounds: 11, bar: 0.6, request: encode("") },
    {
      operation: "encode, keyed",
      size: 87,
      rounds: 11,
      bar: 0,
      request: encode("Idempotency-Key: key-#\r\n"),
    },
  ];
}

async function compare(
  server: RunningServer,
  bare: Target,
  load: ChildProcess,
  small: boolean,
): Promise<Omit<Ratio, "service">[]> {
  const { port, key } = server;
  await fetch(`http://127.0.0.1:${port}/encode`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ user_id: "ada", label: "USER.name", value: "Ada Lovelace" }),
  });
  const durationMs = small ? 100 : 400;
  let from = 100_000_000;
  const shoot = async (target: Target, request: string) => {
    const cpuBefore = cpuSeconds(target.process);
    const job: LoadJob = { port: target.port, connections: CONNECTIONS, durationMs, request, from };
    const result = await ask<LoadResult>(load, job);
    from = result.next;
    if (result.others > 0) throw new Error(`${result.others} answers were not 200`);
    return { ...result, cpuSeconds: cpuSeconds(target.process) - cpuBefore };
  };
  const ratios: Omit<Ratio, "service">[] = [];
  for (const { operation, size, rounds, bar, request } of casesOf(key)) {
    // With the same headers, so that parsing them costs both the same.
    const bareRequest = `${headOf(`GET /bare/${size}`, key)}\r\n`;
    const own: Shot[] = [];
    const reference: Shot[] = [];
    for (let round = 0; round < (small ? 0 : WARM_ROUNDS); round++) {
      await shoot(bare, bareRequest);
      await shoot(server, request);
    }
    for (let round = 0; round < (small ? 1 : rounds); round++) {
      await untilQuiet(server.process, small);
      // A process that has been idle is slow at first: that must not flatter the service.
      await shoot(bare, bareRequest);
      reference.push(await shoot(bare, bareRequest));
      own.push(await shoot(server, request));
    }
    ratios.push({
      operation,
      perSecond: Math.round(median(own.map(rateOf))),
      barePerSecond: Math.round(median(reference.map(rateOf))),
      ratio: median(own.map((shot, turn) => rateOf(shot) / rateOf(reference[turn]))),
      cpuRatio: perCpuSecond(own) / perCpuSecond(reference),
      bar,
      p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(own.map(({ p99Ms }) => p99Ms)),
    });
  }
  return ratios;
}

function headOf(line: string, key: string): string {
  return `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
}

function rateOf({ answers, seconds }: Shot): number {
  return answers / seconds;
}

function perCpuSecond(shots: readonly Shot[]): number {
  const sum = (pick: (shot: Shot) => number) => shots.reduce((total, shot) => total + pick(shot), 0);
  const seconds = sum((shot) => shot.cpuSeconds);
  return sum(({ answers }) => answers) / Math.max(0.01, seconds);
}
