/**
 * The services of the benchmark of a fact's life: a user with some facts for reads, and many users with one fact that has
 * been replaced as often as values are kept, so that every further encode adds a value to a history and drops one.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LABELS } from "../../src/base/channel-labels.ts";
import { readConfig } from "../../src/config.ts";
import { openCore } from "../../src/main/core.ts";
import { MASTER_KEY, type RunningServer, startServer } from "../http/running-server.ts";
import { PostgresServer } from "../store/postgres-server.ts";

export interface LifeService {
  readonly server: RunningServer;
  /** Processor seconds of the database's server so far; 0 without one. */
  databaseCpuS(): number;
}

interface ServiceOptions {
  /** How many earlier values are kept, of many users that have as many; without it there is the user of the reads alone. */
  readonly historyMax?: number;
  /** The folder of another commit, built. */
  readonly before?: string;
}

const READ_FACTS = 12;
const FILL_ROUNDS = 9;
const WRITES_AT_ONCE = 512;

export class LifeServices {
  /** More than a turn has encodes, so that none meets the value of its own turn. */
  readonly users: number;
  readonly #folders: string[] = [];
  readonly #running = new Set<RunningServer>();
  #postgres: PostgresServer | undefined;
  #databases = 0;

  constructor(small: boolean) {
    this.users = small ? 1_000 : 8_000;
  }

  async open(store: "LMDB" | "PostgreSQL", { historyMax, before }: ServiceOptions): Promise<LifeService> {
    const folder = this.newFolder();
    const settings: Record<string, string> = {};
    if (store === "PostgreSQL") settings.SIDEBAND_DATABASE_URL = await this.newDatabase();
    if (historyMax !== undefined) {
      settings.SIDEBAND_HISTORY = String(historyMax);
      await this.#fill({ SIDEBAND_DATA: folder, SIDEBAND_MASTER_KEY: MASTER_KEY, ...settings });
    }
    const command = before === undefined ? {} : { command: join(before, "bin", "sideband.js") };
    const server = await startServer(folder, { settings, ...command });
    this.#running.add(server);
    await writeReadUser(server);
    const postgres = store === "PostgreSQL" ? this.#postgres : undefined;
    return { server, databaseCpuS: () => postgres?.cpuS() ?? 0 };
  }

  /** Throws unless as many earlier values are kept as were to be. */
  async check({ server }: LifeService, historyMax: number): Promise<void> {
    const path = `/facts/history?user_id=${userName(1)}&label=USER.name`;
    const { revisions } = await get<{ revisions: unknown[] }>(server, path);
    if (revisions.length !== historyMax + 1)
      throw new Error(`${revisions.length} values instead of ${historyMax + 1}`);
  }

  async stop(...services: LifeService[]): Promise<void> {
    for (const { server } of services) {
      this.#running.delete(server);
      await server.stop();
    }
  }

  newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "sideband-life-"));
    this.#folders.push(folder);
    return folder;
  }

  async newDatabase(): Promise<string> {
    this.#postgres ??= await PostgresServer.start();
    this.#databases += 1;
    return this.#postgres.createDatabase(`life${this.#databases}`);
  }

  async close(): Promise<void> {
    for (const server of this.#running) await server.stop();
    await this.#postgres?.remove();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }

  async #fill(settings: Record<string, string>): Promise<void> {
    const core = await openCore(readConfig(settings), { create: true });
    try {
      for (let i = 0; i < FILL_ROUNDS * this.users; i += WRITES_AT_ONCE) {
        const count = Math.min(WRITES_AT_ONCE, FILL_ROUNDS * this.users - i);
        await Promise.all(
          Array.from({ length: count }, (_, j) => {
            const value = `a value of 40 bytes before turn ${i + j}`.padEnd(40, ".");
            const changes = [{ place: "", label: "USER.name", value }];
            const userId = userName((i + j) % this.users);
            return core.store.write({ account: "bench", userId, changes, places: [""], nowMs: Date.now() });
          }),
        );
      }
    } finally {
      await core.close();
    }
  }
}

const userName = (number: number) => `user-${String(number).padStart(9, "0")}`;

/** The user of the reads, whose block is cached then. */
async function writeReadUser(server: RunningServer): Promise<void> {
  const facts = LABELS.slice(0, READ_FACTS).map((label) => ({ label, value: `what ada has as ${label}` }));
  await fetch(`http://127.0.0.1:${server.port}/encode/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify({ user_id: "ada", facts }),
  });
  const { channel_count: channels } = await get<{ channel_count: number }>(server, "/context?user_id=ada");
  if (channels !== READ_FACTS) throw new Error(`a user has ${channels} facts instead of ${READ_FACTS}`);
}

async function get<T>({ port, key }: RunningServer, path: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return (await answer.json()) as T;
}
