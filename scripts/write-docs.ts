/**
 * Writes the tables of the documents anew from the tables of the code, the comparison with other memories from the file of its results, and the
 * answers of the Python client from the schemas: npm run docs. With --check it writes nothing, and fails where a file would change.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pythonAnswers } from "./answer-types.ts";
import { COMPARISON } from "./comparison/columns.ts";
import { comparisonSection, SECTION } from "./comparison/documents.ts";
import { documentPictures } from "./comparison/pictures.ts";
import { fileSvg } from "./comparison/svg.ts";
import { DOCUMENT_TABLES, type DocumentTable } from "./document-tables.ts";

const check = process.argv.includes("--check");
const changed: string[] = [];
for (const file of new Set(DOCUMENT_TABLES.map((table) => table.file)))
  rewrite(file, (page) => DOCUMENT_TABLES.filter((table) => table.file === file).reduce(withTable, page));
rewrite("docs/BENCHMARKS.md", withComparison);
for (const picture of documentPictures(COMPARISON))
  rewrite(`docs/pictures/${picture.id}.svg`, () => fileSvg(picture));
rewrite("python/sideband/__init__.py", withAnswers);
if (changed.length > 0)
  console.log(
    check ? `npm run docs would change ${changed.join(", ")}: run it` : `written: ${changed.join(", ")}`,
  );
if (check && changed.length > 0) process.exitCode = 1;

function rewrite(file: string, renewed: (before: string) => string): void {
  const url = new URL(`../${file}`, import.meta.url);
  const before = existsSync(url) ? readFileSync(url, "utf8") : "";
  const after = renewed(before);
  if (after === before) return;
  changed.push(file);
  if (!check) writeFileSync(url, after);
}

/** The Python client with the answers between their heading and the next one. */
function withAnswers(client: string): string {
  const [, head, answers, rest] = /^([\s\S]*?\n# -- answers, .*\n)([\s\S]*?)(\n# -- [\s\S]*)$/.exec(client)!;
  const made = `\n\n${pythonAnswers(head + rest)}\n\n`;
  return answers === made ? client : head + made + rest;
}

/** The page with the comparison between its heading and the next one. */
function withComparison(page: string): string {
  const [, head, rest] = new RegExp(`^([\\s\\S]*\\n## ${SECTION}\\n)[\\s\\S]*?(\\n## [\\s\\S]*)$`).exec(
    page,
  )!;
  return `${head}\n${comparisonSection(COMPARISON)}\n${rest}`;
}

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
