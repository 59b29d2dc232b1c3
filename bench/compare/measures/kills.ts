/** 20 times: one client writes, everything is killed at a random moment and started again. Acknowledged minus present. */

import { setTimeout as after } from "node:timers/promises";
import { seededRandom } from "../../../src/base/random.ts";
import type { Measure } from "../measure.ts";

const KILLS = 20;
/** Acknowledged writes before a kill, and the time after the last of them. */
const WRITES = { least: 20, more: 80 };
const MORE_MS = 10;
/** Labels are used again, so that the memory does not grow from kill to kill. */
const LABELS = 50;

export const kills: Measure = {
  limitS: 1_800,
  async run({ place, start, run, small }) {
    const random = seededRandom(run);
    const at = place();
    const count = small ? 2 : KILLS;
    let [acknowledged, lost] = [0, 0];
    for (let round = 0; round < count; round++) {
      const memory = await start(at);
      const written = new Map<string, number>();
      const wanted = WRITES.least + random.below(WRITES.more);
      let [done, isKilled] = [0, false];
      await new Promise<void>((resolve) => {
        const write = async () => {
          for (let i = 0; !isKilled; i++) {
            const label = `FACT.k${i % LABELS}`;
            await memory.write(label, `round ${round} write ${i}`);
            if (isKilled) return;
            written.set(label, i);
            done += 1;
            if (done === wanted) resolve();
          }
        };
        write().catch(() => resolve());
      });
      await after(random.below(MORE_MS));
      isKilled = true;
      await at.kill();
      acknowledged += done;
      const again = await start(at).catch(() => undefined);
      if (again === undefined) return { kills: round + 1, acknowledged, lost: lost + done, opens: false };
      for (const [label, i] of written) {
        const found = (await again.read(label).catch(() => undefined)) ?? "";
        const [, foundRound, foundWrite] = /round (\d+) write (\d+)$/.exec(found) ?? [];
        // The write that was under way may have been stored, and stand behind what it replaces.
        if (Number(foundRound) !== round || Number(foundWrite) < i) lost += 1;
      }
      await at.kill();
    }
    return { kills: count, acknowledged, lost, opens: true };
  },
};
