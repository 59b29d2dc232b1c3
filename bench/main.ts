/**
 * npm run bench: runs the benchmarks of the project. Each verifies what it times and prints ratios to a reference in
 * the same run. The service that http, inject, streams, hostile, life, facts, holds, find and growth start is the built one (npm run build).
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Bench, BenchOptions } from "./options.ts";

/** Each part is loaded when it is asked for. */
const PARTS: Readonly<Record<string, () => Promise<Bench>>> = {
  codec: async () => (await import("./codec.ts")).benchCodec,
  damage: async () => (await import("./damage.ts")).benchDamage,
  reader: async () => (await import("./reader.ts")).benchReader,
  labels: async () => (await import("./labels.ts")).benchLabels,
  values: async () => (await import("./values.ts")).benchValues,
  http: async () => (await import("./http.ts")).benchHttp,
  inject: async () => (await import("./inject.ts")).benchInject,
  streams: async () => (await import("./streams.ts")).benchStreams,
  hostile: async () => (await import("./hostile.ts")).benchHostile,
  store: async () => (await import("./store.ts")).benchStore,
  life: async () => (await import("./life.ts")).benchLife,
  facts: async () => (await import("./facts.ts")).benchFacts,
  holds: async () => (await import("./holds.ts")).benchHolds,
  find: async () => (await import("./find.ts")).benchFind,
  growth: async () => (await import("./growth.ts")).benchGrowth,
  fastify: async () => (await import("./fastify.ts")).benchFastify,
};

const EXIT_OK = 0;
/** A bar is missed. */
const EXIT_FAILED = 1;
/** The call was wrong. */
const EXIT_USAGE = 2;

const HELP = `usage: npm run bench -- [codec|damage|reader|labels|values|http|inject|streams|hostile|store|life|facts|holds|find|growth|fastify] [--small] [--json] [--seed N] [OPTIONS]

codec    the damage table (kind of damage × carriers in use → blocks read, in %), build and read times
damage   the largest share of its words that a block with 5 and with 40 facts can lose, by kind of damage
reader   the time to write and to read a value through the reader model, beside the multiply-adds it takes
labels   the bits of 200 ordinary facts in several forms, and blocks of 5, 20 and 40 of them under free and declared labels
values   the most expensive to write and to read of 10,000 values of all kinds and lengths, in processor time
http     decode, context and encode under 64 connections, as ratios to a bare Fastify route; growth, memory, start
inject   the client: 1,000 turns of 100 users at once, each a write and inject, as a ratio to a write and facts
streams  processor time of the service with 1,000 idle MCP streams, in % of a core
hostile  how long others wait, and how much memory it takes, while a client floods the service, sends slowly, does not read or moves much
store    durable encodes/s and reads/s of the embedded store and PostgreSQL, and how they grow
life     encodes with a history to those without, an index to /facts, reads to those of the commit before; the disk for 100,000 facts
facts    what a fact costs with 12 a user: disk, processor time, memory; encodes without blocks; a user's first block
holds    how long calls on one person's 10,000 facts hold the event loop, and how long others wait beside them
find     finding facts by words among one person's 100 and 1,000, in processor time of the service, beside GET /facts
growth   calls on a person with 100 facts and on one with nearly 10,000, all under labels of their own, on both stores
fastify  processor time of two routes of Fastify with the same checks, to that of the dispatcher

  --small      few trials, so that it is quick; without a name, all benchmarks run
  --json       print one JSON object
  --svg FILE   also draw the damage table
  --trials N   trials for each cell of codec and each step of damage (default 1000, small 10 and 5); values of values (10000, small 20)
  --facts N    facts in the grown store of the http benchmark (default 1000000), and of store (5000000, small 4000)
  --seconds N  for store: seconds a row (default 4, small 0.1)
  --database-url URL   for store: an empty database, instead of a PostgreSQL started for the run
  --citus N    for store: a Citus cluster with N workers started for the run; the PostgreSQL needs Citus built for it
  --store NAME for holds: embedded (default) or postgres
  --before FOLDER   for life and hostile: another commit, built there (npm ci), to compare decode and context, or /mcp loops, with;
               for holds: measure that commit instead
  --seed N     seed of the random damage and values (default 1)

Exit status: 0; 1 if a bar is missed; 2 for a wrong call. With --small, bars on time are reported, not enforced.`;

class UsageError extends Error {}

export async function main(args: readonly string[]): Promise<number> {
  try {
    const { help, names, options } = parse(args);
    if (help || (names.length === 0 && !options.small)) {
      console.log(HELP);
      return EXIT_OK;
    }
    let passed = true;
    for (const name of names.length === 0 ? Object.keys(PARTS) : names) {
      const bench = await PARTS[name]();
      passed = (await bench(options)) && passed;
    }
    return passed ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`bench: ${error.message}\nnpm run bench -- --help says how to call it`);
    return EXIT_USAGE;
  }
}

function parse(args: readonly string[]): { help: boolean; names: string[]; options: BenchOptions } {
  const { values, positionals: names } = parseStrictly(args);
  for (const name of names) {
    if (Object.hasOwn(PARTS, name)) continue;
    throw new UsageError(`there is no benchmark "${name}"; there is ${Object.keys(PARTS).join(", ")}`);
  }
  const options: BenchOptions = {
    small: values.small,
    json: values.json,
    svg: values.svg,
    trials: wholeNumber(values.trials, "trials"),
    seed: wholeNumber(values.seed, "seed") ?? 1,
    seconds: wholeNumber(values.seconds, "seconds"),
    facts: wholeNumber(values.facts, "facts"),
    databaseUrl: values["database-url"],
    citus: wholeNumber(values.citus, "citus"),
    before: values.before,
    store: storeIn(values.store),
  };
  return { help: values.help, names, options };
}

function parseStrictly(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h", default: false },
        small: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        svg: { type: "string" },
        trials: { type: "string" },
        seed: { type: "string" },
        facts: { type: "string" },
        seconds: { type: "string" },
        "database-url": { type: "string" },
        citus: { type: "string" },
        before: { type: "string" },
        store: { type: "string", default: "embedded" },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function storeIn(name: string): BenchOptions["store"] {
  if (name !== "embedded" && name !== "postgres") throw new UsageError("--store takes embedded or postgres");
  return name;
}

function wholeNumber(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--${name} takes a whole number from 1 on`);
  return Number(text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
