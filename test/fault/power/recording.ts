/**
 * A process whose changes to the files below a folder are recorded, with their bytes, in order (recorder.c). The
 * program itself adds marks to the log: what it is about to write, and what it has acknowledged.
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mark } from "./promises.ts";

export type LogRecord =
  /** A file or folder was opened, and made where it was missing. */
  | { readonly kind: "open"; readonly path: string; readonly inode: string; readonly folder: boolean }
  | {
      readonly kind: "write";
      readonly inode: string;
      readonly offset: number;
      /** On disk when the call returned. */
      readonly synced: boolean;
      readonly data: Buffer;
    }
  | { readonly kind: "truncate"; readonly inode: string; readonly size: number }
  | { readonly kind: "sync"; readonly inode: string }
  | { readonly kind: "mkdir"; readonly path: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "rename" | "link"; readonly path: string; readonly to: string }
  | { readonly kind: "mark"; readonly mark: Mark };

const NEWLINE = 10;
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Whether there is a C compiler, and a loader that puts a library before the C library. */
export function canRecord(): boolean {
  return process.platform === "linux" && spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;
}

/** Compiles the recorder into a folder. */
export function compileRecorder(folder: string): string {
  const library = join(folder, "recorder.so");
  const options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"];
  const { status, stderr } = spawnSync("cc", [
    ...options,
    "-o",
    library,
    file("recorder.c"),
    "-ldl",
    "-lpthread",
  ]);
  if (status !== 0) throw new Error(`recorder.c cannot be compiled: ${stderr}`);
  return library;
}

export interface RecordOptions {
  readonly recorder: string;
  readonly program: string;
  /** The folder whose files are recorded. */
  readonly home: string;
  /** The log; what is there already stays. */
  readonly log: string;
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** The process is killed after that many records. */
  readonly killAfter?: number | undefined;
}

/** Runs the program. Resolves when it has ended well, or as killed as it should be. */
export async function record(options: RecordOptions): Promise<void> {
  const { recorder, program, home, log, args, killAfter = 0 } = options;
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      ...process.env,
      LD_PRELOAD: recorder,
      RECORD_BELOW: home,
      RECORD_TO: log,
      RECORD_KILL: String(killAfter),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [status, signal] = (await once(child, "close")) as [number | null, string | null];
  if (status === 0 || (killAfter > 0 && signal === "SIGKILL")) return;
  throw new Error(`${args.join(" ")} ended with ${status ?? signal}: ${errors}`);
}

export function readLog(path: string): LogRecord[] {
  const bytes = readFileSync(path);
  const records: LogRecord[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    const fields = bytes.toString("utf8", start, end).split("\t");
    const length = Number(fields.pop());
    start = end + 1 + length;
    records.push(recordOf(fields, bytes.subarray(end + 1, start)));
  }
  return records;
}

function recordOf([kind, first, second, third]: string[], data: Buffer): LogRecord {
  switch (kind) {
    case "open":
      return { kind, path: first, inode: second, folder: third === "folder" };
    case "write":
      return { kind, inode: first, offset: Number(second), synced: third === "1", data };
    case "truncate":
      return { kind, inode: first, size: Number(second) };
    case "sync":
      return { kind, inode: first };
    case "mkdir":
    case "remove":
      return { kind, path: first };
    case "rename":
    case "link":
      return { kind, path: first, to: second };
    case "mark":
      return { kind, mark: JSON.parse(first) };
    default:
      throw new Error(`${kind} is not a record`);
  }
}
