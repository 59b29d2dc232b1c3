/** The block on its own: what `@sideband/block` and `sideband/block` export. */

export { LABELS, type Label } from "../base/channel-labels.ts";
export {
  type Facts,
  type Opened,
  type OpenedFacts,
  type OpenOptions,
  open,
  type SealOptions,
  seal,
  type Unopened,
} from "./block.ts";
export { BlockError, type BlockErrorCode } from "./errors.ts";
export { newKey } from "./keys.ts";
export type { ModelOptions, ModelSource } from "./model.ts";
