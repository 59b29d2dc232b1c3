/**
 * A wrong value replaces a right one: whether the right one comes back, with how many calls, and where it can be read who wrote. The
 * writer has signed where the memory has a field for that, and is looked for in its history and in all that it says of the label.
 */

import type { Measure } from "../measure.ts";
import { WRITER } from "../memory.ts";

const LABEL = "FACT.deadline";

export const undo: Measure = {
  limitS: 120,
  async run({ place, start }) {
    const memory = await start(place());
    await memory.sign?.();
    await memory.write(LABEL, "1 December");
    await memory.write(LABEL, "11 December");
    const history = (await memory.history?.(LABEL)) ?? "";
    const record = (await (memory.record ?? memory.read)(LABEL)) ?? "";
    const before = (await memory.calls?.()) ?? 0;
    await memory.undo?.(LABEL);
    const calls = ((await memory.calls?.()) ?? 0) - before;
    const undone = (await memory.read(LABEL)) === "1 December";
    const author = history.includes(WRITER) ? "history" : record.includes(WRITER) ? "memory" : "nowhere";
    return { undone, calls, author };
  },
};
