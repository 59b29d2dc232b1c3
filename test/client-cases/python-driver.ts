/** The Python client, in a process of its own that python-driver.py runs: a line of JSON for each request and answer. */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { CaseCall } from "./case.ts";
import type { ClientDriver, Ending, Opening, Outcome } from "./driver.ts";

const SCRIPT = fileURLToPath(new URL("./python-driver.py", import.meta.url));
const CLIENT = fileURLToPath(new URL("../../python", import.meta.url));

/** Why the Python client cannot be run here; undefined if it can. */
export function noPython(): string | undefined {
  const check = "import sys; sys.exit(sys.version_info < (3, 9))";
  const isThere = spawnSync("python3", ["-c", check], { stdio: "ignore" }).status === 0;
  return isThere ? undefined : "no python3 of 3.9 or later on this machine";
}

export class PythonDriver implements ClientDriver {
  readonly client = "python";
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const env = { ...process.env, PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: "1" };
    this.#child = spawn("python3", [SCRIPT], { env, stdio: "pipe" });
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  open(opening: Opening): Promise<Outcome> {
    return this.#ask({ do: "open", ...opening }) as Promise<Outcome>;
  }

  calls(together: readonly CaseCall[]): Promise<readonly Outcome[]> {
    return this.#ask({ do: "calls", calls: together }) as Promise<readonly Outcome[]>;
  }

  async moveClock(ms: number): Promise<void> {
    await this.#ask({ do: "move", ms });
  }

  close(): Promise<Ending> {
    return this.#ask({ do: "close" }) as Promise<Ending>;
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await new Promise((resolve) => this.#child.once("close", resolve));
  }

  async #ask(request: object): Promise<unknown> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the Python process has ended");
    return JSON.parse(value);
  }
}
