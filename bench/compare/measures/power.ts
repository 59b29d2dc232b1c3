/**
 * 20 losses of power: what a peer does to its files is recorded (test/fault/power), and at 20 points of the recording a disk is
 * made that keeps what was synced. Of the rest half of the disks keep nothing, and on the others each operation has a fate
 * of its own. A kill alone tests no sync. A peer that does not open is mended as its documents say. Acknowledged minus present.
 */

import { appendFileSync, chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { Disk, type Fate, writeImage } from "../../../test/fault/power/disk.ts";
import { compileRecorder, type LogRecord, readLog } from "../../../test/fault/power/recording.ts";
import type { Measure, Subject } from "../measure.ts";
import { type Memory, valuesOf } from "../memory.ts";
import type { Place } from "../place.ts";

const LOSSES = 20;
const WRITES = 100;
const BEFORE = 10;

interface Stored {
  readonly stored: string;
}

export const power: Measure = {
  limitS: 1_800,
  async run(subject) {
    const random = seededRandom(subject.run);
    const { home, records, base } = await recordWrites(subject);
    const disk = new Disk(home, records);
    const first = records.findIndex((record, i) => i >= base && record.kind === "mark");
    const counts = { losses: 0, acknowledged: 0, lost: 0, closed: 0, mended: 0 };
    let why: string | undefined;
    for (let loss = 0; loss < (subject.small ? 2 : LOSSES); loss++) {
      const point = first + 1 + random.below(records.length - first);
      const image = disk.imageAt(point, loss % 2 === 0 ? () => "lost" : fates(random));
      const at = subject.place();
      writeImage(image, at.data);
      const promised = [...wantedBefore(), ...storedIn(records, point)];
      counts.losses += 1;
      counts.acknowledged += promised.length;
      let memory = await subject.start(at).catch((error: Error) => {
        why ??= error.message.trim().slice(-300);
        counts.closed += 1;
        return undefined;
      });
      if (memory === undefined && subject.peer.mend !== undefined) {
        memory = await mended(subject, at);
        if (memory !== undefined) counts.mended += 1;
      }
      counts.lost += memory === undefined ? promised.length : await missing(memory, promised);
      await at.remove();
    }
    return { ...counts, why };
  },
};

async function mended({ peer, start }: Subject, at: Place): Promise<Memory | undefined> {
  await at.kill();
  try {
    await peer.mend?.(at);
    return await start(at);
  } catch {
    return undefined;
  }
}

function fates(random: Random): () => Fate {
  return () => random.pick(["kept", "lost", "zeros"] as const);
}

const valueFor = (label: string) => `the value of ${label}`;
const labels = (word: string, count: number) => Array.from({ length: count }, (_, i) => `FACT.${word}${i}`);
const wantedBefore = () => labels("before", BEFORE);

/** A memory with some facts, closed; then everything that is done to its files while more are written. */
async function recordWrites(subject: Subject) {
  const folder = subject.place().folder;
  const log = join(folder, "recording");
  writeFileSync(log, "");
  // PostgreSQL runs as another user.
  chmodSync(log, 0o666);
  const environment: Record<string, string> = {};
  const at = subject.place(environment);
  const quiet = await subject.start(at);
  for (const label of wantedBefore()) await quiet.write(label, valueFor(label));
  await quiet.close();
  await at.kill();
  const base = recordsOf(at.data);
  Object.assign(environment, {
    LD_PRELOAD: compileRecorder(folder),
    RECORD_BELOW: at.data,
    RECORD_TO: log,
  });
  const memory = await subject.start(at);
  for (const label of labels("after", subject.small ? 20 : WRITES)) {
    await memory.write(label, valueFor(label));
    appendFileSync(log, `mark\t${JSON.stringify({ stored: label })}\t0\n`);
  }
  await at.kill();
  return { home: at.data, records: [...base, ...readLog(log)], base: base.length };
}

/** What is on the disk already, as if it had been written and synced now. */
function recordsOf(home: string): LogRecord[] {
  const records: LogRecord[] = [];
  const visit = (path: string) => {
    records.push({ kind: "open", path, inode: path, folder: true });
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) {
        records.push({ kind: "mkdir", path: child });
        visit(child);
      } else if (entry.isFile()) {
        records.push({ kind: "open", path: child, inode: child, folder: false });
        const data = readFileSync(child);
        records.push({ kind: "write", inode: child, offset: 0, synced: true, data });
      }
    }
    records.push({ kind: "sync", inode: path });
  };
  visit(home);
  return records;
}

function storedIn(records: readonly LogRecord[], point: number): string[] {
  return records
    .slice(0, point)
    .flatMap((record) => (record.kind === "mark" ? [(record.mark as unknown as Stored).stored] : []));
}

async function missing(memory: Memory, promised: readonly string[]): Promise<number> {
  const found = await valuesOf(memory, promised);
  return promised.filter((label) => found.get(label) !== valueFor(label)).length;
}
