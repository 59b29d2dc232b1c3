/** What the embedded store is opened with. */

import type { Clock, MonotonicClock } from "../../base/clock.ts";
import type { FairTurns } from "../../base/fair-turns.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { AtStep } from "../../base/steps.ts";
import type { FormatStep } from "./upgrade.ts";

export interface LmdbStoreOptions {
  readonly folder: string;
  /** Makes the store if the folder has none. */
  readonly create: boolean;
  /** How long to wait for an owner that is about to end. */
  readonly lockWaitMs?: number;
  readonly queueMax: number;
  /** How many earlier values of each fact are kept; undefined for as many as under its last owner. */
  readonly historyMax?: number | undefined;
  /** How long the disk may take to confirm a write. */
  readonly confirmMs?: number;
  readonly metrics: Metrics;
  /** Shares the event loop between accounts. */
  readonly turns?: FairTurns;
  /** The machine's. */
  readonly clock?: Clock;
  readonly monotonic?: MonotonicClock;
  /** Free bytes of the disk that a folder is on. */
  readonly freeBytes?: (folder: string) => number;
  /** Called once, with a line for the operator, when the store is given up: nothing is read or written any more. */
  readonly onLost?: (line: string) => void;
  /** What the operator should know. */
  readonly warn?: (line: string) => void;
  /** The steps from the first data format to the present one. */
  readonly formatSteps?: readonly FormatStep[];
  readonly atStep?: AtStep;
}
