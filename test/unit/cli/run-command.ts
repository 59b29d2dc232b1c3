/** A command in this process, for tests: what it printed, in a folder of its own, and beside an owner of that folder. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../../src/cli/main.ts";
import { readConfig } from "../../../src/config.ts";
import { startService } from "../../../src/main/service.ts";
import { blockWorkerBundle } from "../../fixtures/block-worker-bundle.ts";

export interface Printed {
  status: number;
  out: string;
  err: string;
}

/** Runs a command in this process; its exit status and what it printed. */
export async function run(...args: string[]): Promise<Printed> {
  const captured = { out: "", err: "" };
  const { log, error } = console;
  console.log = (line) => {
    captured.out += `${line}\n`;
  };
  console.error = (line) => {
    captured.err += `${line}\n`;
  };
  try {
    return { status: await main(args), ...captured };
  } finally {
    console.log = log;
    console.error = error;
  }
}

export async function withData(check: (data: string, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-cli-"));
  try {
    await check(join(folder, "data"), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** While the folder has an owner, whose threads run the sources. */
export async function besideOwner<T>(
  data: string,
  work: () => Promise<T>,
  settings: Record<string, string> = {},
): Promise<T> {
  const config = readConfig({ SIDEBAND_DATA: data, SIDEBAND_LOG_LEVEL: "silent", ...settings });
  const { close } = await startService(config, {
    tcp: false,
    warm: false,
    blockWorker: blockWorkerBundle(),
  });
  // A process that only waits for its own threads would end.
  const alive = setInterval(() => {}, 1_000);
  return work().finally(() => {
    clearInterval(alive);
    return close();
  });
}
