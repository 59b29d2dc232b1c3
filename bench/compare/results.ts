/**
 * The file of results: one entry for each run, measure and peer, so that a run that was cut off goes on where it was. It is the
 * only source of the numbers in README.md, docs/BENCHMARKS.md and the page /benchmarks.
 */

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

export type Result = Readonly<Record<string, unknown>>;

export interface Entry {
  readonly run: number;
  readonly measure: string;
  readonly peer: string;
  /** The day, and the load of the machine over the last minute when the measure began. */
  readonly day: string;
  readonly load: number;
  readonly seconds: number;
  /** The commit that was measured, with a plus where files were changed; of the first entries, the one that brought them. */
  readonly commit: string;
  readonly result: Result;
}

export interface Results {
  readonly machine: Readonly<Record<string, string>>;
  readonly peers: Readonly<Record<string, Result>>;
  readonly notRun: Readonly<Record<string, string>>;
  readonly entries: Entry[];
}

/** One program writes a file of results. What one that was killed has left does not count. */
export function claim(path: string): void {
  const lock = `${path}.lock`;
  const other = existsSync(lock) ? readFileSync(lock, "utf8") : undefined;
  if (other !== undefined && existsSync(`/proc/${other}`))
    throw new Error(`process ${other} is writing ${path}`);
  rmSync(lock, { force: true });
  writeFileSync(lock, String(process.pid), { flag: "wx" });
  process.once("exit", () => rmSync(lock, { force: true }));
}

export function readResults(path: string): Results | undefined {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

export function writeResults(path: string, results: Results): void {
  const { entries, ...rest } = results;
  const sorted = [...entries].sort((a, b) => order(a).localeCompare(order(b)));
  const lines = sorted.map((entry) => `    ${JSON.stringify(entry)}`).join(",\n");
  const head = JSON.stringify(rest, null, 2).slice(0, -2);
  writeFileSync(`${path}.new`, `${head},\n  "entries": [\n${lines}\n  ]\n}\n`);
  renameSync(`${path}.new`, path);
}

const order = ({ run, measure, peer }: Entry) => `${run} ${measure} ${peer}`;
