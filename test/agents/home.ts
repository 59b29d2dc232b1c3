/** The built command in a home folder of its own, whose owner ends with it. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sidebandCommand } from "../../src/cli/printed-commands.ts";
import { endOwner } from "./host.ts";
import { callCommand, type Finished } from "./loaded-command.ts";

export interface Home {
  /** The folder that is used where none is named. */
  readonly data: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run: (...args: string[]) => Promise<Finished>;
  readonly runIn: (folder: string, ...args: string[]) => Promise<Finished>;
  /** Runs what was printed: a shell takes it apart, and each command is called without a process of its own. */
  readonly typed: (command: string, folder?: string) => Promise<Finished>;
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
    typed: async (command, folder = home) => {
      const called = command.replaceAll(`${sidebandCommand()} `, "words ");
      const script = `words() { printf '%s\\0' "$@"; echo; }; ${called}`;
      const text = execFileSync("/bin/sh", ["-c", script], { env, cwd: folder, encoding: "utf8" });
      let finished: Finished = { status: -1, out: "", err: `no command in ${command}` };
      for (const line of text.split("\n").slice(0, -1)) {
        finished = await runIn(folder, ...line.split("\0").slice(0, -1));
        if (finished.status !== 0) break;
      }
      return finished;
    },
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
