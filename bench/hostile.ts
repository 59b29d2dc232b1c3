/**
 * The service under hostile hands: the built service in a process of its own, a second process that attacks it, and here
 * a client of another account that asks for its facts, again and again. Each attack (hostile/rows.ts) has a service of its
 * own. What counts is how long the other client waits beside the attack, and how much memory the service takes.
 */

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readConfig } from "../src/config.ts";
import { openCore } from "../src/main/core.ts";
import type { AttackResult } from "./hostile/attacker.ts";
import { benchMcpLoops } from "./hostile/mcp-loops.ts";
import { ACCOUNT, type HostileRow, ROWS } from "./hostile/rows.ts";
import { ask, MASTER_KEY, memoryOf, startServer, untilQuiet } from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

interface Figures {
  readonly attack: string;
  readonly quietMs: number;
  readonly medianMs: number;
  readonly ratio: number;
  readonly worstMs: number;
  /** Of the other client's requests. */
  readonly refused: number;
  readonly residentBytes: number;
  readonly statuses: Readonly<Record<string, number>>;
}

const WAIT_BAR_MS = 250;
const MEMORY_BAR_BYTES = 400 * 2 ** 20;
const ASK_INTERVAL_MS = 20;
const QUIET_ASKS = 50;
/** After the attack: what is still worked on then delays others, too. */
const AFTER_MS = 1_000;
const MIB = 2 ** 20;

export async function benchHostile(options: BenchOptions): Promise<boolean> {
  const rows: Figures[] = [];
  let passed = true;
  if (!options.json)
    console.log(
      `hostile: the wait of another client (bar: ${WAIT_BAR_MS} ms at worst) and the memory (bar ${MEMORY_BAR_BYTES / MIB} MiB) in each attack`,
    );
  // It inherits the loader for TypeScript from this process (execArgv).
  const attacker = fork(fileURLToPath(new URL("./hostile/attacker.ts", import.meta.url)));
  for (const row of ROWS) {
    const figures = await measure(row, attacker, options.small);
    rows.push(figures);
    const isMet = figures.worstMs <= WAIT_BAR_MS && figures.residentBytes <= MEMORY_BAR_BYTES;
    passed &&= isMet || row.reportOnly === true;
    if (!options.json) console.log(`  ${lineOf(figures)} ${row.reportOnly ? "" : isMet ? "ok" : "MISSED"}`);
  }
  attacker.kill();
  const loops = await benchMcpLoops(options);
  if (options.json) console.log(JSON.stringify({ hostile: rows, mcpLoops: loops.figures }));
  return options.small || (passed && loops.isMet);
}

function lineOf({
  attack,
  quietMs,
  medianMs,
  ratio,
  worstMs,
  refused,
  residentBytes,
  statuses,
}: Figures): string {
  const wait = `quiet ${quietMs.toFixed(1)} ms, under attack ${medianMs.toFixed(1)} ms, ratio ${ratio.toFixed(1)}, worst ${worstMs.toFixed(0)} ms`;
  return `${attack.padEnd(31)} ${wait}, refused ${refused}, memory ${Math.round(residentBytes / MIB)} MiB, attacker's answers ${JSON.stringify(statuses)}`;
}

async function measure(row: HostileRow, attacker: ChildProcess, small: boolean): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-hostile-"));
  const core = await openCore(readConfig({ SIDEBAND_DATA: folder, SIDEBAND_MASTER_KEY: MASTER_KEY }), {
    create: true,
  });
  const keyOf = async (account: string) => (await core.keys.create({ account, tier: "unlimited" })).key;
  const [key, other] = [await keyOf(ACCOUNT), await keyOf("other")];
  await row.fill?.(core, small);
  await core.close();
  const server = await startServer(folder, { key: other, settings: { SIDEBAND_LOG_LEVEL: "error" } });
  const agent = new Agent({ keepAlive: true });
  try {
    const { port } = server;
    await untilQuiet(server.process, small);
    const visitor = { port, agent, headers: { authorization: `Bearer ${other}` } };
    const quiet: number[] = [];
    for (let i = 0; i < (small ? 5 : QUIET_ASKS); i++) quiet.push((await visit(visitor)).ms);
    const watched = watch(server.process, visitor);
    const { statuses } = await ask<AttackResult>(attacker, { port, ...row.attack(key, small) });
    await sleep(small ? 100 : AFTER_MS);
    const { waits, refused, residentBytes } = await watched.end();
    const [quietMs, medianMs] = [median(quiet), median(waits)];
    return {
      attack: row.name,
      quietMs,
      medianMs,
      ratio: medianMs / quietMs,
      worstMs: Math.max(...waits),
      refused,
      residentBytes,
      statuses,
    };
  } finally {
    agent.destroy();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Visitor {
  readonly port: number;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks and looks at the memory until it is ended. */
function watch(service: ChildProcess, visitor: Visitor) {
  const waits: number[] = [];
  let refused = 0;
  let residentBytes = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const { ms, status } = await visit(visitor);
      waits.push(ms);
      if (status !== 200) refused += 1;
      await sleep(ASK_INTERVAL_MS);
    }
  })();
  const looking = setInterval(() => {
    residentBytes = Math.max(residentBytes, memoryOf(service).residentBytes);
  }, ASK_INTERVAL_MS);
  return {
    async end() {
      isOver = true;
      await asking.finally(() => clearInterval(looking));
      return { waits, refused, residentBytes };
    },
  };
}

function visit({ port, agent, headers }: Visitor): Promise<{ ms: number; status: number | undefined }> {
  const startedMs = performance.now();
  const options = { port, host: "127.0.0.1", path: "/facts?user_id=ada", agent, headers };
  return new Promise((resolve, reject) => {
    get(options, (answer) => {
      answer
        .resume()
        .once("end", () => resolve({ ms: performance.now() - startedMs, status: answer.statusCode }));
    }).once("error", reject);
  });
}
