/** The built command in a home folder of its own, whose owner is ended with the test. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtSideband } from "./built.ts";
import { endOwner } from "./host.ts";

export interface Home {
  /** The folder that is used where none is named. */
  readonly data: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run: (...args: string[]) => Promise<Finished>;
  readonly runIn: (folder: string, ...args: string[]) => Promise<Finished>;
}

export interface Finished {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export async function withHome(
  work: (home: Home) => Promise<void>,
  settings: NodeJS.ProcessEnv = {},
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "sideband-terminal-"));
  const data = join(home, ".sideband", "data");
  const env = { PATH: process.env.PATH ?? "", HOME: home, ...settings };
  const runIn = (cwd: string, ...args: string[]) =>
    new Promise<Finished>((resolve) => {
      execFile(process.execPath, [builtSideband(), ...args], { env, cwd }, (error, out, err) =>
        resolve({ status: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  try {
    await work({ data, env, run: (...args) => runIn(home, ...args), runIn });
  } finally {
    for (const folder of [data, join(home, "notes")]) await endOwner(folder);
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}
