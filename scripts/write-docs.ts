/**
 * Writes the tables of the documents anew from the tables of the code: npm run docs. With --check it writes nothing, and
 * fails where a document would change.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { DOCUMENT_TABLES, type DocumentTable } from "./document-tables.ts";

const check = process.argv.includes("--check");
const changed: string[] = [];
for (const file of new Set(DOCUMENT_TABLES.map((table) => table.file))) {
  const url = new URL(`../${file}`, import.meta.url);
  const before = readFileSync(url, "utf8");
  const after = DOCUMENT_TABLES.filter((table) => table.file === file).reduce(withTable, before);
  if (after === before) continue;
  changed.push(file);
  if (!check) writeFileSync(url, after);
}
if (changed.length > 0)
  console.log(
    check ? `npm run docs would change ${changed.join(", ")}: run it` : `written: ${changed.join(", ")}`,
  );
if (check && changed.length > 0) process.exitCode = 1;

/** The page with this table in the place of the one with the same columns. */
function withTable(page: string, { file, section, head, rows }: DocumentTable): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const sectionStart = section === undefined ? 0 : page.indexOf(`\n## ${section}\n`);
  const start = sectionStart < 0 ? -1 : page.indexOf(`\n${line(head)}\n`, sectionStart) + 1;
  if (start <= 0) throw new Error(`${file} has no table with the columns ${head.join(", ")}`);
  const end = start + /^(?:\|.*\n)+/.exec(page.slice(start))![0].length;
  const table = [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)];
  return `${page.slice(0, start)}${table.join("\n")}\n${page.slice(end)}`;
}
