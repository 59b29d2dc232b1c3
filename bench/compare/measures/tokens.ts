/** Tokens (o200k) that a model reads: tools and instructions of a server, and what is put into a prompt with 5, 40 and 256 facts, and how many of them it has. */

import type { Measure } from "../measure.ts";
import { load } from "../packages.ts";

const NAME = "topic";
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
    const facts: Record<string, number> = {};
    let hasLabels = true;
    for (let i = 0; i < Math.max(...COUNTS); i++) {
      await memory.write(`FACT.${NAME}${i}`, valueFor(i));
      if (!COUNTS.includes(i + 1)) continue;
      const text = await memory.index();
      hasLabels = text.includes(NAME);
      prompt[i + 1] = encode(text).length;
      facts[i + 1] = factsIn(text, i + 1);
    }
    const few = await memory.fewTools?.();
    return {
      tools: tools === undefined ? undefined : encode(tools).length,
      fewTools: few === undefined ? undefined : encode(few).length,
      prompt,
      facts,
      ...(hasLabels ? {} : { labels: false }),
    };
  },
};

const valueFor = (i: number) => VALUES[i % VALUES.length];

/** The facts that a text has with their values; where it has no labels, the values. */
function factsIn(text: string, count: number): number {
  if (!text.includes(NAME)) return VALUES.reduce((sum, value) => sum + text.split(value).length - 1, 0);
  // A label that is only named is not followed by its value before the next label.
  const parts = new Map(text.split(NAME).map((part) => [Number.parseInt(part, 10), part]));
  return Array.from({ length: count }, (_, i) => parts.get(i)?.includes(valueFor(i))).filter(Boolean).length;
}
