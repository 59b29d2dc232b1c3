/**
 * The way of a request through the dispatcher beside that through Fastify (docs/decisions/0016): the same key check,
 * schema and JSON answer, each in a process of its own, in turns. Nothing is enforced.
 */

import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Side } from "./http/fastify-side.ts";
import type { LoadJob, LoadResult } from "./http/load.ts";
import { ask, cpuSeconds } from "./http/running-server.ts";
import type { BenchOptions } from "./options.ts";

const SIDES: readonly Side[] = ["dispatcher", "Fastify", "Fastify with metrics and headers"];
const ROUNDS = 15;
const BODY = '{"user_id":"ada","access":"read","ttl_s":600}';
const REQUESTS = {
  "GET with a query": "GET /decode?user_id=ada&label=USER.name HTTP/1.1\r\n",
  "POST with a JSON body": `POST /tokens HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n`,
};

export async function benchFastify({ small, json }: BenchOptions): Promise<boolean> {
  const folders = SIDES.map(() => mkdtempSync(join(tmpdir(), "sideband-fastify-")));
  // They inherit the loader for TypeScript from this process (execArgv).
  const start = (file: string) => fork(fileURLToPath(new URL(`./http/${file}.ts`, import.meta.url)));
  const load = start("load");
  const sides = SIDES.map(() => start("fastify-side"));
  try {
    const ready = await Promise.all(
      SIDES.map((side, i) => ask<{ port: number; key: string }>(sides[i], { side, folder: folders[i] })),
    );
    /** Processor seconds of a request. */
    const shoot = async (i: number, line: string): Promise<number> => {
      const { port, key } = ready[i];
      const head = `${line}Host: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      const request = line.startsWith("POST") ? head + BODY : head;
      const before = cpuSeconds(sides[i]);
      const job: LoadJob = { port, connections: 32, durationMs: small ? 100 : 600, request, from: 0 };
      const { answers, others } = await ask<LoadResult>(load, job);
      if (others > 0) throw new Error(`${others} answers of ${SIDES[i]} were not 200`);
      return (cpuSeconds(sides[i]) - before) / answers;
    };
    const rows: { request: string; side: Side; smallest: number; median: number; largest: number }[] = [];
    for (const [request, line] of Object.entries(REQUESTS)) {
      const costs: number[][] = [];
      for (let round = small ? 1 : -2; round < (small ? 2 : ROUNDS); round++) {
        const cost: number[] = [];
        for (const i of SIDES.keys()) cost.push(await shoot(i, line));
        if (round >= 0) costs.push(cost);
      }
      for (const i of [1, 2]) {
        const ratios = costs.map((cost) => cost[i] / cost[0]).sort((a, b) => a - b);
        const [smallest, median] = [ratios[0], ratios[ratios.length >> 1]];
        rows.push({ request, side: SIDES[i], smallest, median, largest: ratios[ratios.length - 1] });
      }
    }
    if (json) console.log(JSON.stringify({ fastify: rows }));
    else report(rows);
    return true;
  } finally {
    for (const child of [load, ...sides]) child.kill();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

function report(
  rows: readonly { request: string; side: Side; smallest: number; median: number; largest: number }[],
): void {
  console.log(
    "fastify: processor time of a request, to that of the dispatcher; smallest, median and largest of the rounds",
  );
  for (const { request, side, smallest, median, largest } of rows)
    console.log(
      `  ${request.padEnd(22)} ${side.padEnd(34)} ${[smallest, median, largest].map((r) => r.toFixed(2)).join(" · ")}`,
    );
}
