/**
 * The folder of a peer's data, and the processes that work on it: started here, known by a mark in their environment or as
 * children of one that has it, and ended together, as a machine ends them. The mark names the program too, so that the next
 * run finds what one that was killed has left.
 */

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as after } from "node:timers/promises";

const MARK = "COMPARE_MARK";
const FOLDER = "sideband-compare-";
const GONE_WITHIN_MS = 10_000;
const SAID_MAX = 4_000;
const PORTS = { first: 24_000, count: 900 };

export class Place {
  readonly folder: string;
  /** What a peer has to find again after a restart: a port, a key. */
  readonly notes = new Map<string, string>();
  readonly #mark = `${process.pid}-${randomUUID()}`;
  readonly #started = new Set<number>();
  readonly #more: Readonly<Record<string, string>>;
  #isClosed = false;

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
    if (this.#isClosed) throw new Error("the measure has ended");
    const { PATH = "", TMPDIR = "/tmp" } = process.env;
    // Files are changed by calls of the C library alone, which the recorder sees.
    const plain = { PATH, TMPDIR, HOME: this.folder, UV_USE_IO_URING: "0", LANG: "C.UTF-8" };
    return { ...plain, ...this.#more, [MARK]: this.#mark };
  }

  spawn(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const env = { ...this.env, ...options.env };
    const child = spawn(command, args, { stdio: "ignore", cwd: this.folder, ...options, env });
    if (child.pid !== undefined) this.#started.add(child.pid);
    return child;
  }

  /** Those with the mark or started here, and their children. */
  processes(): number[] {
    return withChildren((pid) => this.#started.has(pid) || markOf(pid) === this.#mark);
  }

  /** Ends all of them at once. */
  async kill(): Promise<void> {
    await killAll(() => this.processes());
    this.#started.clear();
  }

  /** Nothing more is started here. */
  close(): void {
    this.#isClosed = true;
  }

  /** Their share of the memory, in MB. */
  residentMb(): number {
    let kilobytes = 0;
    for (const pid of this.processes())
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(fileOf(pid, "smaps_rollup"))?.[1] ?? 0);
    return Math.round(kilobytes / 102.4) / 10;
  }

  async remove(): Promise<void> {
    this.close();
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The temporary folder of a measure. */
export function newFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `${FOLDER}${process.pid}-`)));
}

/** Ends and removes what a run that was killed has left. */
export async function removeLeftovers(): Promise<void> {
  const runs = (program: number) => fileOf(program, "cmdline").includes("compare.ts");
  const isLeft = (mark: string) => /^\d+-/.test(mark) && !runs(Number.parseInt(mark, 10));
  await killAll(() => withChildren((pid) => isLeft(markOf(pid))));
  for (const name of readdirSync(tmpdir()))
    if (name.startsWith(FOLDER) && isLeft(name.slice(FOLDER.length)))
      rmSync(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 5 });
}

async function killAll(processes: () => number[]): Promise<void> {
  const deadline = Date.now() + GONE_WITHIN_MS;
  for (let pids = processes(); pids.length > 0; pids = processes()) {
    if (Date.now() > deadline) throw new Error(`processes do not end: ${pids.join(", ")}`);
    for (const pid of pids) signal(pid);
    await after(20);
  }
}

/** The processes that are meant, and their children. */
function withChildren(isMeant: (pid: number) => boolean): number[] {
  const found = new Set<number>();
  const parents = new Map<number, number>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    const parent = parentOf(pid);
    if (parent === undefined) continue;
    parents.set(pid, parent);
    if (pid !== process.pid && isMeant(pid)) found.add(pid);
  }
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
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

function markOf(pid: number): string {
  const start = `${MARK}=`;
  const found = fileOf(pid, "environ")
    .split("\0")
    .find((variable) => variable.startsWith(start));
  return found?.slice(start.length) ?? "";
}

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
