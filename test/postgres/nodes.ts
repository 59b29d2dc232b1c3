/** Nodes for tests: processes that serve one database, with the calls that the tests make of them. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tier } from "../../src/base/accounts.ts";
import { systemClock } from "../../src/base/clock.ts";
import { KeyManager } from "../../src/memory/key-manager.ts";
import { builtSideband } from "../agents/built.ts";
import { bundledProgram } from "../fixtures/bundled-program.ts";
import { openStore } from "./server.ts";

const PROGRAM = new URL("./node-process.ts", import.meta.url);

export interface NodeAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at answers of any shape.
  readonly body: any;
}

export interface TestNode {
  readonly url: string;
  readonly process: ChildProcess;
  call(method: string, path: string, key?: string, body?: unknown): Promise<NodeAnswer>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export class Nodes {
  readonly #folder = mkdtempSync(join(tmpdir(), "sideband-nodes-"));
  readonly #masterKey = randomBytes(32).toString("hex");
  readonly #databaseUrl: string;
  readonly #nodes: TestNode[] = [];

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl;
  }

  /** @param databaseUrl another address of the database */
  async start(databaseUrl = this.#databaseUrl, settings: NodeJS.ProcessEnv = {}): Promise<TestNode> {
    builtSideband();
    const child = spawn(process.execPath, [await bundledProgram(PROGRAM)], {
      env: {
        PATH: process.env.PATH,
        SIDEBAND_PORT: "0",
        SIDEBAND_DATA: this.#folder,
        SIDEBAND_DATABASE_URL: databaseUrl,
        SIDEBAND_DATABASE_POOL: "4",
        SIDEBAND_MASTER_KEY: this.#masterKey,
        SIDEBAND_LOG_LEVEL: "fatal",
        ...settings,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await Promise.race([
      once(child.stdout!, "data"),
      once(child, "exit").then(([code]) => {
        throw new Error(`a node ended with ${code} instead of starting`);
      }),
    ])) as [Buffer];
    const url = line.toString().trim();
    const node: TestNode = {
      url,
      process: child,
      async call(method, path, key, body) {
        const response = await fetch(url + path, {
          method,
          headers: {
            ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
            ...(body === undefined ? {} : { "content-type": "application/json" }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: response.status, headers: response.headers, body: await response.json() };
      },
      async stop(signal = "SIGTERM") {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, "exit");
        child.kill(signal);
        await ended;
      },
    };
    this.#nodes.push(node);
    return node;
  }

  async end(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop("SIGKILL")));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A key of the account "acme", made as the operator makes it. */
export async function makeKey(databaseUrl: string, tier: Tier): Promise<{ key: string; id: string }> {
  const store = await openStore(databaseUrl);
  try {
    const { key, record } = await new KeyManager(store, systemClock).create({
      account: "acme",
      tier,
      note: "",
    });
    return { key, id: record.id };
  } finally {
    await store.close();
  }
}
