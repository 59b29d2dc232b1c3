/**
 * 10,000 values of all scripts, 1 to 1,024 bytes, in 10 memories of 1,000: equal, changed, refused, lost. Where a prompt has less
 * than the memory: how many values stand in it whole.
 */

import { seededRandom } from "../../../src/base/random.ts";
import { makeValue, VALUE_KINDS } from "../../codec/value-kinds.ts";
import type { Measure } from "../measure.ts";
import { forEach, type Memory, valuesOf } from "../memory.ts";

const MEMORIES = 10;
const VALUES = 1_000;
const BYTES_MAX = 1_024;
/** Not text. */
const KINDS = VALUE_KINDS.filter((kind) => kind !== "random bytes");

export const values: Measure = {
  limitS: 1_800,
  async run({ place, start, run, small, peer }) {
    const random = seededRandom(run);
    const counts = { values: 0, equal: 0, changed: 0, refused: 0, lost: 0 };
    const examples = new Map<string, string>();
    let inPrompt: number | undefined;
    for (let m = 0; m < (small ? 1 : MEMORIES); m++) {
      const at = place();
      const memory = await start(at);
      const wanted = new Map<string, string>();
      for (let i = 0; i < VALUES; i++)
        wanted.set(`FACT.v${i}`, testValue(random.below(2 ** 31), m * VALUES + i));
      counts.values += wanted.size;
      const written = new Map<string, string>();
      const write = async ([label, value]: readonly [string, string]) => {
        try {
          await memory.write(label, value);
          written.set(label, value);
        } catch (error) {
          counts.refused += 1;
          examples.set("refused", (error as Error).message.slice(0, 200));
        }
      };
      await forEach(wanted, write, peer.takesMany ? undefined : 1);
      for (const [label, found] of await valuesOf(memory, written.keys())) {
        const value = written.get(label);
        const fate = found === undefined ? "lost" : found === value ? "equal" : "changed";
        counts[fate] += 1;
        if (fate === "changed")
          examples.set(fate, JSON.stringify([value, found].map((text) => text?.slice(0, 60))));
      }
      if (memory.shows !== undefined) inPrompt = (inPrompt ?? 0) + (await shown(memory, written));
      await memory.close();
      await at.remove();
    }
    return { ...counts, inPrompt, examples: Object.fromEntries(examples) };
  },
};

async function shown(memory: Memory, written: ReadonlyMap<string, string>): Promise<number> {
  let count = 0;
  for (const [label, value] of written) if (await memory.shows?.(label, value)) count += 1;
  return count;
}

function testValue(seed: number, i: number): string {
  const random = seededRandom(seed);
  const bytes = i % 40 === 0 ? BYTES_MAX : Math.max(1, Math.floor(BYTES_MAX ** random.unit()));
  const text = Buffer.from(makeValue({ kind: KINDS[i % KINDS.length], bytes, seed })).toString("utf8");
  // A character that was cut is left away.
  const whole = text.replace(/\uFFFD+$/u, "");
  return whole === "" ? "x" : whole;
}
