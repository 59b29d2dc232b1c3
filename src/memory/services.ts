/** What the operations of this folder work with. src/main/core.ts puts it together. */

import type { Clock } from "../base/clock.ts";
import type { FairTurns } from "../base/fair-turns.ts";
import type { Groups } from "../base/groups.ts";
import type { SingleFlight } from "../base/single-flight.ts";
import type { BlockWork } from "../blockwork/block-work.ts";
import type { Blocks, FlushedBlock } from "./blocks.ts";
import type { UserEvents } from "./events.ts";
import type { FactIndexes } from "./fact-indexes.ts";
import type { IdempotencyGate } from "./idempotency.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Labels } from "./labels.ts";
import type { Meaning } from "./meaning.ts";
import type { Store } from "./ports.ts";
import type { SharedProjects } from "./shared-projects.ts";
import type { TokenCounts } from "./token-count.ts";

export interface MemoryServices {
  readonly store: Store;
  readonly blockWork: BlockWork;
  readonly keyRing: KeyRing;
  readonly labels: Labels;
  readonly events: Pick<UserEvents, "listen" | "close">;
  readonly blocks: Blocks;
  readonly projects: SharedProjects;
  readonly flushes: SingleFlight<FlushedBlock>;
  readonly idempotency: IdempotencyGate;
  /** Shares the event loop between accounts. */
  readonly turns: FairTurns;
  readonly clock: Clock;
  /** How many earlier values of each fact are kept. */
  readonly historyMax: number;
  /** Whether facts that were read somewhere wait for the person. (review.ts) */
  readonly review: boolean;
  readonly tokenCounts: TokenCounts;
  /** Facts as they are looked through by words. */
  readonly indexes: FactIndexes;
  /** The groups of labels that are there: all, or those of a caller. (group-view.ts) */
  readonly groups: Groups;
  /** Where the operator has named an embedding service. */
  readonly meaning?: Meaning | undefined;
}
