/** A wrong value replaces a right one: whether the right one comes back, with how many calls, and whether it is known who wrote. */

import type { Measure } from "../measure.ts";
import { WRITER } from "../memory.ts";

const LABEL = "FACT.deadline";

export const undo: Measure = {
  limitS: 120,
  async run({ place, start }) {
    const memory = await start(place());
    await memory.write(LABEL, "1 December");
    await memory.write(LABEL, "11 December");
    const history = (await memory.history?.(LABEL)) ?? "";
    const calls = await memory.undo?.(LABEL);
    const undone = (await memory.read(LABEL)) === "1 December";
    return { undone, calls: calls ?? 0, author: history.includes(WRITER) };
  },
};
