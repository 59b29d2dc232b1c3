/** The times of single writes and reads by one client, one after the other, in milliseconds. */

import type { Memory } from "./memory.ts";

export interface Times {
  readonly write: Percentiles;
  readonly read: Percentiles;
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

/** Writes and reads before those that count: compilers and caches are warm then. */
const WARM_UP = 1_000;

export async function timesOf(memory: Memory, count: number): Promise<Times> {
  const write: number[] = [];
  const read: number[] = [];
  for (let i = -WARM_UP; i < count; i++) {
    const label = `FACT.time${Math.abs(i % 100)}`;
    const value = `value ${i} of a fact as people keep it`;
    const startedAt = performance.now();
    await memory.write(label, value);
    const writtenAt = performance.now();
    const found = await memory.read(label);
    const readAt = performance.now();
    if (found !== value)
      throw new Error(`${label} is ${JSON.stringify(found)}, not ${JSON.stringify(value)}`);
    if (i < 0) continue;
    write.push(writtenAt - startedAt);
    read.push(readAt - writtenAt);
  }
  return { write: percentiles(write), read: percentiles(read) };
}

function percentiles(times: number[]): Percentiles {
  times.sort((a, b) => a - b);
  const at = (share: number) => round(times[Math.min(times.length - 1, Math.floor(share * times.length))]);
  return { p50: at(0.5), p99: at(0.99) };
}

export const round = (ms: number) => Math.round(ms * 1_000) / 1_000;
