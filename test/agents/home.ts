/** The built command in a home folder of its own, whose owner ends with it. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endOwner } from "./host.ts";
import { callCommand, type Finished } from "./loaded-command.ts";

export interface Home {
  /** The folder that is used where none is named. */
  readonly data: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run: (...args: string[]) => Promise<Finished>;
  readonly runIn: (folder: string, ...args: string[]) => Promise<Finished>;
  end(): Promise<void>;
}

export function openHome(settings: NodeJS.ProcessEnv = {}): Home {
  const home = mkdtempSync(join(tmpdir(), "sideband-terminal-"));
  const data = join(home, ".sideband", "data");
  const env = { PATH: process.env.PATH ?? "", HOME: home, ...settings };
  const runIn = (cwd: string, ...args: string[]) => callCommand({ args, env, cwd });
  return {
    data,
    env,
    run: (...args) => runIn(home, ...args),
    runIn,
    async end() {
      for (const folder of [data, join(home, "notes")]) await endOwner(folder);
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

export async function withHome(
  work: (home: Home) => Promise<void>,
  settings: NodeJS.ProcessEnv = {},
): Promise<void> {
  const home = openHome(settings);
  await work(home).finally(home.end);
}
