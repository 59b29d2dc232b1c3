/** The parts that the operations of this folder work with. main.ts puts them together. */

import type { Clock } from "../base/clock.ts";
import type { Blocks } from "./blocks.ts";
import type { FactCodes } from "./fact-codes.ts";
import type { IdempotencyGate } from "./idempotency.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Store, Workshop } from "./ports.ts";

export interface MemoryParts {
  readonly store: Store;
  readonly workshop: Workshop;
  readonly keyRing: KeyRing;
  readonly blocks: Blocks;
  readonly codes: FactCodes;
  readonly idempotency: IdempotencyGate;
  readonly clock: Clock;
}
