/**
 * The measures of time, for a quiet machine: five rounds, each with a start to the first answer, single writes and reads of one
 * client, and the memory at rest of all processes. A library is opened in a process of ours: what an empty one takes is told
 * beside.
 */

import { setTimeout as after } from "node:timers/promises";
import { openInProcess } from "../library-client.ts";
import type { Measure, Subject } from "../measure.ts";
import { round, type Times, timesOf } from "../times.ts";

const ROUNDS = 5;
const OPERATIONS = 500;
const REST_MS = 2_000;

interface Timing {
  openedMs(): Promise<number>;
  times(count: number): Promise<Times>;
}

export const speed: Measure = {
  limitS: 600,
  async run(subject) {
    if (subject.peer.untimed !== undefined) return { untimed: subject.peer.untimed };
    const rounds = [];
    for (let i = 0; i < (subject.small ? 1 : ROUNDS); i++) rounds.push(await one(subject));
    return subject.peer.group === "store" ? { hostMb: await hostMb(subject), rounds } : { rounds };
  },
};

async function hostMb({ place }: Subject): Promise<number> {
  const at = place();
  await openInProcess(at);
  await after(REST_MS);
  const mb = at.residentMb();
  await at.remove();
  return mb;
}

async function one({ peer, place, start, open, small }: Subject) {
  const at = place();
  const startedAt = performance.now();
  const isStore = peer.group === "store";
  if (isStore) await peer.start?.(at);
  const serverMs = performance.now() - startedAt;
  const memory = isStore ? await open(at) : await start(at);
  await memory.read("FACT.none");
  // The process that opens a library is ours, and its own start does not count.
  const timing = memory as unknown as Timing;
  const startMs = isStore ? serverMs + (await timing.openedMs()) : performance.now() - startedAt;
  const count = small ? 20 : OPERATIONS;
  const times = isStore ? await timing.times(count) : await timesOf(memory, count);
  await after(REST_MS);
  const restMb = at.residentMb();
  await at.remove();
  return { startMs: round(startMs), ...times, restMb };
}
