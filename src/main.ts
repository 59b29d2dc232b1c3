/** The only place where parts are joined: what the command line runs is put together here. */

import type { Codebook } from "./codec/codebook.ts";
import { loadCodebooks } from "./main/codebooks.ts";

export { findProfileProblem, Measure } from "./memory/measure.ts";

/** The codebook that new blocks are written with. */
export function openCodebook(): Codebook {
  return loadCodebooks()[0];
}

export { type Core, openCore } from "./main/core.ts";
export {
  type DatabaseStatus,
  distributeDatabase,
  migrateDatabase,
  readDatabaseStatus,
  SHARDS_DEFAULT,
} from "./main/database-upkeep.ts";
export { firstStartText } from "./main/first-start.ts";
export { type MoveReport, moveData } from "./main/move.ts";
export {
  backUp,
  exportFrom,
  importInto,
  readBlockOf,
  restore,
  type VerifyReport,
  verify,
  withCore,
  withNewCore,
} from "./main/operator.ts";
export { serve } from "./main/serve.ts";
export { startService } from "./main/service.ts";
