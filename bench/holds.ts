/**
 * How long calls on the largest memory hold the event loop, and others up: the built service in a process of its own with
 * one person's 10,000 facts, every call on all of them over HTTP, and beside it another account's client that asks for a
 * few facts again and again. A hold is measured in the service (holds/probe.js), in processor time; a wait by the clock,
 * as a ratio to that of the same client just before the call.
 */

import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readConfig } from "../src/config.ts";
import { openCore } from "../src/main/core.ts";
import { withOwner } from "../src/main/owner.ts";
import { type Answered, CALLS, type HoldCall, type HoldRun, type Send } from "./holds/calls.ts";
import { ACCOUNT, factsOf, fillUsers } from "./holds/large-user.ts";
import { ask, MASTER_KEY, type RunningServer, startServer, untilQuiet } from "./http/running-server.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";
import { PostgresServer } from "./store/postgres-server.ts";

interface Figures {
  readonly call: string;
  /** The longest of all rounds. */
  readonly holdMs: number;
  readonly callMs: number;
  /** The median wait of the other client, before and beside the call. */
  readonly quietMs: number;
  readonly besideMs: number;
  readonly ratio: number;
}

const HOLD_BAR_MS = 10;
const RATIO_BAR = 2;
const ROUNDS = 3;
const QUIET_ASKS = 50;
const ASK_INTERVAL_MS = 2;
/** Where only the holds count. */
const ASK_INTERVAL_ONCE_MS = 25;
const OTHER = { path: "/facts?user_id=ada", facts: 5 };

interface HoldsOptions extends Pick<BenchOptions, "store" | "small" | "before"> {
  /** Each call once, the quick ones only, and without waiting for the service to come to rest. */
  readonly once: boolean;
}

export async function benchHolds(options: BenchOptions): Promise<boolean> {
  const { small, json, store } = options;
  if (!json)
    console.log(
      `holds: ${factsOf(small)} facts of one person, store ${store}; the longest hold of the event loop (bar: ${HOLD_BAR_MS} ms) and others' wait to that before (bar: ${RATIO_BAR})`,
    );
  const rows = await measureHolds({ ...options, once: small });
  if (json) console.log(JSON.stringify({ holds: { store, rows } }));
  else for (const row of rows) console.log(`  ${lineOf(row)}`);
  return small || rows.every(isMet);
}

