/** MEMORY.md as an agent writes a file: it reads the whole file with one call, and writes all of it back with the next. */

import { writeFileSync } from "node:fs";
import type { Peer } from "../memory.ts";
import { LIMITS, openNotes, textOf } from "../notes.ts";

export const peer: Peer = {
  name: "MEMORY.md (rewritten whole)",
  group: "store",
  packages: [],
  durability: "handed to the system, not synced",
  adds: "read, then write the whole file",
  note: LIMITS,
  version: () => "none",
  open: async (place) =>
    openNotes(place, async (path, choose) => {
      const before = textOf(path);
      await new Promise(setImmediate);
      const [from, to, text] = choose(before);
      writeFileSync(path, `${before.slice(0, from)}${text}${before.slice(to)}`);
    }),
};
