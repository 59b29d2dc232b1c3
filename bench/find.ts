/**
 * What finding facts by words costs the built service: one person's 100 and 1,000 facts under labels of their own, a
 * question after the other, each with its answer checked. Processor time of the service and time by the clock, beside
 * those of GET /facts in the same run.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSeconds, type RunningServer, startServer, untilQuiet } from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

const ORDINARY = readFileSync(new URL("./codec/ordinary-facts.tsv", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split("\t"));

/** What is asked, and the label that must be the first. */
const QUESTIONS = [
  ["wife", "FAMILY.wife"],
  ["What was the name of my mothr again?", "FAMILY.mother"],
  ["retired techer", "FAMILY.father"],
  ["utrecht mother", "FAMILY.mother"],
] as const;
const BATCH = 40;
const BAR_MS = 5;
const BAR_FACTS = 1_000;

export async function benchFind({ small, json }: BenchOptions): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-find-"));
  const server = await startServer(folder);
  try {
    const rows: Row[] = [];
    for (const facts of small ? [100] : [100, BAR_FACTS]) rows.push(await measure(server, facts, small));
    if (json) console.log(JSON.stringify({ find: rows }));
    else {
      console.log(
        `\nfind, beside GET /facts: the median of calls one after the other (bar: ${BAR_MS} ms of processor time at 1,000 facts)`,
      );
      console.table(rows);
    }
    return small || rows.every(({ facts, cpu_ms }) => facts < BAR_FACTS || cpu_ms <= BAR_MS);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Row {
  readonly facts: number;
  readonly cpu_ms: number;
  readonly clock_ms: number;
  readonly facts_cpu_ms: number;
  readonly ratio: number;
}

async function measure(server: RunningServer, facts: number, small: boolean): Promise<Row> {
  const user_id = `with-${facts}`;
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { ...init, headers });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`a call was answered ${answer.status}: ${text}`);
    return text;
  };
  const all = Array.from({ length: facts }, (_, i) => {
    const [label, value] = ORDINARY[i % ORDINARY.length];
    const round = Math.floor(i / ORDINARY.length);
    return round === 0
      ? { label, value }
      : { label: `OTHER${label.replace(".", `.n${round}_`)}`.slice(0, 60), value: `${value}, no ${round}` };
  });
  for (let i = 0; i < facts; i += BATCH) {
    const batch = { user_id, facts: all.slice(i, i + BATCH), new_label: "certain" };
    await call("/encode/batch", { method: "POST", body: JSON.stringify(batch) });
  }
  await untilQuiet(server.process, small);
  const find = async (i: number) => {
    const [q, label] = QUESTIONS[i % QUESTIONS.length];
    const found = JSON.parse(await call(`/facts/find?${new URLSearchParams({ user_id, q })}`));
    if (found.facts[0]?.label !== label) throw new Error(`${q} finds ${JSON.stringify(found.facts[0])}`);
  };
  const list = async () => {
    const { channel_count } = JSON.parse(await call(`/facts?user_id=${user_id}`));
    if (channel_count !== facts) throw new Error(`${channel_count} facts are listed`);
  };
  // In turns, so that other work on the machine meets both.
  const turns: { find: Timed; list: Timed }[] = [];
  for (let done = 0; done < (small ? 8 : 400); done += QUESTIONS.length)
    turns.push({ find: await timed(server, find), list: await timed(server, list) });
  const of = (kind: "find" | "list", unit: keyof Timed) => median(turns.map((turn) => turn[kind][unit]));
  const rounded = (ms: number) => Number(ms.toFixed(2));
  return {
    facts,
    cpu_ms: rounded(of("find", "cpuMs")),
    clock_ms: rounded(of("find", "clockMs")),
    facts_cpu_ms: rounded(of("list", "cpuMs")),
    ratio: rounded(of("find", "cpuMs") / of("list", "cpuMs")),
  };
}

interface Timed {
  readonly cpuMs: number;
  readonly clockMs: number;
}

/** Of one call, the mean of as many as there are questions. */
async function timed({ process }: RunningServer, call: (i: number) => Promise<void>): Promise<Timed> {
  const [cpu, clock] = [cpuSeconds(process), performance.now()];
  for (let i = 0; i < QUESTIONS.length; i++) await call(i);
  return {
    cpuMs: ((cpuSeconds(process) - cpu) * 1000) / QUESTIONS.length,
    clockMs: (performance.now() - clock) / QUESTIONS.length,
  };
}
