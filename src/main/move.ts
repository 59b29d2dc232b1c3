/** Growing out of one machine, and back: copies a data folder's store into the database, or the other way round. */

import { Metrics } from "../base/metrics.ts";
import { type Config, ConfigError } from "../config.ts";
import { type MoveReport, moveStore } from "../memory/move.ts";
import { LmdbStore } from "../store/lmdb/lmdb-store.ts";
import { PostgresStore } from "../store/postgres/postgres-store.ts";
import { toldToOperator } from "./database-errors.ts";
import { masterKeys } from "./secrets.ts";
import { agreeOnMasterKeys } from "./stores.ts";

export type { MoveReport } from "../memory/move.ts";

export async function moveData(
  config: Config,
  direction: "into the database" | "out of the database",
  step: (phase: "copied" | "compared") => void,
): Promise<MoveReport> {
  const { databaseUrl: url, dataFolder: folder, queueMax } = config;
  if (url === undefined) throw new ConfigError("SIDEBAND_DATABASE_URL is not set: there is no database");
  const metrics = new Metrics();
  const inward = direction === "into the database";
  const embedded = await LmdbStore.open({ folder, create: !inward, queueMax, metrics });
  try {
    const database = await PostgresStore.open({ url, queueMax, metrics }).catch((error: unknown) => {
      throw toldToOperator(error);
    });
    try {
      // Blocks that agents hold stay readable only under the same master keys.
      await agreeOnMasterKeys(masterKeys(folder, config.masterKey), (name, value) =>
        database.agreeOn(name, value),
      );
      const [from, to] = inward ? [embedded, database] : [database, embedded];
      return await moveStore(from, to, { nowMs: Date.now(), step });
    } finally {
      await database.close();
    }
  } finally {
    await embedded.close();
  }
}
