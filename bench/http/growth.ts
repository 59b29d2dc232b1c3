/**
 * How latency and memory change as the store grows: two services at the same time, one with few facts and one with
 * many, under the same load in turns. Users are drawn from the whole store; the contexts are those of a few users
 * all over it, whose blocks are cached. Both stores are filled without HTTP, ten facts a user, without code bits, and
 * then compacted: transactions that large leave more free pages behind than a service does.
 */

import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LABELS } from "../../src/base/channel-labels.ts";
import { readConfig } from "../../src/config.ts";
import { openCore } from "../../src/main/core.ts";
import { median } from "../median.ts";
import type { LoadJob, LoadResult } from "./load.ts";
import {
  ask,
  type MemoryUse,
  memoryOf,
  type RunningServer,
  startServer,
  untilQuiet,
} from "./running-server.ts";

const KINDS = ["decode", "context", "encode"] as const;
type Kind = (typeof KINDS)[number];

/** Median latency in milliseconds with few facts and with many, and the second over the first. */
export interface Latencies {
  readonly fewMs: number;
  readonly manyMs: number;
  readonly ratio: number;
}

export interface Growth {
  readonly facts: number;
  readonly fewFacts: number;
  readonly fillSeconds: number;
  /** At a rate that leaves the service idle most of the time. */
  readonly gentle: Record<Kind, Latencies>;
  /** Each connection sends as soon as it has its answer. */
  readonly saturated: Record<Kind, Latencies>;
  /** Of the service with many facts, after all that. */
  readonly memory: MemoryUse;
  readonly fileBytes: number;
}

interface Subject {
  readonly server: RunningServer;
  readonly users: number;
  readonly fileBytes: number;
  readonly fillSeconds: number;
}

const FACTS_PER_USER = 10;
const WRITES_AT_ONCE = 512;
const CONTEXT_USERS = 32;
const CONNECTIONS = 16;
const GENTLE_PER_SECOND = 400;
const SLICE_MS = 600;
const WARM_MS = 4_000;

export async function measureGrowth(load: ChildProcess, facts: number, small: boolean): Promise<Growth> {
  const fewFacts = Math.min(10_000, facts / 10);
  const folders: string[] = [];
  const servers: RunningServer[] = [];
  const open = async (count: number): Promise<Subject> => {
    const folder = mkdtempSync(join(tmpdir(), "sideband-growth-"));
    folders.push(folder);
    const { key, ...filled } = await fill(folder, count);
    const server = await startServer(folder, { key });
    servers.push(server);
    return { server, users: count / FACTS_PER_USER, ...filled };
  };
  try {
    const few = await open(fewFacts);
    const many = await open(facts);
    for (const { server, users } of [few, many]) {
      await buildContexts(server, users, small ? 2 : CONTEXT_USERS);
      await untilQuiet(server.process, small);
    }
    const rounds = small ? 1 : 9;
    const measure = (kind: Kind, ratePerSecond?: number) =>
      compareLatencies(kind, { few, many }, { load, rounds, small, ratePerSecond });
    const gentle = {} as Record<Kind, Latencies>;
    const saturated = {} as Record<Kind, Latencies>;
    // Encodes come last: both services compute code bits from then on.
    for (const kind of KINDS) {
      saturated[kind] = await measure(kind);
      gentle[kind] = await measure(kind, GENTLE_PER_SECOND);
    }
    const memory = memoryOf(many.server.process);
    const { fileBytes, fillSeconds } = many;
    return { facts, fewFacts, fillSeconds, gentle, saturated, memory, fileBytes };
  } finally {
    for (const server of servers) await server.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

async function compareLatencies(
  kind: Kind,
  { few, many }: { few: Subject; many: Subject },
  options: { load: ChildProcess; rounds: number; small: boolean; ratePerSecond: number | undefined },
): Promise<Latencies> {
  const { load, rounds, small, ratePerSecond } = options;
  let from = 0;
  const shoot = async ({ server, users }: Subject, durationMs = small ? 150 : SLICE_MS): Promise<number> => {
    const contexts = small ? 2 : CONTEXT_USERS;
    const job: LoadJob = {
      port: server.port,
      connections: CONNECTIONS,
      durationMs,
      request: requestOf(kind, server.key),
      from,
      ...(kind === "context"
        ? { modulus: contexts, step: Math.floor(users / contexts) }
        : { modulus: users }),
      ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
    };
    const result = await ask<LoadResult>(load, job);
    from = result.next;
    if (result.others > 0) throw new Error(`${result.others} answers were not 200`);
    return result.p50Ms;
  };
  const fews: number[] = [];
  const manys: number[] = [];
  // As in a service that has run for a while: the pages of the data file are in its memory.
  for (const subject of [few, many]) await shoot(subject, small ? 150 : WARM_MS);
  for (let round = 0; round < rounds; round++) {
    fews.push(await shoot(few));
    manys.push(await shoot(many));
  }
  const [fewMs, manyMs] = [median(fews), median(manys)];
  return { fewMs, manyMs, ratio: manyMs / fewMs };
}

function requestOf(kind: Kind, key: string): string {
  const head = (line: string) => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
  if (kind === "decode") return `${head("GET /decode?user_id=user-#&label=USER.role")}\r\n`;
  if (kind === "context") return `${head("GET /context?user_id=user-#")}\r\n`;
  const body = '{"user_id":"user-#","label":"USER.name","value":"Ada"}';
  const length = body.replace("#", "123456789").length;
  return `${head("POST /encode")}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

/** Computes the code bits and the blocks of the users whose contexts will be asked for. */
async function buildContexts({ port, key }: RunningServer, users: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const url = `http://127.0.0.1:${port}/context?user_id=${userName(i * Math.floor(users / count))}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const { channel_count: channels } = (await answer.json()) as { channel_count: number };
    if (channels !== FACTS_PER_USER) throw new Error(`${url} has ${channels} facts`);
  }
}

async function fill(
  folder: string,
  facts: number,
): Promise<{ key: string; fileBytes: number; fillSeconds: number }> {
  const config = readConfig({ SIDEBAND_DATA: folder });
  const startedMs = performance.now();
  const core = await openCore(config, { create: true });
  const { store, keys, compact } = core;
  try {
    const { key } = await keys.create({ account: "bench", tier: "unlimited" });
    const users = facts / FACTS_PER_USER;
    for (let first = 0; first < users; first += WRITES_AT_ONCE) {
      const count = Math.min(WRITES_AT_ONCE, users - first);
      await Promise.all(
        Array.from({ length: count }, (_, i) => {
          const userId = userName(first + i);
          const values = LABELS.slice(0, FACTS_PER_USER).map((label) => ({
            place: "",
            label,
            value: `${userId} keeps this on ${label}`,
          }));
          return store.write({ account: "bench", userId, changes: values, places: [""], nowMs: Date.now() });
        }),
      );
    }
    await compact();
    const fillSeconds = (performance.now() - startedMs) / 1000;
    return { key, fileBytes: (await store.statistics()).sizeBytes, fillSeconds };
  } finally {
    await core.close();
  }
}

const userName = (number: number) => `user-${String(number).padStart(9, "0")}`;
