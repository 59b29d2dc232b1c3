/**
 * The folder of a peer's data, and the processes that work on it: started here, known by a mark in their environment or as
 * children of one that has it, and ended together, as a machine ends them.
 */

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as after } from "node:timers/promises";

const GONE_WITHIN_MS = 10_000;
const SAID_MAX = 4_000;
const PORTS = { first: 24_000, count: 900 };

export class Place {
  readonly folder: string;
  /** What a peer has to find again after a restart: a port, a key. */
  readonly notes = new Map<string, string>();
  readonly #mark = randomUUID();
  readonly #started = new Set<number>();
  readonly #more: Readonly<Record<string, string>>;

  /** @param more variables of the environment, such as those of the recorder */
  constructor(folder: string, more: Readonly<Record<string, string>> = {}) {
    this.folder = folder;
    this.#more = more;
    mkdirSync(join(folder, "data"), { recursive: true });
  }

  get data(): string {
    return join(this.folder, "data");
  }

  get env(): Record<string, string> {
    const { PATH = "", TMPDIR = "/tmp" } = process.env;
    // Files are changed by calls of the C library alone, which the recorder sees.
    const plain = { PATH, TMPDIR, HOME: this.folder, UV_USE_IO_URING: "0", LANG: "C.UTF-8" };
    return { ...plain, ...this.#more, COMPARE_MARK: this.#mark };
  }

  spawn(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const env = { ...this.env, ...options.env };
    const child = spawn(command, args, { stdio: "ignore", cwd: this.folder, ...options, env });
    if (child.pid !== undefined) this.#started.add(child.pid);
    return child;
  }

  /** Those with the mark or started here, and their children. */
  processes(): number[] {
    const found = new Set<number>();
    const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const parents = new Map<number, number>();
    for (const pid of all.map(Number)) {
      const parent = parentOf(pid);
      if (parent === undefined) continue;
      parents.set(pid, parent);
      if (pid !== process.pid && (this.#started.has(pid) || environmentOf(pid).includes(this.#mark)))
        found.add(pid);
    }
    for (let size = -1; size !== found.size; ) {
      size = found.size;
      for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
    }
    return [...found];
  }

  /** Ends all of them at once. */
  async kill(): Promise<void> {
    const deadline = Date.now() + GONE_WITHIN_MS;
    for (let pids = this.processes(); pids.length > 0; pids = this.processes()) {
      if (Date.now() > deadline) throw new Error(`processes do not end: ${pids.join(", ")}`);
      for (const pid of pids) signal(pid);
      await after(20);
    }
    this.#started.clear();
  }

  /** Their share of the memory, in MB. */
  residentMb(): number {
    let kilobytes = 0;
    for (const pid of this.processes())
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(fileOf(pid, "smaps_rollup"))?.[1] ?? 0);
    return Math.round(kilobytes / 102.4) / 10;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function signal(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function fileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    // It ended while we were reading.
    return "";
  }
}

const environmentOf = (pid: number) => fileOf(pid, "environ");

/** Undefined for a process that has ended and waits to be collected. */
function parentOf(pid: number): number | undefined {
  const [state, parent] = fileOf(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  return parent === undefined || state === "Z" ? undefined : Number(parent);
}

/** Waits until a server says that it is ready; what it says later is read and thrown away. */
export function saidReady(child: ChildProcess, output: Readable | null, ready: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    output?.on("data", (text) => {
      said = (said + text).slice(-SAID_MAX);
      if (ready.test(said)) resolve();
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`it did not start: ${said}`)));
  });
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
