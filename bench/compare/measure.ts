/** What a measure is: a function of one peer, with a limit in time, that returns what is found as plain numbers and words. */

import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Memory, Peer } from "./memory.ts";
import { openClient, type PeerId, startPeer } from "./peers.ts";
import { Place } from "./place.ts";
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

/** What is open now. */
const open = new Map<string, Place[]>();

/** Ends what runs, and removes its folders. */
export async function endAll(): Promise<void> {
  for (const [folder, places] of open) {
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
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sideband-compare-")));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const places: Place[] = [];
  open.set(folder, places);
  const place = (more?: Readonly<Record<string, string>>) => {
    const made = new Place(join(folder, String(places.length)), more);
    places.push(made);
    return made;
  };
  const start = (at: Place) => startPeer(id, peer, at);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Result>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${limitS} s`)), limitS * 1_000);
  });
  try {
    return await Promise.race([
      run({ ...subject, place, start, open: (at) => openClient(id, peer, at) }),
      limit,
    ]);
  } finally {
    clearTimeout(timer);
    await endAll();
  }
}
