/** The parts that the operations of this folder work with. main.ts puts them together. */

import type { Clock } from "../base/clock.ts";
import type { SharedWork } from "../base/shared-work.ts";
import type { BlockWork } from "../blockwork/block-work.ts";
import type { Blocks } from "./blocks.ts";
import type { FlushResult } from "./flush.ts";
import type { IdempotencyGate } from "./idempotency.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Store } from "./ports.ts";

export interface MemoryParts {
  readonly store: Store;
  readonly blockWork: BlockWork;
  readonly keyRing: KeyRing;
  readonly blocks: Blocks;
  readonly flushes: SharedWork<FlushResult>;
  readonly idempotency: IdempotencyGate;
  readonly clock: Clock;
}
