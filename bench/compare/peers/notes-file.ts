/**
 * MEMORY.md by the limits of Claude Code: of a longer file the first 200 lines, or the first 25 KB, are in the prompt. An agent
 * reads the file, changes a line and writes it back; a value in several lines stands in one, as Markdown has it.
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
  note: "read as Claude Code reads it: 200 lines or 25 KB",
  version: () => "none",
  async open(place: Place): Promise<Memory> {
    const path = `${place.data}/MEMORY.md`;
    const all = () => {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return "";
      }
    };
    const seen = () => {
      const lines = all().split("\n").slice(0, LINES_MAX).join("\n");
      return Buffer.from(lines).subarray(0, BYTES_MAX).toString("utf8");
    };
    const lineOf = (label: string) => `- ${label}: `;
    const others = (label: string) =>
      all()
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith(lineOf(label)));
    const read = async (label: string) =>
      seen()
        .split("\n")
        .find((line) => line.startsWith(lineOf(label)))
        ?.slice(lineOf(label).length);
    const write = async (label: string, value: string) => {
      const lines = others(label);
      // An agent reads a file with one call and writes it with the next.
      await new Promise(setImmediate);
      writeFileSync(path, `${[...lines, `${lineOf(label)}${value.replace(/\s*\n\s*/g, " ")}`].join("\n")}\n`);
    };
    return {
      write,
      read,
      erase: async (label) => writeFileSync(path, `${others(label).join("\n")}\n`),
      add: (label, item) => addByWriting({ read, write }, label, item),
      index: async () => seen(),
      close: async () => {},
    };
  },
};
