/** Redis of Debian with every write synced (appendfsync always); each label is a key. */

import { execFileSync } from "node:child_process";
import { setTimeout as after } from "node:timers/promises";
import type { Memory, Peer } from "../memory.ts";
import { load } from "../packages.ts";
import { freePort, saidReady } from "../place.ts";

interface Multi {
  set(key: string, value: string): Multi;
  exec(): Promise<unknown[] | null>;
}

interface Client {
  set(key: string, value: string): Promise<unknown>;
  get(key: string): Promise<string | null>;
  mget(keys: string[]): Promise<(string | null)[]>;
  keys(pattern: string): Promise<string[]>;
  del(key: string): Promise<unknown>;
  watch(key: string): Promise<unknown>;
  multi(): Multi;
  bgrewriteaof(): Promise<unknown>;
  info(section: string): Promise<string>;
  duplicate(): Client;
  disconnect(): void;
}

export const peer: Peer = {
  name: "Redis",
  group: "store",
  packages: ["ioredis@6.0.0"],
  debian: ["redis-server", "redis-tools", "liblzf1", "libjemalloc2"],
  durability: "appendfsync always",
  adds: "WATCH, MULTI, again where somebody was faster",
  takesMany: true,
  compaction: "BGREWRITEAOF",
  repair: "redis-check-aof --fix",
  mend: async (place) => {
    const manifest = `${place.data}/appendonlydir/appendonly.aof.manifest`;
    execFileSync("redis-check-aof", ["--fix", manifest], { input: "y\n", stdio: "pipe" });
  },
  version: () =>
    /v=(\S+)/.exec(execFileSync("redis-server", ["--version"], { encoding: "utf8" }))?.[1] ?? "unknown",
  async start(place) {
    const port = place.notes.get("port") ?? String(await freePort());
    place.notes.set("port", port);
    const settings = ["--port", port, "--bind", "127.0.0.1", "--dir", place.data, "--save", ""];
    const server = place.spawn(
      "redis-server",
      [...settings, "--appendonly", "yes", "--appendfsync", "always"],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    await saidReady(server, server.stdout, /Ready to accept connections/);
  },
  async open(place): Promise<Memory> {
    const { Redis } = await load<{ Redis: new (port: number, options: object) => Client }>("ioredis");
    const client = new Redis(Number(place.notes.get("port")), { maxRetriesPerRequest: 1 });
    (client as unknown as NodeJS.EventEmitter).on("error", () => {});
    return {
      write: async (label, value) => {
        await client.set(label, value);
      },
      read: async (label) => (await client.get(label)) ?? undefined,
      erase: async (label) => {
        await client.del(label);
      },
      add: async (label, item) => {
        // What is watched is watched for a connection.
        const own = client.duplicate();
        for (let done: unknown = null; done === null; ) {
          await own.watch(label);
          const before = await own.get(label);
          const value = before === null ? item : `${before}; ${item}`;
          done = await own.multi().set(label, value).exec();
        }
        own.disconnect();
      },
      index: async () => {
        const keys = (await client.keys("*")).sort();
        const values = keys.length === 0 ? [] : await client.mget(keys);
        return keys.map((key, i) => `${key}: ${values[i]}`).join("\n");
      },
      compact: async () => {
        await client.bgrewriteaof();
        do await after(50);
        while (!/aof_rewrite_in_progress:0/.test(await client.info("persistence")));
      },
      close: async () => client.disconnect(),
    };
  },
};
