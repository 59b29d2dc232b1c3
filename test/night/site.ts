/** What the operator of the night runs: nodes of the built service, its commands, and the lines that nodes print. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import connect from "postgres";
import { PostgresServer } from "../../bench/store/postgres-server.ts";
import { builtSideband } from "../agents/built.ts";
import { type ServerProcess, startServerProcess } from "../fault/server-process.ts";
import { checkLines } from "./lines.ts";

export type StoreName = "embedded" | "postgres";

export interface Site {
  readonly store: StoreName;
  readonly folder: string;
  readonly postgres: PostgresServer | undefined;
  /** The settings of every node and of every command. */
  settings: Record<string, string>;
  /** The script of the release that is installed. */
  release: string;
  readonly nodes: ServerProcess[];
  start(more?: Record<string, string>): Promise<ServerProcess>;
  stop(node: ServerProcess, signal?: NodeJS.Signals): Promise<number | string>;
  /** Runs a command and returns what it prints; it must succeed. */
  sideband(...args: string[]): Promise<string>;
  /** What a command prints that must end with the exit status 1. */
  refused(...args: string[]): Promise<string>;
  end(): Promise<void>;
  /** Gives the settings another login of the database, with the same rights. */
  changeLogin(): Promise<void>;
  endOldLogin(): Promise<void>;
  /** Holds all that nodes have printed against what pages say; the number of lines. */
  checkLines(): number;
}

const OLD_KEY = "a1".repeat(32);
export const ADMIN_TOKEN = "token-of-the-night-0";

/** @param parent where its folder, and that of its database, is made */
export async function openSite(store: StoreName, parent = tmpdir()): Promise<Site> {
  const folder = mkdtempSync(join(parent, "sideband-night-"));
  const postgres = store === "postgres" ? await startDatabase(parent) : undefined;
  const url = await postgres?.createDatabase("night");
  const logins = url === undefined ? undefined : await Logins.make(url);
  const nodes: ServerProcess[] = [];
  const all: ServerProcess[] = [];
  const site: Site = {
    store,
    folder,
    postgres,
    release: builtSideband(),
    nodes,
    settings: {
      SIDEBAND_DATA: join(folder, "data"),
      SIDEBAND_ERASURES: join(folder, "erasures.list"),
      SIDEBAND_MASTER_KEY: `1:${OLD_KEY}`,
      SIDEBAND_ADMIN_TOKEN: ADMIN_TOKEN,
      ...(logins === undefined ? {} : { SIDEBAND_DATABASE_URL: logins.url, SIDEBAND_DATABASE_POOL: "4" }),
    },
    async changeLogin() {
      if (logins !== undefined) site.settings.SIDEBAND_DATABASE_URL = await logins.change();
    },
    async endOldLogin() {
      await logins?.endOld();
    },
    async start(more = {}) {
      const node = await startServerProcess({ ...site.settings, ...more }, "", site.release);
      nodes.push(node);
      all.push(node);
      return node;
    },
    async stop(node, signal = "SIGTERM") {
      nodes.splice(nodes.indexOf(node), 1);
      node.process.kill(signal);
      return node.ended;
    },
    async sideband(...args) {
      return (await run(site, args)).stdout;
    },
    async refused(...args) {
      const failed = await run(site, args).then(
        () => undefined,
        (error: { code: number; stdout: string; stderr: string }) => error,
      );
      assert.equal(failed?.code, 1, args.join(" "));
      return failed.stdout + failed.stderr;
    },
    async end() {
      for (const node of [...nodes]) await site.stop(node, "SIGKILL");
      await postgres?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
    checkLines: () => all.reduce((sum, node) => sum + checkLines(node.output()), 0),
  };
  return site;
}

/** Its folder is where temporary ones are. */
async function startDatabase(parent: string): Promise<PostgresServer> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = parent;
  try {
    return await PostgresServer.start();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** Logins of a database as docs/OPERATIONS.md makes them: one role owns it, and logins come and go. */
class Logins {
  readonly #server: string;
  #count = 1;

  private constructor(server: string) {
    this.#server = server;
  }

  static async make(server: string): Promise<Logins> {
    const logins = new Logins(server);
    await logins.#run("CREATE ROLE sideband_owner NOLOGIN; ALTER DATABASE night OWNER TO sideband_owner");
    await logins.#add();
    return logins;
  }

  get url(): string {
    return Object.assign(new URL(this.#server), { username: `sideband_${this.#count}` }).href;
  }

  async change(): Promise<string> {
    this.#count++;
    await this.#add();
    return this.url;
  }

  async endOld(): Promise<void> {
    await this.#run(`ALTER ROLE sideband_${this.#count - 1} NOLOGIN`);
  }

  #add(): Promise<void> {
    const name = `sideband_${this.#count}`;
    return this.#run(
      `CREATE ROLE ${name} LOGIN IN ROLE sideband_owner; ALTER ROLE ${name} SET role = 'sideband_owner'`,
    );
  }

  async #run(statements: string): Promise<void> {
    const sql = connect(this.#server, { max: 1, onnotice: () => {} });
    await sql.unsafe(statements);
    await sql.end();
  }
}

function run({ release, settings, folder }: Site, args: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: folder, SIDEBAND_BLOCK_WORKERS: "1", ...settings };
  return promisify(execFile)(process.execPath, [release, ...args], { env });
}
