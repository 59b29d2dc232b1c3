/**
 * The table of cases that the clients of all languages must pass (the *.json files beside this one), and what a case says:
 * how a stand-in server answers, what the client is asked to do, and what must come of it. Options are in TypeScript's
 * spelling; a driver translates them.
 *
 * In what is passed to a client { "$date": text } is a moment and { "$number": "Infinity" } a number that JSON does not have.
 * In what is expected { "$match": pattern }, { "$between": [from, to] } and { "$absent": true } say less than a value.
 */

import { readdirSync, readFileSync } from "node:fs";

/** What the stand-in answers to one request, or to all that match if `always` is set. */
export interface CaseAnswer {
  readonly path?: string;
  readonly user?: string;
  readonly ifNoneMatch?: string;
  readonly always?: boolean;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The body as it is, instead of JSON. */
  readonly text?: string;
  /** Spaces at the end of the body, up to so many bytes. */
  readonly padToBytes?: number;
  /** The code of a problem as the service writes it. */
  readonly problem?: string;
  /** Retry-After as a date so many seconds from now. */
  readonly retryAfterDateS?: number;
  readonly delayMs?: number;
  /**
   * hang: no answer. drop: the connection ends before the answer. cut: in the middle of the body. garbage: what is no
   * HTTP. drip: the body in small pieces, for 3 seconds.
   */
  readonly how?: "hang" | "drop" | "cut" | "garbage" | "drip";
}

export interface CaseCall {
  readonly call: string;
  readonly args?: readonly unknown[];
  readonly options?: Readonly<Record<string, unknown>>;
  /** Of a call that streams: how much is read; all of it by default. The result is a list. */
  readonly take?: number;
}

export interface ExpectedOutcome {
  /** All of the result; anything if neither this nor `error` is there. */
  readonly result?: unknown;
  /** Those fields of the error. */
  readonly error?: Readonly<Record<string, unknown>>;
}

export interface CaseStep extends Partial<CaseCall>, ExpectedOutcome {
  /** In place of what was left of the answers before. */
  readonly answers?: readonly CaseAnswer[];
  /** The step for each of these calls. */
  readonly each?: readonly CaseCall[];
  /** All of these at the same time; `result` and `error` are for each of them. */
  readonly together?: readonly CaseCall[];
  /** How often the step is done; the expectations are for each time. */
  readonly times?: number;
  /** Moves the clock of the circuits before the call. */
  readonly moveMs?: number;
  /** How many requests the server has seen in this step. */
  readonly sent?: number;
  /** A header that all requests of the step have, with one value. */
  readonly sameHeader?: string;
  readonly tookMs?: readonly [from: number, to: number];
}

export interface ClientCase {
  readonly name: string;
  /** Options of the client; its address is the server's, with this at its end. */
  readonly client?: Readonly<Record<string, unknown>>;
  readonly addressEnd?: string;
  /** closed: no server. environment: its address is in SIDEBAND_API_URL only. */
  readonly address?: "closed" | "environment";
  readonly environment?: Readonly<Record<string, string>>;
  /** What the client takes for a random number from 0 to 1; 0 by default, so that pauses take no time. */
  readonly random?: number;
  /** The circuits' clock stands still but for `moveMs`. */
  readonly stillClock?: boolean;
  /** The pauses between attempts, which then take no time. */
  readonly pausesMs?: readonly number[];
  readonly answers?: readonly CaseAnswer[];
  /** Clients that are refused where they are made, each with this error; then there are no steps. */
  readonly refused?: {
    readonly clients: readonly Readonly<Record<string, unknown>>[];
    readonly error: Readonly<Record<string, unknown>>;
  };
  readonly steps?: readonly CaseStep[];
  /** All requests; of the headers those that are named. */
  readonly requests?: readonly unknown[];
  /** The lines that `onWarning` was given. */
  readonly warnings?: readonly unknown[];
}

const folder = new URL("./", import.meta.url);

export const CASE_FILES: Readonly<Record<string, readonly ClientCase[]>> = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => [name, JSON.parse(readFileSync(new URL(name, folder), "utf8")) as ClientCase[]]),
);

/** Where a value is not as expected, as a line; undefined if it is. */
export function difference(actual: unknown, expected: unknown, place = ""): string | undefined {
  const wrong = () => `${place}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
  if (typeof expected !== "object" || expected === null) return actual === expected ? undefined : wrong();
  if ("$match" in expected)
    return typeof actual === "string" && new RegExp(String(expected.$match), "u").test(actual)
      ? undefined
      : wrong();
  if ("$between" in expected) {
    const [from, to] = expected.$between as [number, number];
    return typeof actual === "number" && actual >= from && actual <= to ? undefined : wrong();
  }
  if ("$absent" in expected) return actual === undefined || actual === null ? undefined : wrong();
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(expected))
    return wrong();
  const fields = actual as Record<string, unknown>;
  if (Array.isArray(expected) && (actual as unknown[]).length !== expected.length) return wrong();
  const unexpected = Object.keys(fields).filter((name) => !(name in expected) && fields[name] !== undefined);
  if (unexpected.length > 0)
    return `${place}: unexpected ${unexpected.join(", ")} in ${JSON.stringify(actual)}`;
  for (const [name, value] of Object.entries(expected)) {
    const found = difference(fields[name], value, `${place}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** As difference, but only of what is expected. */
export function partDifference(
  actual: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
  place: string,
): string | undefined {
  return Object.entries(expected)
    .map(([name, value]) => difference(actual[name], value, `${place}.${name}`))
    .find((found) => found !== undefined);
}
