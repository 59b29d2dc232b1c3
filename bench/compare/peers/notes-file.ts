/**
 * MEMORY.md by the limits of Claude Code: of a longer file the first 200 lines, or the first 25 KB, are in the prompt. An agent
 * reads the file, changes an item of the list and writes it back; the next lines of a value are indented, as Markdown has it.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { addByWriting, type Memory, type Peer } from "../memory.ts";
import type { Place } from "../place.ts";

const LINES_MAX = 200;
const BYTES_MAX = 25 * 1024;

export const peer: Peer = {
  name: "MEMORY.md",
  group: "store",
  packages: [],
  durability: "handed to the system, not synced",
  adds: "read, then write",
  note: "a prompt has its first 200 lines or 25 KB, as in Claude Code; the rest is read from the file",
  version: () => "none",
  async open(place: Place): Promise<Memory> {
    const path = `${place.data}/MEMORY.md`;
    const all = () => {
      try {
        return readFileSync(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
        throw error;
      }
    };
    const seen = () => {
      const lines = all().split("\n").slice(0, LINES_MAX).join("\n");
      return Buffer.from(lines).subarray(0, BYTES_MAX).toString("utf8");
    };
    const write = async (label: string, value: string) => {
      const before = all();
      // An agent reads a file with one call and writes it with the next.
      await new Promise(setImmediate);
      const [from, to] = placeOf(before, label) ?? [before.length, before.length];
      writeFileSync(path, `${before.slice(0, from)}${itemOf(label, value)}${before.slice(to)}`);
    };
    const read = async (label: string) => {
      const text = all();
      const found = placeOf(text, label);
      return found && valueIn(text.slice(...found), label);
    };
    return {
      write,
      read,
      shows: async (label, value) => seen().includes(itemOf(label, value)),
      erase: async (label) => {
        const text = all();
        const [from, to] = placeOf(text, label) ?? [0, 0];
        writeFileSync(path, `${text.slice(0, from)}${text.slice(to)}`);
      },
      add: (label, item) => addByWriting({ read, write }, label, item),
      index: async () => seen(),
      close: async () => {},
    };
  },
};

const startOf = (label: string) => `- ${label}: `;
const itemOf = (label: string, value: string) => `${startOf(label)}${value.replaceAll("\n", "\n  ")}\n`;
const valueIn = (item: string, label: string) =>
  item.slice(startOf(label).length, -1).replaceAll("\n  ", "\n");

/** Where the item of a label begins and ends. */
function placeOf(text: string, label: string): [number, number] | undefined {
  const from = text.startsWith(startOf(label)) ? 0 : text.indexOf(`\n${startOf(label)}`) + 1;
  if (from === 0 && !text.startsWith(startOf(label))) return undefined;
  const next = text.indexOf("\n- ", from);
  return [from, next === -1 ? text.length : next + 1];
}
