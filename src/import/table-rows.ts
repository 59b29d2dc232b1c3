/** A row of a table as a key and a value: of Markdown, or of a file of comma-separated values. */

import { GAP } from "./no-facts.ts";

const GENERAL_HEAD =
  /^(?:values?|descriptions?|details?|notes?|settings?|answers?|info|content|text|what|meaning|facts?|memory|comments?|)$/i;
const NUMBER_HEAD = /^(?:#|no\.?|nr\.?|id|number)$/i;

export type TableRow = { readonly key: string; readonly value: string } | { readonly why: string };

/** @param header may be empty */
export function tableRow(header: readonly string[], allCells: readonly string[]): TableRow {
  // A number of the row says nothing.
  const start = NUMBER_HEAD.test(header[0]?.trim() ?? "-") && allCells.length > 2 ? 1 : 0;
  const cells = allCells.slice(start);
  const heads = header.slice(start).map((head) => head.trim());
  const [name = "", ...rest] = cells.map((cell, i) => (i > 0 && GAP.test(cell.trim()) ? "" : cell.trim()));
  // "45" is the week 45 where the column says so.
  const key = /^\d/.test(name) && heads.length > 0 ? `${heads[0]} ${name}`.trim() : name;
  if (key === "")
    return { why: rest.every((cell) => cell === "") ? "it is empty" : "its first cell is empty" };
  const filled = rest.flatMap((cell, i) => (cell === "" ? [] : [{ head: heads[i + 1] ?? "", cell }]));
  if (filled.length === 0) return { why: "it is empty" };
  const [first] = filled;
  if (rest.length === 1)
    return { key: GENERAL_HEAD.test(first.head) ? key : `${key} ${first.head}`, value: first.cell };
  return { key, value: filled.map(({ head, cell }) => (head === "" ? cell : `${head}: ${cell}`)).join("; ") };
}
