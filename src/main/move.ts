/** Growing out of one machine, and back: copies a data folder's store into the database, or the other way round. */

import { Metrics } from "../base/metrics.ts";
import type { Config } from "../config.ts";
import { type MoveReport, moveStore } from "../memory/move.ts";
import { LmdbStore } from "../store/lmdb/lmdb-store.ts";
import { PostgresStore } from "../store/postgres/postgres-store.ts";
import { toldToOperator } from "./database-errors.ts";
import { databaseOf } from "./database-upkeep.ts";
import { masterKeys } from "./secrets.ts";
import { agreeOnMasterKeys } from "./stores.ts";

export type { MoveReport } from "../memory/move.ts";

export async function moveData(
  config: Config,
  direction: "into the database" | "out of the database",
  step: (phase: "copied" | "compared") => void,
): Promise<MoveReport> {
  const { dataFolder: folder, queueMax } = config;
  const address = databaseOf(config);
  const metrics = new Metrics();
  const inward = direction === "into the database";
  // Looked for before anything is made. Blocks that agents hold stay readable only under the same master keys.
  const masters = masterKeys(config);
  // A standby is enough where the database is only read.
  const options = { ...address, queueMax, metrics, readOnly: !inward };
  const database = await PostgresStore.open(options).catch((error: unknown) => {
    throw toldToOperator(error);
  });
  try {
    await agreeOnMasterKeys(masters, (name, value) => database.agreeOn(name, value));
    const embedded = await LmdbStore.open({ folder, create: !inward, queueMax, metrics });
    try {
      const [from, to] = inward ? [embedded, database] : [database, embedded];
      return await moveStore(from, to, { nowMs: database.clock.now(), step });
    } finally {
      await embedded.close();
    }
  } finally {
    await database.close();
  }
}
