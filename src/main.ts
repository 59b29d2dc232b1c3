/** The only place where parts are joined: what the command line runs is put together here. */

import { loadCodebooks } from "./blockwork/codebooks.ts";
import type { Codebook } from "./codec/codebook.ts";

export { findProfileProblem, Measure } from "./memory/measure.ts";

/** The codebook that new blocks are written with. */
export function openCodebook(): Codebook {
  return loadCodebooks()[0];
}

export type { OwnerClient } from "./door/owner-client.ts";
export { restore } from "./main/backup.ts";
export { openCore } from "./main/core.ts";
export {
  type DatabaseStatus,
  distributeDatabase,
  migrateDatabase,
  readDatabaseStatus,
  SHARDS_DEFAULT,
} from "./main/database-upkeep.ts";
export { type MoveReport, moveData } from "./main/move.ts";
export { withOwner } from "./main/owner.ts";
export { runOwner, serve } from "./main/serve.ts";
export { startService } from "./main/service.ts";
