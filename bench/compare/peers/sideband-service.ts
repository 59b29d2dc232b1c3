/** Sideband as a service on its embedded store, with its own client over HTTP. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_PATH, packageVersion } from "../../../src/main/package.ts";
import { Sideband, SidebandError } from "../../../src/sdk/index.ts";
import { counted } from "../calls.ts";
import { type Memory, type Peer, WRITER } from "../memory.ts";
import { freePort, type Place, saidReady } from "../place.ts";
import { runSideband } from "../sideband-command.ts";

const USER = "ada";
const UNKNOWN = ["fact_not_found", "unknown_label"];
const BY_AGENT = { newLabel: "certain", writtenBy: WRITER } as const;

export const peer: Peer = {
  name: "Sideband (service)",
  group: "store",
  packages: ["sideband"],
  durability: "synced before the answer",
  adds: "an encode with If-Match, again where somebody was faster",
  takesMany: true,
  signs: "by the caller, for each value",
  compaction: "sideband compact",
  version: packageVersion,
  async start(place) {
    const port = place.notes.get("port") ?? String(await freePort());
    place.notes.set("port", port);
    const env = { SIDEBAND_DATA: place.data, SIDEBAND_PORT: port, SIDEBAND_LOG_LEVEL: "fatal" };
    const child = place.spawn(process.execPath, [COMMAND_PATH, "serve"], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    await saidReady(child, child.stdout, /listening on/);
  },
  async open(place) {
    const baseUrl = `http://127.0.0.1:${place.notes.get("port")}`;
    // The first start writes the key of its account there.
    const apiKey = readFileSync(join(place.data, "first.key"), "utf8").trim();
    const { client: memory, calls } = counted(new Sideband<string>({ apiKey, baseUrl }));
    return { ...client(memory, place), calls: async () => calls() };
  },
};

function client(memory: Sideband<string>, place: Place): Memory {
  const known = async (label: string) => {
    try {
      return await memory.decode(USER, label);
    } catch (error) {
      if (error instanceof SidebandError && UNKNOWN.includes(error.code)) return undefined;
      throw error;
    }
  };
  return {
    write: async (label, value) => {
      await memory.encode(USER, label, value, BY_AGENT);
    },
    read: async (label) => (await known(label))?.value,
    erase: async (label) => {
      await memory.forget(USER, label);
    },
    add: async (label, item) => {
      for (;;) {
        const before = await known(label);
        const value = before === undefined ? item : `${before.value}; ${item}`;
        try {
          await memory.encode(USER, label, value, { ...BY_AGENT, ifRevision: before?.revision ?? 0 });
          return;
        } catch (error) {
          if (!(error instanceof SidebandError) || error.status !== 412) throw error;
        }
      }
    },
    index: async () => (await memory.context(USER, { include: "index" })).plain_index,
    history: async (label) => JSON.stringify(await memory.history(USER, label)),
    undo: async (label) => {
      const { revisions } = await memory.history(USER, label);
      await memory.restore(USER, label, revisions[1].revision, { writtenBy: WRITER });
    },
    compact: async () => {
      await runSideband(place, ["compact"], { SIDEBAND_DATA: place.data });
    },
    close: async () => {},
  };
}
