/** A JSON file as agents write it: read, parse, change, write the whole file back. */

import { readFile, writeFile } from "node:fs/promises";
import { addByWriting, type Memory, type Peer } from "../memory.ts";
import type { Place } from "../place.ts";

export const peer: Peer = {
  name: "a JSON file",
  group: "store",
  packages: [],
  durability: "handed to the system, not synced",
  adds: "read, then write",
  version: () => "none",
  async open(place: Place): Promise<Memory> {
    const path = `${place.data}/memory.json`;
    const all = async (): Promise<Record<string, string>> => {
      const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return "{}";
        throw error;
      });
      return JSON.parse(text);
    };
    const save = (facts: Record<string, string>) => writeFile(path, JSON.stringify(facts, null, 2));
    const read = async (label: string) => (await all())[label];
    const write = async (label: string, value: string) => save({ ...(await all()), [label]: value });
    return {
      write,
      read,
      erase: async (label) => {
        const { [label]: _, ...facts } = await all();
        await save(facts);
      },
      add: (label, item) => addByWriting({ read, write }, label, item),
      index: async () => JSON.stringify(await all(), null, 2),
      close: async () => {},
    };
  },
};
