/** 10,000 values of all scripts, 1 to 1,024 bytes, in 20 memories of 500: equal, changed, refused, lost. */

import { seededRandom } from "../../../src/base/random.ts";
import { makeValue, VALUE_KINDS } from "../../codec/value-kinds.ts";
import type { Measure } from "../measure.ts";

const MEMORIES = 20;
const VALUES = 500;
const BYTES_MAX = 1_024;
/** Not text. */
const KINDS = VALUE_KINDS.filter((kind) => kind !== "random bytes");
const AT_ONCE = 8;

export const values: Measure = {
  limitS: 900,
  async run({ place, start, run, small, peer }) {
    const random = seededRandom(run);
    const counts = { values: 0, equal: 0, changed: 0, refused: 0, lost: 0 };
    const examples = new Map<string, string>();
    const count = peer.group === "store" && peer.start === undefined ? 1 : AT_ONCE;
    for (let m = 0; m < (small ? 1 : MEMORIES); m++) {
      const at = place();
      const memory = await start(at);
      const wanted = new Map<string, string>();
      for (let i = 0; i < VALUES; i++)
        wanted.set(`FACT.v${i}`, testValue(random.below(2 ** 31), m * VALUES + i));
      counts.values += wanted.size;
      const written = new Map<string, string>();
      for (const [label, value] of wanted) {
        try {
          await memory.write(label, value);
          written.set(label, value);
        } catch (error) {
          counts.refused += 1;
          examples.set("refused", (error as Error).message.slice(0, 200));
        }
      }
      const left = [...written];
      const reader = async () => {
        for (let next = left.pop(); next !== undefined; next = left.pop()) {
          const [label, value] = next;
          const found = await memory.read(label).catch(() => undefined);
          const fate = found === undefined ? "lost" : found === value ? "equal" : "changed";
          counts[fate] += 1;
          if (fate === "changed")
            examples.set(fate, JSON.stringify([value, found].map((text) => text?.slice(0, 60))));
        }
      };
      await Promise.all(Array.from({ length: count }, reader));
      await memory.close();
      await at.remove();
    }
    return { ...counts, examples: Object.fromEntries(examples) };
  },
};

function testValue(seed: number, i: number): string {
  const random = seededRandom(seed);
  const bytes = i % 40 === 0 ? BYTES_MAX : Math.max(1, Math.floor(BYTES_MAX ** random.unit()));
  const text = Buffer.from(makeValue({ kind: KINDS[i % KINDS.length], bytes, seed })).toString("utf8");
  // A character that was cut is left away.
  const whole = text.replace(/\uFFFD+$/u, "");
  return whole === "" ? "x" : whole;
}