export async function measureHolds({ store, small, before, once }: HoldsOptions): Promise<Figures[]> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-holds-"));
  const postgres = store === "postgres" ? await PostgresServer.start() : undefined;
  const settings: Record<string, string> = { SIDEBAND_DATA: folder, SIDEBAND_MASTER_KEY: MASTER_KEY };
  if (postgres !== undefined) settings.SIDEBAND_DATABASE_URL = await postgres.createDatabase("holds");
  const keys = await fill(settings, small);
  const execArgv = ["--import", fileURLToPath(new URL("./holds/probe.js", import.meta.url))];
  const command = before === undefined ? {} : { command: join(before, "bin", "sideband.js") };
  const server = await startServer(folder, { key: keys.large, settings, execArgv, ...command });
  const agent = new Agent({ keepAlive: true });
  try {
    const parts = {
      send: sender(server),
      upload: (lines: string) =>
        withOwner(readConfig(settings), { create: false }, (owner) =>
          owner.upload("/operator/import", Readable.from(lines.split(/(?<=\n)/))),
        ),
      other: () => visit(server.port, keys.other, agent, once ? ASK_INTERVAL_ONCE_MS : ASK_INTERVAL_MS),
      small,
      once,
    };
    const measured = new Map<string, Measured[]>();
    for (let round = 0; round < (once ? 1 : ROUNDS); round++)
      for (const call of once ? CALLS.filter(({ isSlow }) => !isSlow) : CALLS) {
        const figures = await measure(server, call, parts);
        measured.set(call.name, [...(measured.get(call.name) ?? []), figures]);
      }
    return Array.from(measured, ([call, rounds]) => figuresOf(call, rounds));
  } finally {
    agent.destroy();
    await server.stop();
    await postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(settings: Record<string, string>, small: boolean) {
  const core = await openCore(readConfig(settings), { create: true });
  try {
    const keyOf = async (account: string) => (await core.keys.create({ account, tier: "unlimited" })).key;
    const [large, other] = [await keyOf(ACCOUNT), await keyOf("other")];
    await fillUsers(core, small);
    const labels = ["USER.name", "USER.os", "USER.gpu", "USER.role", "USER.location"];
    const changes = labels.map((label) => ({ place: "", label, value: `what ada has as ${label}` }));
    const write = { account: "other", userId: "ada", changes, places: [""], nowMs: Date.now() };
    await core.store.write(write);
    return { large, other };
  } finally {
    await core.close();
  }
}

interface Measured {
  readonly holdMs: number;
  readonly callMs: number;
  readonly quiet: readonly number[];
  readonly beside: readonly number[];
}

interface MeasureOptions extends Omit<HoldRun, "prepared"> {
  readonly other: () => Promise<number>;
  readonly small: boolean;
  readonly once: boolean;
}

async function measure(
  { process }: RunningServer,
  { prepare, run, check }: HoldCall,
  { send, upload, other, small, once }: MeasureOptions,
): Promise<Measured> {
  const prepared = await prepare?.(send);
  await untilQuiet(process, once);
  const quiet: number[] = [];
  for (let i = 0; i < (once ? 5 : QUIET_ASKS); i++) quiet.push(await other());
  await longestHold(process);
  const beside: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) beside.push(await other());
  })();
  const startedMs = performance.now();
  const answered = await run({ send, upload, prepared }).finally(() => {
    isOver = true;
  });
  const callMs = performance.now() - startedMs;
  await asking;
  const holdMs = await longestHold(process);
  check(answered, factsOf(small));
  return { holdMs, callMs, quiet, beside };
}

async function longestHold(service: ChildProcess): Promise<number> {
  return (await ask<{ longestMs: number }>(service, {})).longestMs;
}

/** Milliseconds that the other client waits for its facts. */
async function visit(port: number, key: string, agent: Agent, afterMs: number): Promise<number> {
  await sleep(afterMs);
  const startedMs = performance.now();
  const { status, text } = await exchange({ port, path: OTHER.path, agent, headers: keyHeader(key) });
  const ms = performance.now() - startedMs;
  if (status !== 200 || JSON.parse(text).facts.length !== OTHER.facts)
    throw new Error(`the other client was answered ${status}: ${text}`);
  return ms;
}

const keyHeader = (key: string) => ({ authorization: `Bearer ${key}` });

function sender({ port, key }: RunningServer): Send {
  return (method, path, body) => {
    const headers = {
      ...keyHeader(key),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    return exchange({ port, method, path, headers }, body && JSON.stringify(body));
  };
}

/** Nothing is parsed here: it would delay the other client. */
function exchange(options: object, body?: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", ...options }, (answer) => {
      textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
    })
      .once("error", reject)
      .end(body);
  });
}

function figuresOf(call: string, rounds: readonly Measured[]): Figures {
  const [quietMs, besideMs] = (["quiet", "beside"] as const).map((when) =>
    median(rounds.flatMap((round) => round[when])),
  );
  return {
    call,
    holdMs: Math.max(...rounds.map(({ holdMs }) => holdMs)),
    callMs: median(rounds.map(({ callMs }) => callMs)),
    quietMs,
    besideMs,
    ratio: besideMs / quietMs,
  };
}

function isMet({ holdMs, ratio }: Figures): boolean {
  return holdMs <= HOLD_BAR_MS && ratio <= RATIO_BAR;
}

function lineOf(figures: Figures): string {
  const { call, holdMs, callMs, quietMs, besideMs, ratio } = figures;
  const wait = `others wait ${besideMs.toFixed(1)} ms, before ${quietMs.toFixed(1)} ms, ratio ${ratio.toFixed(1)}`;
  return `${call.padEnd(28)} holds ${holdMs.toFixed(1).padStart(6)} ms of ${callMs.toFixed(0).padStart(5)} ms, ${wait} ${isMet(figures) ? "ok" : "MISSED"}`;
}
