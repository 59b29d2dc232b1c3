/** Figures as text: lines in columns, and sizes for people. */

/** Rows as lines: the first column to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => textOf(cell)));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const lines = cells.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  "),
  );
  return lines.join("\n");
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

/** Of numbers in ascending order. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function textOf(cell: string | number): string {
  return typeof cell === "string" ? cell : cell.toLocaleString("en", { maximumFractionDigits: 1 });
}
