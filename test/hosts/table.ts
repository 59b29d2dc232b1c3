/** The tables of docs/agents/README.md: what was seen with each host, what it costs in tokens, how long the hooks take. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../agents/built.ts";
import { HOOK_MS_MAX, type HookTimes } from "./hook-times.ts";
import type { Row } from "./real-hosts.ts";

const PAGE = join(packageFolder, "docs", "agents", "README.md");

/** Measured once, with the same facts, before prompts had the facts in plain text alone (commit 0df0136). */
const TOKENS_BEFORE: Readonly<Record<string, number>> = {
  "Claude Code": 2_207,
  "Codex CLI": 2_432,
  OpenClaw: 1_760,
  "Hermes Agent": 1_884,
};

export function writeTables(rows: readonly Row[], { where, times }: HookTimes): void {
  const word = (value: boolean | undefined) => (value === undefined ? "" : value ? "yes" : "**no**");
  const seen = rows.map((row) => {
    const { install, section, subagent, remember, recall, end, flush, down } = row;
    return [
      row.host,
      row.version,
      row.how,
      ...[install, section, subagent, remember, recall, end, flush, down].map(word),
    ];
  });
  const heads = ["install", "section in the prompt", "sub-agents", "remember", "recall", "asked at the end"];
  const costs = rows
    .filter(({ tokens }) => tokens !== undefined)
    .map(({ host, tokens }) => [host, TOKENS_BEFORE[host] ?? "", tokens ?? ""].map(thousands));
  const hooks = times.map(({ event, wholeMs, cpuMs }) => {
    return [event, ...[wholeMs, cpuMs, HOOK_MS_MAX].map((ms) => `${ms} ms`)];
  });
  let page = readFileSync(PAGE, "utf8");
  page = withTable(page, "What was run", [
    ["host", "version", "how", ...heads, "flush before compaction", "service down"],
    ...seen,
  ]);
  page = withTable(page, "What it costs", [["host", "tokens before", "tokens now"], ...costs]);
  page = withTable(page, "How long the hooks take", [["hook", "median", "processor time", "bar"], ...hooks]);
  writeFileSync(
    PAGE,
    page.replace(/(Measured on )[^\n]*(\.\n)/, (_, before, end) => `${before}${where}${end}`),
  );
}

/** The page with the first table of a chapter replaced. */
export function withTable(page: string, chapter: string, rows: readonly (readonly string[])[]): string {
  const place = new RegExp(`(\n## ${chapter}\n[^|]*)(?:\\|.*\n)+`);
  if (!place.test(page)) throw new Error(`the page has no place for the table of "${chapter}"`);
  const [head, ...rest] = rows;
  const lines = [head, head.map(() => "---"), ...rest].map((row) => `| ${row.join(" | ")} |\n`);
  return page.replace(
    place,
    (_, before) => before + lines.join("").replaceAll("| --- ", "|---").replace("--- |\n", "---|\n"),
  );
}

function thousands(value: string | number): string {
  return typeof value === "number" ? value.toLocaleString("en-US") : value;
}
