/** Caddy with the Caddyfile of deploy/, in front of nodes on this machine. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findCaddy } from "../fixtures/programs.ts";

const FILE = fileURLToPath(new URL("../../deploy/Caddyfile", import.meta.url));
const START_TIMEOUT_MS = 30_000;

export class Caddy {
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string) {
    this.#process = child;
    this.#folder = folder;
  }

  /** @param settings NODES, SITE_ADDRESS and OPERATOR_ADDRESS, as in the Caddyfile */
  static async start(settings: Record<string, string>): Promise<Caddy> {
    const program = findCaddy();
    if (program === undefined) throw new Error("there is no caddy");
    const folder = mkdtempSync(join(tmpdir(), "sideband-caddy-"));
    const child = spawn(program, ["run", "--config", FILE, "--adapter", "caddyfile"], {
      // Its certificates are its own: nothing is added to those of the machine.
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        XDG_DATA_HOME: folder,
        XDG_CONFIG_HOME: folder,
        ...settings,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    await new Promise<void>((resolve, reject) => {
      const fail = () => reject(new Error(`caddy did not start:\n${log}`));
      setTimeout(fail, START_TIMEOUT_MS).unref();
      child.once("exit", fail);
      child.stderr?.on("data", (chunk: Buffer) => {
        log = (log + chunk).slice(-20_000);
        if (log.includes("serving initial configuration")) resolve();
      });
    });
    return new Caddy(child, folder);
  }

  async end(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
