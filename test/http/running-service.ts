/** A real service on a real data folder for the tests, with a port or without. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import type { Tier } from "../../src/base/accounts.ts";
import { readConfig } from "../../src/config.ts";
import { type ServiceOptions, startService } from "../../src/main/service.ts";
import { blockWorkerBundle } from "../fixtures/block-worker-bundle.ts";
import { newDatabase } from "../postgres/server.ts";
import { type Answer, type RequestOptions, send } from "./plain-client.ts";

export { type Answer, problemCode, send } from "./plain-client.ts";

export type Service = Awaited<ReturnType<typeof startService>>;

export interface Running {
  readonly service: Service;
  readonly url: string;
  readonly folder: string;
  /** A key of the account "acme" without a limit. */
  readonly key: string;
  readonly logs: string[];
  /** A request without a connection; with the account's key unless told otherwise. */
  call(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  newKey(account: string, tier?: Tier): Promise<string>;
  end(): Promise<void>;
}

const databases = new Map<string, string>();

/** `npm run test:postgres` runs the same tests on PostgreSQL: then each data folder stands for a database. */
async function databaseOf(dataFolder: string): Promise<Record<string, string>> {
  if (process.env.TEST_STORE !== "postgres") return {};
  const url = databases.get(dataFolder) ?? (await newDatabase());
  databases.set(dataFolder, url);
  return databaseSettings(url);
}

/** The settings of a service on a database. */
export function databaseSettings(url: string): Record<string, string> {
  return { SIDEBAND_DATABASE_URL: url, SIDEBAND_DATABASE_POOL: "4", SIDEBAND_MASTER_KEY: "ab".repeat(32) };
}

type RunningOptions = Pick<ServiceOptions, "warm" | "timeouts" | "clock" | "tcp" | "documents">;

/** One for all tests of a file or a suite: begun before the first, ended after the last. */
export function sharedRunning(start: () => Promise<Running> = startRunning): Running {
  let running: Running | undefined;
  before(async () => {
    running = await start();
  });
  after(() => running?.end());
  return new Proxy({} as Running, { get: (_, name) => Reflect.get(running!, name) });
}

/** Without a port: requests go to its dispatcher. */
export function startPortless(
  settings?: Record<string, string>,
  folder?: string,
  options?: RunningOptions,
): Promise<Running> {
  return startRunning(settings, folder, { ...options, tcp: false });
}

/** @param options as of a service; `warm`: whether the model is loaded before the first block needs it */
export async function startRunning(
  settings: Record<string, string> = {},
  folder?: string,
  options: RunningOptions = {},
): Promise<Running> {
  const dataFolder = folder ?? mkdtempSync(join(tmpdir(), "sideband-http-"));
  const logs: string[] = [];
  const config = readConfig({
    ...(await databaseOf(dataFolder)),
    SIDEBAND_DATA: dataFolder,
    SIDEBAND_PORT: "0",
    SIDEBAND_DEMO: "1",
    SIDEBAND_DEMO_RATE: "100000",
    SIDEBAND_ADMIN_TOKEN: "admin-token-for-tests",
    ...settings,
  });
  const service = await startService(config, {
    blockWorker: blockWorkerBundle(),
    logTo: { write: (line) => void logs.push(line) },
    ...options,
  });
  const { url } = service;
  const newKey = async (account: string, tier: Tier = "unlimited") =>
    (await service.core.keys.create({ account, tier })).key;
  const key = await newKey("acme");
  return {
    service,
    url,
    folder: dataFolder,
    key,
    logs,
    newKey,
    call: (method, path, options = {}) => send(service.dispatch, method, path, { key, ...options }),
    async end() {
      await service.close();
      if (folder === undefined) rmSync(dataFolder, { recursive: true });
    },
  };
}
