/**
 * How what was measured becomes the cell of a table: the results of all runs of one memory as one text, with their range where
 * they differ, and whether it is better than Sideband's in the same group (MCP servers over stdio, or stores).
 */

import { fileURLToPath } from "node:url";
import { type Entry, type Result, type Results, readResults } from "../../bench/compare/results.ts";

export const COMPARISON: Results = readResults(
  fileURLToPath(new URL("../../bench/compare/results.json", import.meta.url)),
) as Results;

/** Better than Sideband in its group: in every table, and explained above the first one. */
export const BETTER = "▲";

export interface Cell {
  readonly text: string;
  readonly isBetter: boolean;
}

export interface Column<R> {
  readonly name: string;
  /** All runs of a memory, and of Sideband in its group. */
  readonly text: (all: readonly R[], own: readonly R[]) => string;
  /** Less is better. Without it there is nothing to be better at. */
  readonly score?: (result: R) => number;
}

/** The results of a measure in all runs, but for those that failed. */
export function resultsOf<R = Result>({ entries }: Results, measure: string, ...peers: string[]): R[] {
  return entriesOf({ entries }, measure, ...peers).flatMap(({ result }) =>
    "failed" in result ? [] : [result as R],
  );
}

export function entriesOf(
  { entries }: Pick<Results, "entries">,
  measure: string,
  ...peers: string[]
): Entry[] {
  return entries.filter((entry) => entry.measure === measure && peers.includes(entry.peer));
}

/** Sideband in the group of a memory. */
export function ownOf({ peers }: Results, id: string): string {
  return peers[id].group === "store" ? "sideband-service" : "sideband-mcp";
}

export function cellOf<R>(results: Results, measure: string, id: string, { text, score }: Column<R>): Cell {
  const all = resultsOf<R>(results, measure, id);
  const own = resultsOf<R>(results, measure, ownOf(results, id));
  if (all.length === 0) {
    const hasFailed = entriesOf(results, measure, id).length > 0;
    return { text: hasFailed ? "could not be measured" : "not measured", isBetter: false };
  }
  const isBetter = score !== undefined && median(all.map(score)) < median(own.map(score));
  return { text: text(all, own), isBetter };
}

export function markdownCell({ text, isBetter }: Cell): string {
  return isBetter ? `**${text}** ${BETTER}` : text;
}

/** A number where more is better, or less. */
export function most<R>(name: string, of: (result: R) => number): Column<R> {
  return { name, text: (all) => range(all.map(of)), score: (result) => -of(result) };
}

export function least<R>(name: string, of: (result: R) => number, unit = ""): Column<R> {
  return { name, text: (all) => range(all.map(of)) + unit, score: of };
}

/** "998 of 1,000" */
export function share<R>(name: string, of: (result: R) => readonly [part: number, whole: number]) {
  return (better: "more" | "less"): Column<R> => ({
    name,
    text: (all) =>
      `${range(all.map((result) => of(result)[0]))} of ${range(all.map((result) => of(result)[1]))}`,
    score: (result) => (better === "less" ? of(result)[0] : -of(result)[0]),
  });
}

/** What the runs say in words; two that differ are both there. */
export function words<R>(name: string, of: (result: R) => string, score?: (result: R) => number): Column<R> {
  return { name, text: (all) => distinct(all.map(of)).join("; then "), ...(score && { score }) };
}

export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

export function range(numbers: readonly number[]): string {
  const ends = distinct([Math.min(...numbers), Math.max(...numbers)].map(count));
  return ends.join(" to ");
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Whole numbers as they are, others with three digits. */
export function count(number: number): string {
  return number.toLocaleString("en", Number.isInteger(number) ? {} : { maximumSignificantDigits: 3 });
}
