/** The table of docs/agents/README.md: what was seen with each host. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../agents/built.ts";
import type { Row } from "./real-hosts.ts";

const PAGE = join(packageFolder, "docs", "agents", "README.md");
const HEAD = [
  "| host | version | how | install | section in the prompt | remember | flush before compaction | service down | median of a hook |",
  "|---|---|---|---|---|---|---|---|---|",
];

/** @param hooks the median times of the hooks */
export function writeTable(rows: readonly Row[], hooks: string): void {
  const word = (value: boolean | undefined) => (value === undefined ? "" : value ? "yes" : "**no**");
  const lines = rows.map(({ host, version, how, install, section, remember, flush, down }) => {
    const usesHooks = host === "Claude Code" || host === "Codex CLI";
    const words = [install, section, remember, flush, down].map(word);
    return `| ${[host, version, how, ...words, usesHooks ? hooks : ""].join(" | ")} |`;
  });
  const page = readFileSync(PAGE, "utf8");
  const table = [...HEAD, ...lines].join("\n");
  const place = /(\n## What was run\n[^|]*)(?:\|.*\n)+/;
  if (!place.test(page)) throw new Error(`${PAGE} has no place for the table`);
  writeFileSync(
    PAGE,
    page.replace(place, (_, before) => `${before}${table}\n`),
  );
}
