/** How commands print counts, limits and tables. */

import { withThousands } from "../base/thousands.ts";

/** "1 user", "2 users". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** "1,000 facts a month"; null is no limit. */
export function limitText(limit: number | null): string {
  return limit === null ? "any number of facts" : `${withThousands(limit)} facts a month`;
}

/** Rows below their heads, each column as wide as its longest cell. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => all.reduce((most, row) => Math.max(most, row[column].length), 0));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column])).join("  ");
  return all.map((row) => line(row).trimEnd()).join("\n");
}
