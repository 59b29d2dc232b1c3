/**
 * The client under an agent's load: 100 users at once, each of whose turns writes a fact and then reads the memory, 1,000
 * turns in all. Read with `facts`, which is the reference, and with `inject`: the facts in plain text, and with the block.
 * Every turn must find the fact that it has just written.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LABELS, Sideband } from "../src/sdk/index.ts";
import { type RunningServer, startServer, untilQuiet } from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

const USERS = 100;
const USERS_SMALL = 10;
const TURNS_EACH = 10;
const TURNS_EACH_SMALL = 3;
const ROUNDS = 5;
/** Beside the one that is written in each turn. */
const FACTS_EACH = 10;
const LABEL = "TASK.current";
/** The time of `inject` with the facts in plain text, as a ratio to that of `facts`. */
const BAR = 2;

/** Whether a read finds a value. */
type Read = (memory: Sideband, userId: string, value: string) => Promise<boolean>;

const READS: Readonly<Record<string, Read>> = {
  facts: async (memory, userId, value) =>
    (await memory.facts(userId)).facts.some((fact) => fact.label === LABEL && fact.value === value),
  "inject, index": async (memory, userId, value) =>
    (await memory.inject("You are terse.", userId, { include: "index" })).includes(`\n${LABEL}=${value}\n`),
  "inject, both": async (memory, userId, value) =>
    (await memory.inject("You are terse.", userId, { include: "both" })).includes(`\n${LABEL}=${value}\n`),
};

interface Row {
  readonly read: string;
  readonly seconds: number;
  readonly ratio: number;
  readonly turns: number;
  /** Turns of all rounds that did not find what they had written: with old memory, or none. */
  readonly lost: number;
}

export async function benchInject({ small, json }: BenchOptions): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-inject-"));
  let server: RunningServer | undefined;
  try {
    server = await startServer(folder);
    const rows = await measure(server, small);
    const index = rows.find(({ read }) => read === "inject, index")!;
    const passed = index.ratio <= BAR && index.lost === 0;
    if (json) console.log(JSON.stringify({ inject: { rows } }));
    else report(rows, small);
    return small || passed;
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(server: RunningServer, small: boolean): Promise<Row[]> {
  const users = Array.from({ length: small ? USERS_SMALL : USERS }, (_, i) => `user-${i}`);
  const turnsEach = small ? TURNS_EACH_SMALL : TURNS_EACH;
  const options = { baseUrl: `http://127.0.0.1:${server.port}`, apiKey: server.key, timeoutMs: 60_000 };
  const memory = new Sideband({ ...options, onWarning: () => {} });
  const facts = LABELS.filter((label) => label !== LABEL)
    .slice(0, FACTS_EACH)
    .map((label) => ({ label, value: `what is known of ${label}, as a person would say it` }));
  await Promise.all(users.map((user) => memory.encodeBatch(user, facts)));
  const found = Object.entries(READS).map(([read, run]) => ({ read, run, seconds: [] as number[], lost: 0 }));
  for (let round = 0; round < (small ? 1 : ROUNDS); round++) {
    for (const row of found) {
      await untilQuiet(server.process, small);
      const startedMs = performance.now();
      await Promise.all(
        users.map(async (user) => {
          for (let turn = 0; turn < turnsEach; turn++) {
            const value = `turn ${turn} of ${user} in round ${round}, read with ${row.read}`;
            await memory.encode(user, LABEL, value);
            if (!(await row.run(memory, user, value))) row.lost += 1;
          }
        }),
      );
      row.seconds.push((performance.now() - startedMs) / 1000);
    }
  }
  const turns = users.length * turnsEach;
  const reference = median(found[0].seconds);
  return found.map(({ read, seconds, lost }) => {
    const typical = median(seconds);
    return { read, seconds: typical, ratio: typical / reference, turns, lost };
  });
}

function report(rows: readonly Row[], small: boolean): void {
  const { turns } = rows[0];
  const rounds = small ? 1 : ROUNDS;
  console.log(
    `inject: ${turns} turns of a write and a read, median of ${rounds}; bar: inject, index ${BAR} × facts, none lost`,
  );
  for (const { read, seconds, ratio, lost } of rows) {
    console.log(
      `  ${read.padEnd(13)} ${seconds.toFixed(2)} s, ${ratio.toFixed(2)} × facts, ${lost} of ${turns * rounds} turns did not find what they wrote`,
    );
  }
}
