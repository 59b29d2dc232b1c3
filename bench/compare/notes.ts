/**
 * MEMORY.md by the limits of Claude Code: of a longer file the first 200 lines, or the first 25 KB, are in the prompt. Each fact is
 * an item of a list; the next lines of a value are indented, as Markdown has it. How a change gets into the file is told apart.
 */

import { readFileSync } from "node:fs";
import type { Memory } from "./memory.ts";
import type { Place } from "./place.ts";

const LINES_MAX = 200;
const BYTES_MAX = 25 * 1024;

export const LIMITS =
  "a prompt has its first 200 lines or 25 KB, as in Claude Code; the rest is read from the file";

/** What stands between two places of a text becomes another text. */
export type Change = readonly [from: number, to: number, text: string];
/** Gets a change into the file. The change is chosen by the text that was read. */
export type Changer = (path: string, choose: (text: string) => Change) => Promise<void>;

export function openNotes(place: Place, change: Changer): Memory {
  const path = `${place.data}/MEMORY.md`;
  const seen = () => {
    const lines = textOf(path).split("\n").slice(0, LINES_MAX).join("\n");
    return Buffer.from(lines).subarray(0, BYTES_MAX).toString("utf8");
  };
  const write = (label: string, value: string) =>
    change(path, (text) => {
      const [from, to] = placeOf(text, label) ?? [text.length, text.length];
      return [from, to, itemOf(label, value)];
    });
  const read = async (label: string) => {
    const text = textOf(path);
    const found = placeOf(text, label);
    return found && valueIn(text.slice(...found), label);
  };
  return {
    write,
    read,
    shows: async (label, value) => seen().includes(itemOf(label, value)),
    erase: (label) => change(path, (text) => [...(placeOf(text, label) ?? [0, 0]), ""]),
    // Whoever has to read again adds to what is there then.
    add: (label, item) =>
      change(path, (text) => {
        const place = placeOf(text, label) ?? [text.length, text.length];
        const before = text.slice(...place);
        return [...place, itemOf(label, before === "" ? item : `${valueIn(before, label)}; ${item}`)];
      }),
    index: async () => seen(),
    close: async () => {},
  };
}

/** Empty where there is no file yet. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Where the last item begins. */
export function lastItemOf(text: string): number {
  return Math.max(0, text.lastIndexOf("\n- ") + 1);
}

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
