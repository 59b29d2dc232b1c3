/** What a measure is: a function of one peer, with a limit in time, that returns what is found as plain numbers and words. */

import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Memory, Peer } from "./memory.ts";
import { openClient, type PeerId, startPeer } from "./peers.ts";
import { newFolder, Place } from "./place.ts";
import type { Result } from "./results.ts";

export interface Subject {
  readonly id: PeerId;
  readonly peer: Peer;
  /** The number of the run, which is the seed too. */
  readonly run: number;
  /** A tenth of the work, to try the program. */
  readonly small: boolean;
  /** A new folder, removed after the measure, with whatever runs on it. */
  place(more?: Readonly<Record<string, string>>): Place;
  start(place: Place): Promise<Memory>;
  open(place: Place): Promise<Memory>;
}

export interface Measure {
  readonly limitS: number;
  readonly run: (subject: Subject) => Promise<Result>;
}

/** A call that is not answered in this time counts as one that failed. */
const CALL_LIMIT_S = 120;

/** What is open now. */
const open = new Map<string, Place[]>();

/** Ends what runs, and removes its folders. */
export async function endAll(): Promise<void> {
  for (const [folder, places] of open) {
    for (const place of places) place.close();
    for (const place of places) await place.remove();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    open.delete(folder);
  }
}

/** Runs a measure for one peer within its time. What it left running is ended. */
export async function runMeasure(
  { run, limitS }: Measure,
  subject: Pick<Subject, "id" | "peer" | "run" | "small">,
): Promise<Result> {
  const { id, peer } = subject;
  const folder = newFolder();
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const places: Place[] = [];
  open.set(folder, places);
  const place = (more?: Readonly<Record<string, string>>) => {
    if (!open.has(folder)) throw new Error("the measure has ended");
    const made = new Place(join(folder, String(places.length)), more);
    places.push(made);
    return made;
  };
  const opened = async (memory: Promise<Memory>) => limited(await withinTime("the start", memory));
  const more = {
    place,
    start: (at: Place) => opened(startPeer(id, peer, at)),
    open: (at: Place) => opened(openClient(id, peer, at)),
  };
  try {
    return await withinTime("the measure", run({ ...subject, ...more }), limitS);
  } finally {
    await endAll();
  }
}

/** A memory whose calls have a limit in time. */
function limited(memory: Memory): Memory {
  const calls = Object.entries(memory).map(([name, call]) => [
    name,
    (...parts: unknown[]) => withinTime(name, call(...parts)),
  ]);
  return Object.fromEntries(calls);
}

async function withinTime<T>(name: string, promise: Promise<T>, seconds = CALL_LIMIT_S): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: no answer in ${seconds} s`)), seconds * 1_000);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
