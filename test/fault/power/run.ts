/**
 * Loses power at every point of what the scenarios do to their files: npm run test:power -- SEED ROUNDS [SCENARIO …].
 * Each is recorded; some are also killed, in the places that the scenario names and in a random one in each round, and
 * started again. Every point of a recording then has the disks of KINDS, and in each round one on which every operation
 * has a fate of its own. `--sample COUNT` takes so many disks of each recording from the points at which names change
 * and files begin, and a quarter as many from the others.
 */

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { bundledProgram } from "../../fixtures/bundled-program.ts";
import { Disk, digestOf, type Fate, type Operation, writeImage } from "./disk.ts";
import { Promises } from "./promises.ts";
import { compileRecorder, type LogRecord, readLog, record } from "./recording.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

type FateOf = (operation: Operation, point: number) => Fate;

const isName = ({ change }: Operation) => change.kind === "names";

/** Much of the time on a disk is waiting for the store's thread. */
const AT_ONCE = 4;
/** lmdb makes a new file valid with its second write. */
const FIRST_WRITES = 2;

/** What becomes of all that is not certain. */
const KINDS: Readonly<Record<string, FateOf>> = {
  "all kept": () => "kept",
  "all lost": () => "lost",
  "names kept": (operation) => (isName(operation) ? "kept" : "lost"),
  "data kept": (operation) => (isName(operation) ? "lost" : "kept"),
  "names and lengths kept": (operation) => (isName(operation) ? "kept" : "zeros"),
  "names, lengths and first pages kept": (operation) =>
    isName(operation) || ("offset" in operation.change && operation.change.offset === 0) ? "kept" : "zeros",
  "only the last kept": (operation, point) => (operation.at === point - 1 ? "kept" : "lost"),
};

interface Trial {
  /** The power fails after so many records. */
  readonly point: number;
  readonly kind: string;
  readonly fateOf: FateOf;
}

interface Recording {
  readonly name: string;
  readonly home: string;
  readonly records: readonly LogRecord[];
  /** The first point to try: what comes before a kill is in the recording without it. */
  readonly from: number;
}

class PowerRun {
  readonly #random: Random;
  readonly #rounds: number;
  readonly #sample: number | undefined;
  readonly #folder: string;
  readonly #recorder: string;
  readonly #program = bundledProgram(new URL("program.ts", import.meta.url));
  /** In memory where that is possible: each disk is opened once and thrown away. */
  readonly #disks: string;
  /** What went wrong, and how often; where it was seen first. */
  readonly faults = new Map<string, { count: number; first: string }>();

  constructor(folder: string, disks: string, seed: number, rounds: number, sample: number | undefined) {
    this.#folder = folder;
    this.#disks = disks;
    this.#random = seededRandom(seed);
    this.#rounds = rounds;
    this.#sample = sample;
    this.#recorder = compileRecorder(folder);
  }

