/** sideband db: the PostgreSQL database that several nodes share. */

import { readConfig } from "../../config.ts";
import {
  type DatabaseStatus,
  distributeDatabase,
  type MoveReport,
  migrateDatabase,
  moveData,
  readDatabaseStatus,
  SHARDS_PER_WORKER,
} from "../../main/database-upkeep.ts";
import { type Command, defineCommand, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";
import { counted, ProgressLine } from "../printed.ts";
import { JSON_HELP } from "../shared-options.ts";

const VERBS = "migrate, status, import, export, distribute";

export const db: Command = defineCommand(
  {
    name: "db",
    summary: `the shared PostgreSQL database: ${VERBS}`,
    words: ["VERB"],
    about: `Works on the database of SIDEBAND_DATABASE_URL. VERB is one of:

migrate      brings the database to this version's form, as every node does when it starts
status       the server, the migrations, how much there is; exit status 1 if this version cannot work on it
import       copies the data folder's store into the empty database, then compares everything; stop the server first
export       the other way round, into a data folder without a store
distribute   spreads the tables over the machines of a Citus cluster; once, on its coordinator`,
    options: `  --shards N      of distribute: pieces to spread (default ${SHARDS_PER_WORKER} for each worker); the cluster cannot grow to more
                  workers than pieces
${JSON_HELP}`,
    failures: "1 if it cannot be done",
  },
  async ({ words: [verb], texts: { shards }, print }) => {
    if (shards !== undefined && verb !== "distribute") throw new UsageError("--shards is for distribute");
    if (verb === "migrate") {
      const applied = await migrateDatabase(readConfig());
      const lines = applied.map((name) => `applied ${name}`);
      print(lines.length === 0 ? "nothing to do" : lines.join("\n"), { applied });
      return EXIT_OK;
    }
    if (verb === "status") {
      const status = await readDatabaseStatus(readConfig());
      print(statusLines(status).join("\n"), status);
      return status.refusal === null ? EXIT_OK : EXIT_FAILED;
    }
    if (verb === "import" || verb === "export") {
      const report = await move(verb === "import" ? "into the database" : "out of the database");
      print(moveLines(report).join("\n"), report);
      return report.differences.length === 0 ? EXIT_OK : EXIT_FAILED;
    }
    if (verb === "distribute") {
      const statements = await distributeDatabase(readConfig(), shardsOf(shards));
      print([...statements, "distributed"].join("\n"), { statements });
      return EXIT_OK;
    }
    throw new UsageError(`there is no "db ${verb}"; there is ${VERBS}`);
  },
);

async function move(direction: Parameters<typeof moveData>[1]): Promise<MoveReport> {
  const progress = { copied: new ProgressLine("users copied"), compared: new ProgressLine("users compared") };
  try {
    return await moveData(readConfig(), direction, (phase) => progress[phase].step());
  } finally {
    for (const line of Object.values(progress)) line.end();
  }
}

function moveLines({ keys, users, facts, leftOut, differences }: MoveReport): string[] {
  const verdict =
    differences.length === 0 ? "all the same in both" : counted(differences.length, "difference");
  return [
    ...leftOut.map((what) => `left out: ${what}`),
    ...differences.map((what) => `not the same: ${what}`),
    `${counted(keys, "key")}, ${counted(users, "user")}, ${counted(facts, "fact")}: ${verdict}`,
    "revisions are numbered anew: an If-Match that a client holds from before is refused once",
  ];
}

function shardsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError("--shards takes a whole number from 1 to 999");
  return Number(text);
}

function statusLines(status: DatabaseStatus): string[] {
  const { server, hosts, migrations, refusal, citus, distributed, statistics } = status;
  return [
    server,
    ...hosts.map(({ host, state, timeline }) => {
      return `server       ${host} ${state}${timeline === null ? "" : `, timeline ${timeline}`}`;
    }),
    `Citus        ${citus === null ? "no" : `${citus}, ${distributed ? "distributed" : "not distributed"}`}`,
    ...migrations.map(({ name, applied }) => `migration    ${name} ${applied ? "applied" : "missing"}`),
    ...(statistics === null
      ? []
      : [
          `facts        ${statistics.facts}`,
          `users        ${statistics.users}`,
          `size         ${(statistics.sizeBytes / 2 ** 20).toFixed(1)} MiB`,
        ]),
    ...(refusal === null ? [] : [`refused      ${refusal}`]),
  ];
}
