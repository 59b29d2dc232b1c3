/** What test/hosts/packages.ts runs on every platform: five facts, sealed and opened. */

import { open, seal } from "@sideband/block";

const KEY = `sbk_${"SidebandSideband".repeat(3).slice(0, 44)}`;
const common = { key: KEY, user: "conversation 7" };
const facts = {
  "USER.name": "Ada Okafor",
  "USER.language": "English, Igbo",
  "TASK.current": "return of a lamp with a broken shade",
  "TASK.deadline": "2026-12-01",
  "ORDER.number": "4711-93-X",
};

/** The blocks with the model and without it, each read back. */
export async function blocks(options) {
  const made = [];
  for (const compress of [true, false]) {
    const block = await seal({ ...common, ...options, facts, compress });
    const opened = await open({ ...common, ...options, text: `state: ${block}` });
    const isSame =
      opened.ok && Object.entries(facts).every(([label, value]) => opened.facts[label] === value);
    if (!isSame) throw new Error(`read wrong: ${JSON.stringify(opened)}`);
    made.push(block);
  }
  return made;
}

/** The same call, some times. */
export async function repeat(options, { kind, compress, count }) {
  const block = await seal({ ...common, ...options, facts, compress });
  for (let i = 0; i < count; i++) {
    if (kind === "seal") await seal({ ...common, ...options, facts, compress });
    else await open({ ...common, ...options, text: block });
  }
  return count;
}
