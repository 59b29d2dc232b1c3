/**
 * A small Citus cluster of its own: a coordinator and workers on free ports of this machine, in temporary folders.
 * It needs a PostgreSQL with Citus built for it: the one whose pg_config is in the path, or in the folder that
 * TEST_POSTGRES_BIN names. The role of the service is no superuser, as an operator would have it.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { type Binaries, binariesIn, createDatabase, PostgresServer } from "./postgres-server.ts";

type Admin = postgres.Sql;

const ROLE = "service";

/** Moving shards needs logical replication; every database with Citus has a background worker of its own. */
const SETTINGS = [
  "shared_preload_libraries=citus",
  "citus.node_conninfo=sslmode=disable",
  // Until a commit that a crash cut in two is settled, its users stay locked; the default is a minute.
  "citus.recover_2pc_interval=5s",
  "wal_level=logical",
  "max_worker_processes=64",
  // For each database, also one whose test has ended, every machine keeps a connection to each machine; and a session of a
  // service has its own to the other machines.
  "max_prepared_transactions=1000",
  "max_connections=1000",
];

/** The binaries of a PostgreSQL that has Citus, or the reason why there are none. */
export function findCitus(): Binaries | string {
  const program = join(process.env.TEST_POSTGRES_BIN ?? "", "pg_config");
  let folders: string[];
  try {
    const told = execFileSync(program, ["--bindir", "--sharedir"], { encoding: "utf8", stdio: "pipe" });
    folders = told.trim().split("\n");
  } catch {
    return `there is no ${program}: install PostgreSQL with its development files, or name the folder in TEST_POSTGRES_BIN`;
  }
  const [bin, share] = folders;
  if (existsSync(join(share, "extension", "citus.control"))) return binariesIn(bin);
  return `the PostgreSQL in ${bin} has no Citus: install Citus for it, or name another one's folder in TEST_POSTGRES_BIN`;
}

export class CitusCluster {
  readonly coordinator: PostgresServer;
  readonly workers: PostgresServer[] = [];
  readonly #binaries: Binaries;

  private constructor(coordinator: PostgresServer, binaries: Binaries) {
    this.coordinator = coordinator;
    this.#binaries = binaries;
  }

  static async start(binaries: Binaries, workerCount: number): Promise<CitusCluster> {
    const cluster = new CitusCluster(await startServer(binaries), binaries);
    for (let i = 0; i < workerCount; i++) cluster.workers.push(await startServer(binaries));
    return cluster;
  }

  /** An empty database on all machines; resolves to its address on the coordinator. */
  async createDatabase(name: string): Promise<string> {
    for (const server of [this.coordinator, ...this.workers]) await this.#createOn(server, name);
    await withAdmin(this.coordinator, name, async (sql) => {
      await sql`SELECT citus_set_coordinator_host('127.0.0.1', ${this.coordinator.port})`;
      for (const { port } of this.workers) await sql`SELECT citus_add_node('127.0.0.1', ${port})`;
      // On the coordinator only: Citus takes the role and the schema to the workers.
      const [known] = await sql`SELECT 1 FROM pg_roles WHERE rolname = ${ROLE}`;
      if (known === undefined) await sql`CREATE ROLE ${sql(ROLE)} LOGIN`;
      await sql`CREATE SCHEMA sideband AUTHORIZATION ${sql(ROLE)}`;
    });
    for (const server of this.workers) await limitLockWaits(server, name);
    return this.urlOf(this.coordinator, name);
  }

  /** So that it can be copied: nobody is connected to it any more, the workers that Citus has in the background included. */
  async closeDatabase(name: string): Promise<void> {
    for (const server of [this.coordinator, ...this.workers])
      await withAdmin(
        server,
        "postgres",
        (sql) => sql`ALTER DATABASE ${sql(name)} WITH ALLOW_CONNECTIONS false`,
      );
    for (const server of [this.coordinator, ...this.workers])
      await withAdmin(
        server,
        "postgres",
        (sql) => sql`SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE datname = ${name}`,
      );
  }

  /** A copy of a closed database, with all that Citus knows of it, for a part of the time of a new one. */
  async copyDatabase(name: string, closed: string): Promise<void> {
    const machines = [this.coordinator, ...this.workers];
    await Promise.all(machines.map((server) => createDatabase(server.url(), name, closed)));
  }

  /** One more worker for a database; it has no shards until they are moved to it. */
  async addWorker(name: string): Promise<PostgresServer> {
    const server = await startServer(this.#binaries);
    this.workers.push(server);
    await this.#createOn(server, name);
    await withAdmin(this.coordinator, name, (sql) => sql`SELECT citus_add_node('127.0.0.1', ${server.port})`);
    await limitLockWaits(server, name);
    return server;
  }

  /** Moves shards to where few are, while the service goes on. */
  async rebalance(name: string): Promise<void> {
    await withAdmin(
      this.coordinator,
      name,
      (sql) => sql`SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')`,
    );
  }

  urlOf(server: PostgresServer, database: string): string {
    return server.url(database).replace("//sideband@", `//${ROLE}@`);
  }

  /** Processor seconds of all machines. */
  cpuS(): number | undefined {
    return [this.coordinator, ...this.workers].reduce<number | undefined>((sum, server) => {
      const cpuS = server.cpuS();
      return sum === undefined || cpuS === undefined ? undefined : sum + cpuS;
    }, 0);
  }

  async remove(): Promise<void> {
    for (const server of [this.coordinator, ...this.workers]) await server.remove();
  }

  async #createOn(server: PostgresServer, name: string): Promise<void> {
    await server.createDatabase(name);
    await withAdmin(server, name, (sql) => sql`CREATE EXTENSION citus`);
  }
}

/** For each worker by itself: on the coordinator, counters may be waited for. */
async function limitLockWaits(worker: PostgresServer, database: string): Promise<void> {
  await withAdmin(worker, database, async (sql) => {
    await sql`SET citus.enable_ddl_propagation TO off`;
    await sql`ALTER ROLE ${sql(ROLE)} SET lock_timeout = '250ms'`;
  });
}

function startServer(binaries: Binaries): Promise<PostgresServer> {
  return PostgresServer.start(SETTINGS, binaries);
}

export async function withAdmin<T>(
  server: PostgresServer,
  database: string,
  work: (sql: Admin) => PromiseLike<T>,
): Promise<T> {
  // Its numbers are read as those of a node.
  const types = { bigint: { to: 20, from: [20], serialize: String, parse: Number } };
  const sql = postgres(server.url(database), { max: 1, onnotice: () => {}, types });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
