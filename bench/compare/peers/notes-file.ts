/**
 * MEMORY.md as an agent edits a file: it reads the file with one call, and the next replaces one string by another in the file as it
 * is on the disk then, at once and by a rename. Where the string is not there any more, the agent reads again. A new item goes behind
 * the last one that was read. No tool for edits takes a lock, so another process can write between the two halves of the edit.
 */

import { renameSync, writeFileSync } from "node:fs";
import type { Peer } from "../memory.ts";
import { type Change, LIMITS, lastItemOf, openNotes, textOf } from "../notes.ts";

/** How often an agent tries an edit: more than there are others. */
const TRIES = 30;

export const peer: Peer = {
  name: "MEMORY.md (edited)",
  group: "store",
  packages: [],
  durability: "handed to the system, not synced",
  adds: "read, then replace the item",
  note: LIMITS,
  version: () => "none",
  open: async (place) =>
    openNotes(place, async (path, choose) => {
      for (let left = TRIES; left > 0; left--) {
        const seen = textOf(path);
        await new Promise(setImmediate);
        if (edit(path, ...stringsOf(seen, choose(seen)))) return;
      }
      throw new Error("the string is not in the file, or more than once");
    }),
};

/** The string that the agent names, and the one that it becomes. */
function stringsOf(seen: string, [from, to, text]: Change): [before: string, after: string] {
  if (from < to) return [seen.slice(from, to), text];
  const last = seen.slice(lastItemOf(seen));
  return [last, `${last}${text}`];
}

/** False where the file does not have the string, or has it twice. An empty file is written. */
function edit(path: string, before: string, after: string): boolean {
  if (before === after) return true;
  const text = textOf(path);
  const at = text.indexOf(before);
  const isThere = before === "" ? text === "" : at >= 0 && text.indexOf(before, at + 1) < 0;
  if (!isThere) return false;
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${text.slice(0, at)}${after}${text.slice(at + before.length)}`);
  renameSync(draft, path);
  return true;
}
