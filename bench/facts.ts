/**
 * What a fact costs, with 12 ordinary facts a user: bytes on disk, processor time of the service and of the database, and
 * memory, on both stores; what 100 encodes cost beyond their requests where nobody asks for blocks; and how long a user's
 * first block takes after they were written, while another client writes. The service is the built one.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LABELS } from "../src/base/channel-labels.ts";
import { seededRandom } from "../src/base/random.ts";
import { cpuSeconds, MASTER_KEY, memoryOf, type RunningServer, startServer } from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";
import { PostgresServer } from "./store/postgres-server.ts";

interface FactCost {
  readonly store: string;
  readonly facts: number;
  readonly diskBytes: number;
  readonly serviceMs: number;
  readonly databaseMs: number;
  readonly memoryBytes: number;
  /** Processor time in the seconds after 100 encodes. */
  readonly beyondS: number;
  /** The processor time of an idle service in as many seconds. */
  readonly idleS: number;
  /** `work`: the time of its tasks in the threads for block work, on the average. */
  readonly firstBlockMs: { readonly median: number; readonly most: number; readonly work: number };
}

const FACTS_OF_USER = 12;
const WRITERS = 32;
/** Longer than coding in the background waits for a pause in writes. */
const AFTER_MS = 3_000;
const BEYOND_BAR_S = 0.1;
const FIRST_BLOCK_BAR_MS = 60;

const VALUES = readFileSync(new URL("./codec/ordinary-facts.tsv", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split("\t")[1]);

export async function benchFacts(options: BenchOptions): Promise<boolean> {
  const users = options.small ? 8 : Math.ceil((options.facts ?? 60_000) / FACTS_OF_USER);
  const costs: FactCost[] = [];
  for (const store of ["LMDB", "PostgreSQL"] as const) {
    const cost = await measure(store, users, options);
    costs.push(cost);
    if (!options.json) console.log(lineOf(cost));
  }
  if (options.json) console.log(JSON.stringify({ facts: costs }));
  const holds = ({ beyondS, idleS, firstBlockMs }: FactCost) =>
    beyondS - idleS <= BEYOND_BAR_S && firstBlockMs.median <= FIRST_BLOCK_BAR_MS;
  return options.small || costs.every(holds);
}

async function measure(
  store: FactCost["store"],
  users: number,
  { seed, small }: BenchOptions,
): Promise<FactCost> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-facts-"));
  const postgres = store === "PostgreSQL" ? await PostgresServer.start() : undefined;
  const url = await postgres?.createDatabase("facts");
  const settings = url === undefined ? {} : { SIDEBAND_DATABASE_URL: url, SIDEBAND_MASTER_KEY: MASTER_KEY };
  const server = await startServer(folder, { settings });
  try {
    const pick = seededRandom(seed);
    const bodyOf = (user: string) =>
      LABELS.slice(0, FACTS_OF_USER).map((label) => ({ user_id: user, label, value: pick.pick(VALUES) }));
    const databaseS = () => postgres?.cpuS() ?? 0;
    for (const body of bodyOf("warm")) await post(server, "/encode", body);
    await call(server, "/context?user_id=warm");
    const before = {
      ...(await figures(server)),
      serviceS: cpuSeconds(server.process),
      databaseS: databaseS(),
      memory: memoryOf(server.process).privateBytes,
    };
    let next = 0;
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        while (next < users) for (const body of bodyOf(`user-${next++}`)) await post(server, "/encode", body);
      }),
    );
    const serviceS = cpuSeconds(server.process) - before.serviceS;
    const spentS = databaseS() - before.databaseS;
    const after = await figures(server);
    const memory = memoryOf(server.process).privateBytes - before.memory;
    const facts = users * FACTS_OF_USER;
    const waitMs = small ? 300 : AFTER_MS;
    const idleS = await cpuOf(server, waitMs);
    for (let i = 0; i < 100; i++)
      await post(server, "/encode", { user_id: `late-${i}`, label: "USER.name", value: VALUES[i] });
    const beyondS = await cpuOf(server, waitMs);
    const worked = (await figures(server)).blockWorkS;
    const blocks = await firstBlocks(server, Math.min(users, small ? 4 : 100));
    const work = (1000 * ((await figures(server)).blockWorkS - worked)) / blocks.length;
    return {
      store,
      facts,
      diskBytes: (after.storeBytes - before.storeBytes) / facts,
      serviceMs: (1000 * serviceS) / facts,
      databaseMs: (1000 * spentS) / facts,
      memoryBytes: Math.max(0, memory) / facts,
      beyondS,
      idleS,
      firstBlockMs: { median: median(blocks), most: Math.max(...blocks), work },
    };
  } finally {
    await server.stop();
    await postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of users that nobody has asked for, one after the other, while somebody writes. */
async function firstBlocks(server: RunningServer, users: number): Promise<number[]> {
  let isDone = false;
  const writing = (async () => {
    for (let i = 0; !isDone; i++)
      await post(server, "/encode", {
        user_id: `other-${i % 50}`,
        label: "USER.name",
        value: VALUES[i % VALUES.length],
      });
  })();
  const times: number[] = [];
  for (let i = 0; i < users; i++) {
    const startedMs = performance.now();
    const { channel_count: count } = await call<{ channel_count: number }>(
      server,
      `/context?user_id=user-${i}`,
    );
    times.push(performance.now() - startedMs);
    if (count !== FACTS_OF_USER) throw new Error(`user-${i} has ${count} facts instead of ${FACTS_OF_USER}`);
  }
  isDone = true;
  await writing;
  return times;
}

async function cpuOf(server: RunningServer, ms: number): Promise<number> {
  const before = cpuSeconds(server.process);
  await new Promise((resolve) => setTimeout(resolve, ms));
  return cpuSeconds(server.process) - before;
}

/** Those of a database are of the look before: the second is asked for. */
async function figures(server: RunningServer): Promise<{ storeBytes: number; blockWorkS: number }> {
  await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  const figure = (name: RegExp) => Number(name.exec(text)?.[1] ?? 0);
  return {
    storeBytes: figure(/^sideband_store_bytes (\S+)$/m),
    blockWorkS: figure(/^sideband_block_processor_seconds_total\{tier="unlimited"\} (\S+)$/m),
  };
}

async function post(server: RunningServer, path: string, body: object): Promise<void> {
  await call(server, path, { method: "POST", body: JSON.stringify(body) });
}

async function call<T>({ port, key }: RunningServer, path: string, more: RequestInit = {}): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { ...more, headers });
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return (await answer.json()) as T;
}

function lineOf({ store, facts, diskBytes, serviceMs, databaseMs, memoryBytes, ...rest }: FactCost): string {
  const { beyondS, idleS, firstBlockMs } = rest;
  const { median: middle, most, work } = firstBlockMs;
  return [
    `facts on ${store}: ${facts}, ${FACTS_OF_USER} a user, each written by a call of its own`,
    `  a fact: ${diskBytes.toFixed(0)} bytes on disk, ${serviceMs.toFixed(2)} ms of the service's processor time, ${databaseMs.toFixed(2)} ms of the database's, ${memoryBytes.toFixed(0)} bytes of memory`,
    `  after 100 encodes without a block: ${beyondS.toFixed(2)} s of processor time, ${idleS.toFixed(2)} s where nothing was written (bar ${BEYOND_BAR_S} s more)`,
    `  the first block of a user beside a writer: median ${middle.toFixed(0)} ms (bar ${FIRST_BLOCK_BAR_MS}), at most ${most.toFixed(0)} ms; ${work.toFixed(0)} ms of it is block work`,
  ].join("\n");
}
