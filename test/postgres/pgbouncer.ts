/**
 * A PgBouncer of its own in front of one database, in a temporary folder and on a free port. It refuses to run as
 * root, so that it then runs as "nobody".
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "../../bench/store/free-port.ts";
import { findPgbouncer } from "../fixtures/programs.ts";

const START_TIMEOUT_MS = 60_000;

export class Pgbouncer {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.#process = child;
    this.#folder = folder;
  }

  /** @param settings lines of its section [pgbouncer] */
  static async start(databaseUrl: string, settings: readonly string[]): Promise<Pgbouncer> {
    const program = findPgbouncer();
    if (program === undefined) throw new Error("there is no pgbouncer");
    const { port: serverPort, pathname, username } = new URL(databaseUrl);
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "sideband-pgbouncer-"));
    chmodSync(folder, 0o755);
    const file = join(folder, "pgbouncer.ini");
    const name = pathname.slice(1);
    const lines = [
      "[databases]",
      `${name} = host=127.0.0.1 port=${serverPort} dbname=${name} user=${username}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      ...settings,
    ];
    writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o644 });
    const asNobody = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
    const child = spawn(program, ["-q", ...asNobody, file], { stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      log = (log + chunk).slice(-10_000);
    });
    const url = databaseUrl.replace(`:${serverPort}/`, `:${port}/`);
    for (const endMs = performance.now() + START_TIMEOUT_MS; !(await answers(port)); await setTimeout(20)) {
      if (performance.now() < endMs && child.exitCode === null) continue;
      child.kill("SIGKILL");
      throw new Error(`PgBouncer did not start:\n${log}`);
    }
    return new Pgbouncer(url, child, folder);
  }

  async end(): Promise<void> {
    const gone = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await gone;
    rmSync(this.#folder, { recursive: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
