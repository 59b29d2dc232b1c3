/** A client of some language as a case drives it, and what came of a call, in TypeScript's spelling. */

import type { CaseCall } from "./case.ts";

export interface Outcome {
  readonly result?: unknown;
  /** Of a wrong call: `wrongCall` and the message. Otherwise the fields of the SidebandError, and `isOutage`. */
  readonly error?: Readonly<Record<string, unknown>>;
  readonly tookMs: number;
}

export interface Opening {
  readonly client: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly random: number;
  readonly stillClock: boolean;
  /** Whether pauses take no time and are listed. */
  readonly recordsPauses: boolean;
}

export interface Ending {
  readonly warnings: readonly string[];
  readonly pausesMs: readonly number[];
}

export interface ClientDriver {
  /** As it names itself to the service. */
  readonly client: string;
  /** Makes the client of a case; an outcome with an error if it is refused. */
  open(opening: Opening): Promise<Outcome>;
  calls(together: readonly CaseCall[]): Promise<readonly Outcome[]>;
  moveClock(ms: number): Promise<void>;
  close(): Promise<Ending>;
}
