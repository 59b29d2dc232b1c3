/**
 * How latency and memory change as the store grows: the same load, spread over all users, on a store with few
 * facts and on one with many. Both stores are filled through the store's own writes, ten facts a user.
 */

import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { withNewCore } from "../../src/main.ts";
import type { LoadJob, LoadResult } from "./load.ts";
import { ask, residentBytes, startServer } from "./running-server.ts";

export interface Growth {
  readonly facts: number;
  readonly fewFacts: number;
  /** Median latency with many facts over that with few. */
  readonly ratios: Record<"decode" | "context" | "encode", number>;
  readonly residentBytes: number;
  readonly fileBytes: number;
}

interface Measured {
  readonly medians: Record<"decode" | "context" | "encode", number>;
  readonly residentBytes: number;
  readonly fileBytes: number;
}

const FACTS_PER_USER = 10;
const WRITES_AT_ONCE = 512;

export async function measureGrowth(load: ChildProcess, facts: number, small: boolean): Promise<Growth> {
  const fewFacts = Math.min(10_000, facts / 10);
  const few = await measureAt(load, fewFacts, small);
  const many = await measureAt(load, facts, small);
  const ratio = (name: keyof Measured["medians"]) => many.medians[name] / few.medians[name];
  return {
    facts,
    fewFacts,
    ratios: { decode: ratio("decode"), context: ratio("context"), encode: ratio("encode") },
    residentBytes: many.residentBytes,
    fileBytes: many.fileBytes,
  };
}

async function measureAt(load: ChildProcess, facts: number, small: boolean): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-growth-"));
  try {
    const { key, fileBytes } = await fill(folder, facts);
    const server = await startServer(folder, key);
    const users = facts / FACTS_PER_USER;
    const head = (line: string) => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
    const body = '{"user_id":"user-#","label":"USER.name","value":"Ada"}';
    const length = body.replace("#", "123456789").length;
    const requests = {
      decode: `${head("GET /decode?user_id=user-#&label=USER.role")}\r\n`,
      context: `${head("GET /context?user_id=user-#")}\r\n`,
      encode: `${head("POST /encode")}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
    };
    const shoot = async (request: string) => {
      const durationMs = small ? 200 : 3_000;
      const job: LoadJob = {
        port: server.port,
        connections: 16,
        durationMs,
        request,
        from: 0,
        modulus: users,
      };
      const result = await ask<LoadResult>(load, job);
      if (result.others > 0) throw new Error(`${result.others} answers were not 200`);
      return result.p50Ms;
    };
    const medians = {
      decode: await shoot(requests.decode),
      context: await shoot(requests.context),
      encode: await shoot(requests.encode),
    };
    const resident = residentBytes(server.process);
    await server.stop();
    return { medians, residentBytes: resident, fileBytes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(folder: string, facts: number): Promise<{ key: string; fileBytes: number }> {
  const config = readConfig({ SIDEBAND_DATA: folder });
  return withNewCore(config, async ({ store, desk }) => {
    const { key } = await desk.create({ account: "bench", tier: "unlimited" });
    const users = facts / FACTS_PER_USER;
    for (let first = 0; first < users; first += WRITES_AT_ONCE) {
      const count = Math.min(WRITES_AT_ONCE, users - first);
      await Promise.all(
        Array.from({ length: count }, (_, i) => {
          const userId = `user-${String(first + i).padStart(9, "0")}`;
          const values = Array.from({ length: FACTS_PER_USER }, (_, channel) => ({
            channel,
            value: `${userId} keeps this on channel ${channel}`,
          }));
          return store.write({ account: "bench", userId, facts: values, nowMs: Date.now() });
        }),
      );
    }
    return { key, fileBytes: (await store.statistics()).sizeBytes };
  });
}
