/**
 * The measures of time, for a quiet machine: five rounds, each with two starts to the first answer, single writes and reads of one
 * client, and the memory at rest of all processes. A library is opened in a process of ours: what an empty one takes is told
 * beside.
 */

import { setTimeout as after } from "node:timers/promises";
import { openInProcess } from "../library-client.ts";
import type { Measure, Subject } from "../measure.ts";
import type { Memory } from "../memory.ts";
import type { Place } from "../place.ts";
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

/** To the first answer: in an empty folder, and on what that start and one write have left there. */
async function one(subject: Subject) {
  const { peer, place, small } = subject;
  const at = place();
  await peer.prepare?.(at);
  const first = await started(subject, at);
  await first.memory.write("FACT.first", "it was here before");
  await first.memory.close();
  await at.kill();
  const { memory, startMs: againMs } = await started(subject, at);
  const isStore = peer.group === "store";
  const timing = memory as unknown as Timing;
  const count = small ? 20 : OPERATIONS;
  const times = isStore ? await timing.times(count) : await timesOf(memory, count);
  await after(REST_MS);
  const restMb = at.residentMb();
  await at.remove();
  return { startMs: round(first.startMs), againMs: round(againMs), ...times, restMb };
}

async function started({ peer, open }: Subject, at: Place): Promise<{ memory: Memory; startMs: number }> {
  const startedAt = performance.now();
  await peer.start?.(at);
  const serverMs = performance.now() - startedAt;
  const memory = await open(at);
  await memory.read("FACT.none");
  // The process that opens a library is ours, and its own start does not count.
  const isStore = peer.group === "store";
  const openedMs = isStore ? await (memory as unknown as Timing).openedMs() : 0;
  return { memory, startMs: isStore ? serverMs + openedMs : performance.now() - startedAt };
}
