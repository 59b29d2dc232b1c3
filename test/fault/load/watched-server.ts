/**
 * The built service in a process of its own, for the fuzzer and the soak, with what can be seen from outside: memory,
 * open descriptors, size on disk, and the lines of its log, none of which is expected at the level that it logs at.
 */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OwnerClient } from "../../../src/door-client/owner-client.ts";
import { buildWebsite } from "../../agents/built.ts";
import { startServerProcess } from "../server-process.ts";
import { exchange } from "./exchange.ts";

export const ADMIN_TOKEN = "admin-token-for-tests";

export interface Gauges {
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  readonly connections: number;
  readonly dataBytes: number;
  /** The longest delay of the service's event loop in all scrapes. */
  readonly loopDelayMaxS: number;
}

export interface WatchedServer {
  readonly url: string;
  readonly pid: number;
  readonly folder: string;
  /** The data folder's owner, through its door. */
  readonly owner: OwnerClient;
  newKey(
    account: string,
    terms?: { tier?: string; expires_at?: string },
  ): Promise<{ id: string; key: string }>;
  gauges(): Promise<Gauges>;
  /** The gauges of a scrape that somebody has made. */
  gaugesIn(scrape: string): Gauges;
  /** The gauges once no connection is open but this one; fails where some stay. */
  quietGauges(): Promise<Gauges>;
  /** What it logged. */
  complaints(): string[];
  end(): Promise<void>;
}

/** Longer than a slow request may take. */
const QUIET_MS = 60_000;

export async function startWatched(settings: Record<string, string> = {}): Promise<WatchedServer> {
  buildWebsite();
  const folder = mkdtempSync(join(tmpdir(), "sideband-load-"));
  const server = await startServerProcess({
    SIDEBAND_DATA: folder,
    SIDEBAND_ADMIN_TOKEN: ADMIN_TOKEN,
    SIDEBAND_LOG_LEVEL: "warn",
    SIDEBAND_DEMO: "1",
    SIDEBAND_DEMO_RATE: "1000000",
    ...settings,
  });
  const pid = server.process.pid!;
  const stop = () => server.process.kill("SIGKILL");
  process.once("exit", stop);
  const owner = OwnerClient.of(folder);
  let loopDelayMaxS = 0;
  const gaugesIn = (scrape: string): Gauges => {
    const figure = (name: string) => Number(new RegExp(`^sideband_${name} (\\S+)$`, "m").exec(scrape)?.[1]);
    loopDelayMaxS = Math.max(loopDelayMaxS, figure("event_loop_delay_seconds"));
    return {
      residentBytes: figure("resident_bytes"),
      heapBytes: figure("heap_bytes"),
      descriptors: descriptorsOf(pid),
      connections: figure("connections"),
      dataBytes: sizeBytesOf(folder),
      loopDelayMaxS,
    };
  };
  const gauges = async () =>
    gaugesIn((await exchange(server.url, { method: "GET", path: "/metrics", agent: false })).text);
  return {
    url: server.url,
    pid,
    folder,
    owner,
    newKey: (account, terms = {}) =>
      owner.json("POST", "/admin/keys", { account, tier: "unlimited", ...terms }),
    gauges,
    gaugesIn,
    async quietGauges() {
      for (const endMs = performance.now() + QUIET_MS; ; await sleep(50)) {
        const found = await gauges();
        if (found.connections === 1) return found;
        assert.ok(performance.now() < endMs, `${found.connections - 1} connections stay open`);
      }
    },
    complaints: () =>
      server
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{")),
    async end() {
      process.off("exit", stop);
      server.process.kill("SIGTERM");
      const status = await server.ended;
      rmSync(folder, { recursive: true, force: true });
      assert.equal(status, 0, `the service ended with ${status}: ${server.output().slice(-2000)}`);
    },
  };
}

/** Files and connections. Each thread has pipes and the like for its event loop, and comes and goes with its work. */
function descriptorsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const isKept = (name: string) => {
    try {
      return !/^(?:pipe|anon_inode):/.test(readlinkSync(join(folder, name)));
    } catch {
      // It was closed meanwhile.
      return false;
    }
  };
  return readdirSync(folder).filter(isKept).length;
}

/** A compaction may have removed it meanwhile. */
function sizeBytesOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) return stats?.size ?? 0;
  try {
    return readdirSync(path).reduce((sum, name) => sum + sizeBytesOf(join(path, name)), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return 0;
  }
}
