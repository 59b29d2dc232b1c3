/** sideband bench: runs a benchmark of the project; each verifies what it times and prints ratios. */

import { parseArgs } from "node:util";
import { type Command, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";

/** Loaded when asked for, so that no other command waits for them. */
const BENCHES = {
  codec: async () => (await import("../../../bench/codec.ts")).benchCodec,
  reader: async () => (await import("../../../bench/reader.ts")).benchReader,
  values: async () => (await import("../../../bench/values.ts")).benchValues,
  http: async () => (await import("../../../bench/http.ts")).benchHttp,
  store: async () => (await import("../../../bench/store.ts")).benchStore,
};

export const bench: Command = {
  name: "bench",
  summary: "run the benchmarks: codec, reader, values, http, store",
  help: `usage: sideband bench [codec|reader|values|http|store] [--small] [--json] [--seed N] [OPTIONS]

codec    the damage table (kind of damage × carriers in use → blocks read, in %), build and read times
reader   the time to write and to read a value through the reader model, beside the multiply-adds it takes
values   the dearest to write and to read of 10,000 values of all kinds and lengths, in processor time
http     decode, context and encode under 64 connections, as ratios to a bare Fastify route; growth, memory, start
store    durable encodes/s and reads/s of the embedded store and PostgreSQL, and how they grow

  --small      few trials, so that it is quick; without a name, all benchmarks run
  --json       print one JSON object
  --svg FILE   also draw the damage table
  --trials N   trials for each cell of the damage table (default 1000, small 40); values of values (10000, small 60)
  --facts N    facts in the grown store of the http benchmark (default 1000000), and of store (5000000, small 20000)
  --database-url URL   for store: an empty database, instead of a PostgreSQL started for the run
  --seed N     seed of the random damage and values (default 1)

Exit status: 0; 1 if a bar is missed; 2 for a wrong call. With --small, bars on time are reported, not enforced.`,

  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        small: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        svg: { type: "string" },
        trials: { type: "string" },
        seed: { type: "string", default: "1" },
        facts: { type: "string" },
        "database-url": { type: "string" },
      },
    });
    const names = positionals.length === 0 ? Object.keys(BENCHES) : positionals;
    const integer = (text: string | undefined, name: string) => {
      if (text === undefined) return undefined;
      if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--${name} takes a whole number from 1 on`);
      return Number(text);
    };
    const options = {
      small: values.small,
      json: values.json,
      ...(values.svg === undefined ? {} : { svg: values.svg }),
      trials: integer(values.trials, "trials"),
      seed: integer(values.seed, "seed") ?? 1,
      facts: integer(values.facts, "facts"),
      databaseUrl: values["database-url"],
    };
    let passed = true;
    for (const name of names) {
      if (!Object.hasOwn(BENCHES, name)) {
        throw new UsageError(`there is no benchmark "${name}"; there is ${Object.keys(BENCHES).join(", ")}`);
      }
      const run = await BENCHES[name as keyof typeof BENCHES]();
      passed = (await run(options)) && passed;
    }
    return passed ? EXIT_OK : EXIT_FAILED;
  },
};
