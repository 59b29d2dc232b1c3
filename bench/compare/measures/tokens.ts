/** Tokens (o200k) that a model reads: tools and instructions of a server, and what is put into a prompt with 5, 40 and 256 facts. */

import type { Measure } from "../measure.ts";
import { load } from "../packages.ts";

const COUNTS = [5, 40, 256];
const VALUES = [
  "Ada Lovelace",
  "short and formal",
  "Europe/Amsterdam",
  "Node 20 with npm, no yarn",
  "2026-12-01, noon",
  "lmdb, because reads never wait",
  "no force pushes on main",
  "the release needs two reviews",
];

export const tokens: Measure = {
  limitS: 300,
  async run({ place, start }) {
    const { encode } = await load<{ encode(text: string): number[] }>("gpt-tokenizer/encoding/o200k_base");
    const memory = await start(place());
    const tools = await memory.tools?.();
    const prompt: Record<string, number> = {};
    for (let i = 0; i < Math.max(...COUNTS); i++) {
      await memory.write(`FACT.topic${i}`, VALUES[i % VALUES.length]);
      if (COUNTS.includes(i + 1)) prompt[i + 1] = encode(await memory.index()).length;
    }
    return { tools: tools === undefined ? undefined : encode(tools).length, prompt };
  },
};
