/**
 * Runs tests in several processes, five at a time, and prints their output one after the other, the first one's as it
 * comes; the skipped tests with their reasons and the counts of all of them are the last lines. A process that ends
 * without its counts, or badly although no test failed, is a failure of its own, and so is a skipped test where CI is
 * set. Each is the leader of a group of processes that ends with it, so that what
 * its tests started does not outlive them.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statfsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { typeErrors } from "./type-check.ts";

/** What one process runs; `env` is added to its environment. */
export interface TestProcess {
  readonly name: string;
  readonly files: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** By the names that node:test gives them: tests, pass, fail, … */
type Counts = Map<string, number>;

/** More than twice the cores of a small machine: more than half of a test is waiting. */
const AT_ONCE = 5;
/** All processes together. Each has a limit of its own too, which names the tests that are running. */
const RUN_LIMIT_MS = 60 * 60_000;
/** A process that does not end when it is asked to is killed after this. */
const STOP_TIMEOUT_MS = 10_000;
/** A file system in memory, where there is one, and the room that the tests need there. */
const MEMORY_FOLDER = "/dev/shm";
const MEMORY_BYTES_MIN = 2 ** 31;
const SCRIPT = fileURLToPath(new URL("test-process.ts", import.meta.url));
/** The closing lines of node:test's reporter: these counts, then the duration. */
const COUNTED = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"];
/** A skipped test in its report: the name, the duration, the reason. */
const SKIPPED = /^\s*﹣ (.*) \([\d.]+ms\) # (.*)$/;
const COUNT = new RegExp(`^ℹ (${COUNTED.join("|")}|duration_ms) ([\\d.]+)$`);

/**
 * Runs the tests and, meanwhile, the type check of a project: a type error ends the run, and so do SIGINT, SIGTERM and
 * the time limit, also where a test never gives way. Sets the exit status.
 */
export async function runTests(
  processes: readonly TestProcess[],
  project: string,
  limitMs = RUN_LIMIT_MS,
  stopTimeoutMs = STOP_TIMEOUT_MS,
  atOnce = AT_ONCE,
): Promise<void> {
  const stop = new AbortController();
  const limit = () => stop.abort(`The run took longer than ${limitMs / 1000} s.`);
  setTimeout(limit, limitMs).unref();
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => stop.abort(`The run was ended by ${signal}.`));
  const checking = typeErrors(project, stop.signal).then((errors) => {
    if (errors !== "") stop.abort(`The types are wrong:\n${errors}`);
  });
  const skipped: string[] = [];
  const counts = await runProcesses(processes, stop.signal, stopTimeoutMs, skipped, atOnce);
  await checking;
  if (stop.signal.aborted) {
    console.log(`✖ ${stop.signal.reason}`);
    addFailure(counts);
  }
  const inCi = Boolean(process.env.CI);
  for (const line of skipped) console.log(`${inCi ? "✖" : "﹣"} Skipped: ${line}`);
  if (inCi && skipped.length > 0) {
    console.log("✖ Tests were skipped, and CI is set.");
    addFailure(counts);
  }
  counts.set("duration_ms", performance.now());
  for (const [name, count] of counts) console.log(`ℹ ${name} ${count}`);
  if (hasFailed(counts)) process.exitCode = 1;
}

/** Resolves with the counts of all, and adds to `skipped` which tests were skipped and why. When `stop` is aborted, what runs is ended and nothing else is started. */
async function runProcesses(
  processes: readonly TestProcess[],
  stop: AbortSignal,
  stopTimeoutMs: number,
  skipped: string[],
  atOnce: number,
): Promise<Counts> {
  const totals: Counts = new Map(COUNTED.map((name) => [name, 0]));
  const held: string[][] = processes.map(() => []);
  const ended = new Set<number>();
  let printed = 0;
  let next = 0;
  const takeTurns = async () => {
    while (next < processes.length && !stop.aborted) {
      const index = next;
      next += 1;
      const print = (line: string) => (index === printed ? console.log(line) : held[index].push(line));
      const printAndNote = (line: string) => {
        print(line);
        const [, test, reason] = SKIPPED.exec(line) ?? [];
        if (test !== undefined) skipped.push(`${processes[index].name}: ${test}: ${reason}`);
      };
      print(`── ${processes[index].name}`);
      const counts = await runProcess(processes[index], printAndNote, stop, stopTimeoutMs);
      for (const [name, count] of counts) add(totals, name, count);
      ended.add(index);
      while (ended.has(printed)) {
        printed += 1;
        for (const line of held[printed] ?? []) console.log(line);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, takeTurns));
  return totals;
}

async function runProcess(
  { name, files, env }: TestProcess,
  print: (line: string) => void,
  stop: AbortSignal,
  stopTimeoutMs: number,
): Promise<Counts> {
  const child = spawn(process.execPath, ["--import", "tsx", "--test-reporter=spec", SCRIPT, ...files], {
    env: { ...temporaryFolder(), ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const counts: Counts = new Map();
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (line) => {
      const [, key, count] = COUNT.exec(line) ?? [];
      if (key === undefined) print(line);
      else counts.set(key, Number(count));
    });
  }
  const askToEnd = () => {
    child.kill("SIGTERM");
    setTimeout(killGroup, stopTimeoutMs, child).unref();
  };
  stop.addEventListener("abort", askToEnd);
  child.once("exit", () => killGroup(child));
  const [status, signal] = (await once(child, "close")) as [number | null, string | null];
  stop.removeEventListener("abort", askToEnd);
  const complete = counts.has("duration_ms");
  if (!stop.aborted && (!complete || (status !== 0 && !hasFailed(counts)))) {
    const end = signal === null ? `with the exit status ${status}` : `by ${signal}`;
    print(`✖ The test process "${name}" ended ${end}${complete ? "" : " before its tests had ended"}.`);
    addFailure(counts);
  }
  return counts;
}

/** In memory, where there is room: a busy disk keeps tests waiting, and what it has synced is asked in test/fault/power. */
function temporaryFolder(): Record<string, string> {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_BYTES_MIN ? { TMPDIR: MEMORY_FOLDER } : {};
  } catch {
    return {};
  }
}

function hasFailed(counts: Counts): boolean {
  return ["fail", "cancelled"].some((name) => (counts.get(name) ?? 0) > 0);
}

/** What went wrong beside the tests counts as one of them. */
function addFailure(counts: Counts): void {
  for (const name of ["tests", "fail"]) add(counts, name, 1);
}

function add(counts: Counts, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
