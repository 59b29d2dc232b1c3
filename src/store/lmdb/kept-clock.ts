/**
 * The clock of the embedded store. What it believes is kept in the store, so that a wrong clock at the next start is noticed
 * (SteadyClock in base/clock.ts).
 */

import { type Clock, type ClockNote, SteadyClock } from "../../base/clock.ts";
import type { Environment } from "./environment.ts";
import { CLOCK, packJson, unpackJson } from "./records.ts";
import type { Write } from "./writer.ts";

/** The clock is noted at most this often, unless it jumps. */
const NOTE_MS = 3_600_000;

export function openClock(environment: Environment, system: Clock): SteadyClock {
  return new SteadyClock(system, readNote(environment));
}

/** Notes what the clock knows, where that is worth a record, and warns of a jump. */
export function keepClock({ note }: SteadyClock, warn: (line: string) => void): Write<void> {
  return (writer) => {
    const { believedMs, jumpedToMs } = note;
    const noted = readNote(writer);
    const isNew = noted === undefined || Math.abs(believedMs - noted.believedMs) >= NOTE_MS;
    if (!isNew && jumpedToMs === noted.jumpedToMs) return;
    writer.put("meta", CLOCK, packJson(note));
    if (jumpedToMs === undefined || jumpedToMs === noted?.jumpedToMs) return;
    const [jumpedTo, believed] = [jumpedToMs, believedMs].map((ms) => new Date(ms).toISOString());
    warn(
      `the clock has jumped to ${jumpedTo}, by more than a day: what has ended since ${believed} is removed when the ` +
        "clock has stayed there for an hour",
    );
  };
}

function readNote(reader: Pick<Environment, "get">): ClockNote | undefined {
  const bytes = reader.get("meta", CLOCK);
  return bytes && unpackJson<ClockNote>(bytes);
}