  async record(name: string, scenario: Scenario): Promise<Recording[]> {
    const random = seededRandom(this.#random.below(2 ** 32));
    const outside = join(this.#folder, `${name}-outside`);
    mkdirSync(outside);
    await scenario.prepare?.(outside);
    const whole = await this.#record(name, outside);
    if (scenario.kills === undefined) return [whole];
    const points = scenario.kills.map(
      (pattern) => 1 + whole.records.findLastIndex((entry) => pattern.test(describe(entry))),
    );
    points.push(...this.#times(() => 1 + random.below(whole.records.length)));
    const killed = points.map((point) => {
      const marks = marksIn(whole, point).length;
      return this.#record(name, outside, Math.max(1, point - marks));
    });
    return [whole, ...(await Promise.all(killed))];
  }

  #times<T>(make: () => T): T[] {
    return Array.from({ length: this.#rounds }, make);
  }

  async #record(scenario: string, outside: string, killAfter?: number): Promise<Recording> {
    const home = mkdtempSync(join(this.#folder, "home-"));
    const log = `${home}.log`;
    const options = { recorder: this.#recorder, program: await this.#program, home, log };
    await record({ ...options, args: [scenario, "run", home, outside], killAfter });
    const from = killAfter === undefined ? 0 : readLog(log).length;
    if (killAfter !== undefined) await record({ ...options, args: [scenario, "start", home, outside] });
    const name = killAfter === undefined ? scenario : `${scenario}, killed after record ${killAfter}`;
    return { name, home, records: readLog(log), from };
  }

  /** Tries the disks of one recording, each disk once and several at a time. */
  async lose(recording: Recording): Promise<void> {
    const { name, home, records } = recording;
    const disk = new Disk(home, records);
    const marks = marksIn(recording, records.length);
    const trials = this.#trials(recording);
    const tried = new Set<string>();
    const lane = async () => {
      for (let trial = trials.shift(); trial !== undefined; trial = trials.shift()) {
        const { point, kind, fateOf } = trial;
        const image = disk.imageAt(point, (operation) => fateOf(operation, point));
        const marksMade = marksIn(recording, point).length;
        const digest = `${marksMade} ${digestOf(image)}`;
        if (tried.has(digest)) continue;
        tried.add(digest);
        const what = `${name}: ${point} of ${records.length} records (${describe(records[point - 1]).replace(home, "")}), ${kind}`;
        // If opening a disk ends the process, it is known which ones it was at.
        process.send?.(what);
        const place = join(this.#disks, String(tried.size));
        mkdirSync(place);
        writeImage(image, place);
        await new Promises(marks, marksMade)
          .check(place)
          .catch((error: Error) => this.#addFault(what, error));
        rmSync(place, { recursive: true });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    console.log(`${name}: ${records.length} records, ${tried.size} disks`);
  }

  #addFault(first: string, { message }: Error): void {
    // The same fault at many points is one.
    const text = message.replaceAll(this.#disks, "").replace(/\d+\/|-[0-9a-f]{16}/g, "");
    const known = this.faults.get(text);
    this.faults.set(text, { count: (known?.count ?? 0) + 1, first: known?.first ?? first });
  }

  #trials({ records, from }: Recording): Trial[] {
    const points = Array.from({ length: records.length + 1 - from }, (_, i) => from + i);
    const trialsAt = (point: number): Trial[] => [
      ...Object.entries(KINDS).map(([kind, fateOf]) => ({ point, kind, fateOf })),
      ...Array.from({ length: Math.max(1, this.#rounds) }, () => ({
        point,
        kind: "at random",
        fateOf: this.#fates(),
      })),
    ];
    if (this.#sample === undefined) return points.flatMap(trialsAt);
    const turning = turns(records);
    const some = (isTurning: boolean, count: number) =>
      this.#random
        .shuffle(points.filter((point) => turning.has(point) === isTurning).flatMap(trialsAt))
        .slice(0, count);
    return [...some(true, this.#sample), ...some(false, this.#sample / 4)];
  }

  #fates(): FateOf {
    const random = seededRandom(this.#random.below(2 ** 32));
    return () => random.pick(["kept", "lost", "zeros"] as const);
  }
}

/** The points after a name has changed, or a file got its first data; and the end. */
function turns(records: readonly LogRecord[]): Set<number> {
  const writes = new Map<string, number>();
  const points = new Set([records.length]);
  for (const [i, entry] of records.entries()) {
    if (["mkdir", "rename", "link", "remove"].includes(entry.kind)) points.add(i + 1);
    if (entry.kind !== "write") continue;
    const count = (writes.get(entry.inode) ?? 0) + 1;
    writes.set(entry.inode, count);
    if (count <= FIRST_WRITES) points.add(i + 1);
  }
  return points;
}

function marksIn({ records }: Recording, point: number) {
  return records.slice(0, point).flatMap((entry) => (entry.kind === "mark" ? [entry.mark] : []));
}

/** A record in words. */
function describe(entry: LogRecord | undefined): string {
  if (entry === undefined) return "the beginning";
  return `${entry.kind} ${"to" in entry ? entry.to : "path" in entry ? entry.path : ""}`.trim();
}

const { values, positionals } = parseArgs({
  options: { sample: { type: "string" } },
  allowPositionals: true,
});
const seed = Number(positionals[0] ?? Date.now() % 2 ** 32);
const rounds = Number(positionals[1] ?? 3);
const sample = values.sample === undefined ? undefined : Number(values.sample);
const wanted = positionals.slice(2);
const folder = realpathSync(mkdtempSync(join(tmpdir(), "sideband-power-")));
const disks = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : folder, "sideband-power-"));
console.log(`seed ${seed}, ${rounds} rounds`);
const run = new PowerRun(folder, disks, seed, rounds, sample);
try {
  const scenarios = Object.entries(SCENARIOS).filter(
    ([name]) => wanted.length === 0 || wanted.includes(name),
  );
  const recordings = await Promise.all(scenarios.map(([name, scenario]) => run.record(name, scenario)));
  for (const recording of recordings.flat()) await run.lose(recording);
  for (const [text, { count, first }] of run.faults)
    console.log(`✖ ${text}\n  ${count} times, first at ${first}`);
  if (run.faults.size === 0)
    console.log("nothing acknowledged was lost, and nothing was there that was never written");
  else process.exitCode = 1;
} finally {
  for (const path of [disks, folder]) rmSync(path, { recursive: true, force: true });
}
