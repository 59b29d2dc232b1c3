/** The only place where parts are joined: what the command line runs is put together here. */

import { type Codebook, PLAIN_CODEBOOK } from "./codec/codebook.ts";

export { findProfileProblem, Measure } from "./memory/measure.ts";

/** The codebook that new blocks are written with. */
export function openCodebook(): Codebook {
  return PLAIN_CODEBOOK;
}

export { type Core, openCore } from "./main/core.ts";
export { firstStartText } from "./main/first-start.ts";
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
