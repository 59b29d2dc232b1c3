/**
 * The service under hostile hands: the built service in a process of its own, a second process that attacks it, and here
 * another client that asks for little, again and again. Each attack has a service of its own. What counts is how long
 * the other client waits at worst, and how much memory the service takes.
 */

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Attack, AttackResult } from "./hostile/attacker.ts";
import { addLabels, hintRequest } from "./hostile/hints.ts";
import { ask, memoryOf, startServer, untilQuiet } from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

interface Row {
  readonly attack: string;
  readonly aloneMs: number;
  readonly medianMs: number;
  readonly worstMs: number;
  readonly residentBytes: number;
  readonly statuses: Readonly<Record<string, number>>;
}

const WAIT_BAR_MS = 250;
const MEMORY_BAR_BYTES = 400 * 2 ** 20;
const ASK_INTERVAL_MS = 20;
const ALONE_ASKS = 50;
/** After the attack: what is still worked on then delays others, too. */
const AFTER_MS = 1_000;
const MIB = 2 ** 20;

type Shape = Pick<Attack, "connections" | "times" | "request" | "addresses" | "holdMs"> & {
  /** What must be there before the attack begins. */
  readonly prepare?: (port: number, key: string) => Promise<void>;
};

function attacksOf(key: string, small: boolean): Readonly<Record<string, Shape>> {
  const part = small ? 10 : 1;
  const holdMs = small ? 500 : 5_000;
  const head = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}`;
  const keyed = `Authorization: Bearer ${key}\r\n`;
  const bodyOf = (rest: string) => `{"user_id":"x","block":"${"x".repeat(MIB - 100 - rest.length)}"${rest}}`;
  const whole = (path: string, more: string, rest = "") => {
    const body = bodyOf(rest);
    return `${head(path, more)}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  // Values that nobody asked for, as many as a body may have.
  const junk = `,"junk":[${"[],".repeat(4_900)}1]`;
  const inBytes = [...bodyOf("").slice(0, MIB / 4)].map((byte) => `1\r\n${byte}\r\n`).join("");
  const bytewise = `${head("/read", keyed)}Transfer-Encoding: chunked\r\n\r\n${inBytes}`;
  const tiny = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  const one = { times: 1, addresses: 1, holdMs };
  return {
    "bodies of 1 MiB": { ...one, connections: 500 / part, request: whole("/read", keyed) },
    "bodies of 1 MiB, pipelined": {
      ...one,
      connections: 64,
      times: 20 / part,
      request: whole("/read", keyed),
    },
    "bodies full of values": { ...one, connections: 500 / part, request: whole("/read", keyed, junk) },
    "bodies byte by byte": { ...one, connections: 100 / part, request: bytewise },
    "demo bodies, 20 addresses": {
      ...one,
      connections: 500 / part,
      addresses: 20,
      request: whole("/demo/read", ""),
    },
    "50 × 1,900 requests": { ...one, connections: 50, times: 1_900 / part, request: tiny },
    "50 × 1,900 requests, hung up": {
      ...one,
      connections: 50,
      times: 1_900 / part,
      request: tiny,
      holdMs: 200,
    },
    "500 × 10,000 short requests": {
      ...one,
      connections: 500 / part,
      times: 10_000 / part,
      request: "GET / HTTP/1.1\r\n\r\n",
    },
    hints: { ...one, connections: 4, times: 500 / part, request: hintRequest(key), prepare: addLabels },
  };
}

export async function benchHostile(options: BenchOptions): Promise<boolean> {
  const rows: Row[] = [];
  for (const attack of Object.keys(attacksOf("", true))) rows.push(await measure(attack, options.small));
  const isMet = ({ worstMs, residentBytes }: Row) =>
    worstMs <= WAIT_BAR_MS && residentBytes <= MEMORY_BAR_BYTES;
  if (options.json) console.log(JSON.stringify({ hostile: rows }));
  else {
    console.log(
      `hostile: the wait of another client (bar ${WAIT_BAR_MS} ms) and the memory (bar ${MEMORY_BAR_BYTES / MIB} MiB) in each attack`,
    );
    for (const row of rows) {
      const { attack, aloneMs, medianMs, worstMs, residentBytes, statuses } = row;
      console.log(
        `  ${attack.padEnd(29)} wait ${medianMs.toFixed(1)} ms, worst ${worstMs.toFixed(0)} ms (alone ${aloneMs.toFixed(1)} ms), memory ${Math.round(residentBytes / MIB)} MiB ${isMet(row) ? "ok" : "MISSED"}  ${JSON.stringify(statuses)}`,
      );
    }
  }
  return options.small || rows.every(isMet);
}

async function measure(attack: string, small: boolean): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-hostile-"));
  // It inherits the loader for TypeScript from this process (execArgv).
  const attacker = fork(fileURLToPath(new URL("./hostile/attacker.ts", import.meta.url)));
  const server = await startServer(folder, { settings: { SIDEBAND_LOG_LEVEL: "error" } });
  const agent = new Agent({ keepAlive: true });
  try {
    const { port, key } = server;
    const { prepare, ...shape } = attacksOf(key, small)[attack];
    await prepare?.(port, key);
    await untilQuiet(server.process);
    const alone: number[] = [];
    for (let i = 0; i < (small ? 5 : ALONE_ASKS); i++) alone.push(await waitMs(port, agent));
    const watched = watch(server.process, port, agent);
    const { statuses } = await ask<AttackResult>(attacker, { port, ...shape });
    await sleep(small ? 100 : AFTER_MS);
    const { waits, residentBytes } = await watched.end();
    return {
      attack,
      aloneMs: median(alone),
      medianMs: median(waits),
      worstMs: Math.max(...waits),
      residentBytes,
      statuses,
    };
  } finally {
    agent.destroy();
    attacker.kill();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asks and looks at the memory until it is ended. */
function watch(service: ChildProcess, port: number, agent: Agent) {
  const waits: number[] = [];
  let residentBytes = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      waits.push(await waitMs(port, agent));
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
      return { waits, residentBytes };
    },
  };
}

function waitMs(port: number, agent: Agent): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path: "/healthz", agent }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`/healthz was answered ${answer.statusCode}`));
      answer.resume().once("end", () => resolve(performance.now() - startedMs));
    }).once("error", reject);
  });
}
