/** What the operator of the night runs: nodes of the built service, its commands, and the lines that nodes print. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PostgresServer } from "../../bench/store/postgres-server.ts";
import { ERRORS } from "../../src/base/error-codes.ts";
import { builtSideband } from "../agents/built.ts";
import { type ServerProcess, startServerProcess } from "../fault/server-process.ts";

export type StoreName = "embedded" | "postgres";

export interface Site {
  readonly store: StoreName;
  readonly folder: string;
  readonly postgres: PostgresServer | undefined;
  /** The settings of every node and of every command. */
  settings: Record<string, string>;
  readonly nodes: ServerProcess[];
  start(more?: Record<string, string>): Promise<ServerProcess>;
  stop(node: ServerProcess, signal?: NodeJS.Signals): Promise<number | string>;
  /** Runs a command and returns what it prints; it must succeed. */
  sideband(...args: string[]): Promise<string>;
  end(): Promise<void>;
}

const OLD_KEY = "a1".repeat(32);
export const ADMIN_TOKEN = "token-of-the-night-0";

export async function openSite(store: StoreName): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-night-"));
  const postgres = store === "postgres" ? await PostgresServer.start() : undefined;
  const url = await postgres?.createDatabase("night");
  const nodes: ServerProcess[] = [];
  const all: ServerProcess[] = [];
  const site: Site = {
    store,
    folder,
    postgres,
    nodes,
    settings: {
      SIDEBAND_DATA: join(folder, "data"),
      SIDEBAND_ERASURES: join(folder, "erasures.list"),
      SIDEBAND_MASTER_KEY: `1:${OLD_KEY}`,
      SIDEBAND_ADMIN_TOKEN: ADMIN_TOKEN,
      ...(url === undefined ? {} : { SIDEBAND_DATABASE_URL: url, SIDEBAND_DATABASE_POOL: "4" }),
    },
    async start(more = {}) {
      const node = await startServerProcess({ ...site.settings, ...more });
      nodes.push(node);
      all.push(node);
      return node;
    },
    async stop(node, signal = "SIGTERM") {
      nodes.splice(nodes.indexOf(node), 1);
      node.process.kill(signal);
      return node.ended;
    },
    async sideband(...args) {
      const env = { PATH: process.env.PATH, HOME: folder, SIDEBAND_BLOCK_WORKERS: "1", ...site.settings };
      const { stdout } = await promisify(execFile)(process.execPath, [builtSideband(), ...args], { env });
      return stdout;
    },
    async end() {
      for (const node of [...nodes]) await site.stop(node, "SIGKILL");
      await postgres?.remove();
      rmSync(folder, { recursive: true, force: true });
      for (const node of all) checkLines(node.output());
    },
  };
  return site;
}

const [WARN, INFO] = [40, 30];

/** A line about a refused call has its code and, where the service is at fault, its reason; a warning is a sentence. */
export function checkLines(output: string): void {
  for (const text of output.split("\n")) {
    if (!text.startsWith("{")) continue;
    const line = JSON.parse(text) as Record<string, unknown> & { level: number; msg: string };
    if (line.level >= WARN) assert.match(line.msg, /^[^{}]{10,}$/, text);
    if (line.level !== INFO || line.msg !== "request" || line.route === "unknown") continue;
    const status = line.status as number;
    if (status < 400) continue;
    assert.ok((line.code as string) in ERRORS, text);
    assert.ok(typeof line.address === "string", text);
    if (status >= 500) assert.ok(typeof line.reason === "string" && line.reason !== "", text);
  }
}
