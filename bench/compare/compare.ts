/**
 * npm run compare: Sideband beside what people would use instead, each as its own documents say. What is in the file of results
 * is not measured again, so that a run that was cut off goes on.
 */

import { execFileSync } from "node:child_process";
import { availableParallelism, cpus, loadavg, release, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { endAll, type Measure, runMeasure } from "./measure.ts";
import { dialogues } from "./measures/dialogues.ts";
import { erase } from "./measures/erase.ts";
import { install } from "./measures/install.ts";
import { kills } from "./measures/kills.ts";
import { power } from "./measures/power.ts";
import { speed } from "./measures/speed.ts";
import { tokens } from "./measures/tokens.ts";
import { undo } from "./measures/undo.ts";
import { values } from "./measures/values.ts";
import { writers } from "./measures/writers.ts";
import type { Peer } from "./memory.ts";
import { NOT_RUN, PEER_IDS, type PeerId, peerOf } from "./peers.ts";
import { removeLeftovers } from "./place.ts";
import { requireAll } from "./requirements.ts";
import { claim, type Entry, type Results, readResults, writeResults } from "./results.ts";

const MEASURES: Readonly<Record<string, Measure>> = {
  tokens,
  undo,
  erase,
  writers,
  power,
  kills,
  values,
  dialogues,
  install,
  speed,
};

const HELP = `usage: npm run compare -- [OPTIONS]

It needs npm ci --prefix bench/compare, npm run build, a C compiler and redis-server. What is in the file of results is not
measured again, and the repository's own has all of its runs: name a file of your own.

  --measures LIST   of ${Object.keys(MEASURES).join(", ")} (default: all)
  --peers LIST      of ${PEER_IDS.join(", ")} (default: all)
  --run N           the number of the run, which is the seed too (default 1)
  --file FILE       the file of results (default bench/compare/results.json)
  --again           measures anew what is in the file
  --small           a part of the work, to try the program; needs --file`;

const NOTHING_LEFT = `Nothing was measured. To measure all of it on this machine, name a file of your own:

  npm run compare -- --file /tmp/compare.json

--again measures anew what is in the file, and --run N adds a run to it.`;

const options = parseArgs({
  options: {
    measures: { type: "string", default: Object.keys(MEASURES).join(",") },
    peers: { type: "string", default: PEER_IDS.join(",") },
    run: { type: "string", default: "1" },
    file: { type: "string" },
    small: { type: "boolean", default: false },
    again: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
}).values;

async function describePeers(ids: readonly PeerId[]): Promise<Results["peers"]> {
  const described = await Promise.all(
    ids.map(async (id) => {
      const { open: _, start: __, version, ...peer }: Peer = await peerOf(id);
      return [id, { ...peer, version: version() }] as const;
    }),
  );
  return Object.fromEntries(described);
}

function machine(): Results["machine"] {
  const processor = cpus()[0]?.model ?? "unknown";
  const system = `${process.platform} ${release()}`;
  const disk = execFileSync("df", ["--output=source,fstype", tmpdir()], { encoding: "utf8" });
  const [source, type] = disk.trim().split("\n")[1].split(/\s+/);
  return {
    processor,
    cores: String(availableParallelism()),
    disk: `${type} on ${source}`,
    system,
    node: process.version,
  };
}

const RESULTS = fileURLToPath(new URL("results.json", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The names in a list, all of which there are. */
function namesIn(list: string, known: readonly string[]): string[] {
  const names = list.split(",");
  for (const name of names)
    if (!known.includes(name)) throw new Error(`there is no ${name} in ${known.join(", ")}`);
  return names;
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP);
  if (options.small && options.file === undefined)
    throw new Error("--small needs --file: it is no measurement");
  const file = options.file ?? RESULTS;
  const measures = namesIn(options.measures, Object.keys(MEASURES));
  const ids = namesIn(options.peers, PEER_IDS) as PeerId[];
  const run = Number(options.run);
  if (!Number.isInteger(run) || run < 1) throw new Error("--run takes a number from 1 on");
  requireAll(measures);
  claim(file);
  await removeLeftovers();
  const peers = await describePeers(PEER_IDS);
  for (const [id, { name, version }] of Object.entries(peers)) console.log(`${id}: ${name} ${version}`);
  for (const [name, reason] of Object.entries(NOT_RUN)) console.log(`not run: ${name}: ${reason}`);
  const known = readResults(file)?.entries ?? [];
  const results: Results = { machine: machine(), peers, notRun: NOT_RUN, entries: [...known] };
  const placeOf = ({ measure, peer }: Pick<Entry, "measure" | "peer">) =>
    results.entries.findIndex(
      (entry) => entry.run === run && entry.measure === measure && entry.peer === peer,
    );
  const isDone = (at: number) => at >= 0 && !options.again && !("failed" in results.entries[at].result);
  const all = measures.flatMap((measure) => ids.map((peer) => ({ measure, peer })));
  const work = all.filter((one) => !isDone(placeOf(one)));
  if (work.length < all.length)
    console.log(`${all.length - work.length} of ${all.length} are in ${file} already, as run ${run}.`);
  if (work.length === 0) return console.log(NOTHING_LEFT);
  for (const [done, { measure, peer }] of work.entries()) {
    const at = placeOf({ measure, peer });
    process.stdout.write(`${done + 1} of ${work.length}: ${measure}, ${peer} … `);
    const entry = await measured(measure, peer, run);
    if (isEnding) return;
    if (at >= 0) results.entries.splice(at, 1);
    results.entries.push(entry);
    writeResults(file, results);
    console.log(`${entry.seconds} s: ${JSON.stringify(entry.result)}`);
  }
}

async function measured(measure: string, id: PeerId, run: number): Promise<Entry> {
  const startedAt = performance.now();
  const load = Math.round(loadavg()[0] * 10) / 10;
  const peer = await peerOf(id);
  const result = await runMeasure(MEASURES[measure], { id, peer, run, small: options.small }).catch(
    (error) => ({
      failed: error instanceof Error ? error.message : String(error),
    }),
  );
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const day = new Date().toISOString().slice(0, 10);
  return { run, measure, peer: id, day, load, seconds, commit: commit(), result };
}

/** What is checked out, with a plus where files were changed but for those of results. */
function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  try {
    const changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", `:(exclude)${RESULTS}`);
    return git("rev-parse", "--short=12", "HEAD") + (changed === "" ? "" : "+");
  } catch {
    return "unknown";
  }
}

/** What is under way fails when its processes are ended; that is no result. */
function end(status: number): void {
  isEnding = true;
  void endAll().finally(() => process.exit(status));
}

let isEnding = false;
process.once("SIGINT", () => end(130));
process.once("SIGTERM", () => end(143));
await main().catch((error: Error) => {
  console.error(`compare: ${error.message}`);
  process.exitCode = 1;
});
if (!isEnding) process.exit();
