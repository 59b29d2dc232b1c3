/**
 * The guides of the website: which Markdown file is which page, and the groups in which the sidebar, the overview and
 * llms.txt list them. A file of docs that no group names belongs to the last but one, so that none is left out.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

export interface Guide {
  /** From the root of the repository: docs/FORMAT.md. */
  readonly file: string;
  /** Where it is served: /docs/format. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

export interface GuideGroup {
  readonly name: string;
  readonly guides: readonly Guide[];
}

export const QUICKSTART = "docs/QUICKSTART.md";
const DECISIONS = "docs/decisions/";

/** The groups but for the decisions, with their files in order. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: [QUICKSTART, "docs/TEAM.md", "docs/MEMORY-PAGE.md", "docs/API.md", "docs/ERRORS.md"],
  Agents: [
    "docs/agents/README.md",
    ...[
      "import",
      "claude-code",
      "codex",
      "hermes",
      "openclaw",
      "editors",
      "mcp",
      "connect-by-address",
      "ai-sdk",
      "langgraph",
      "openai-agents",
      "sdk",
      "python",
    ].map((name) => `docs/agents/${name}.md`),
  ],
  "For operators": [
    "docs/OPERATIONS.md",
    "docs/ONE-MACHINE.md",
    "docs/CONFIG.md",
    "docs/CLUSTER.md",
    "docs/PLATFORMS.md",
  ],
  "How it works": ["docs/ARCHITECTURE.md", "docs/FORMAT.md", "docs/MODEL-CARD.md", "docs/BENCHMARKS.md"],
};

/** Pages whose address is not made from the file's name. /docs/api is the reference. */
const PATHS: Readonly<Record<string, string>> = {
  [QUICKSTART]: "/docs",
  "docs/API.md": "/docs/using-the-api",
  "docs/agents/README.md": "/docs/agents",
  "docs/decisions/README.md": "/docs/decisions",
};

/** Titles that would be too long for the sidebar, or too short without their folder. */
const TITLES: Readonly<Record<string, string>> = {
  "docs/FORMAT.md": "The block",
  "docs/decisions/README.md": "Decisions",
};

/** All guides in their groups; the decisions are the last group, with their index first. */
export function findGuides(root: string): GuideGroup[] {
  const found = new Map(markdownFiles(root).map((file) => [file, guideOf(root, file)]));
  const named = new Set(Object.values(GROUPS).flat());
  for (const file of named)
    if (!found.has(file)) throw new Error(`scripts/guides.ts names ${file}, which is not there`);
  const isDecision = (file: string) => file.startsWith(DECISIONS);
  const others = [...found.keys()].filter((file) => !named.has(file) && !isDecision(file));
  const groups = Object.entries(GROUPS).map(([name, files], i, all) => ({
    name,
    guides: [...files, ...(i === all.length - 1 ? others : [])].map((file) => found.get(file)!),
  }));
  const decisions = [...found.keys()].filter(isDecision).sort(indexFirst);
  return [...groups, { name: "Decisions", guides: decisions.map((file) => found.get(file)!) }];
}

/** Every folder of docs that has Markdown. */
function markdownFiles(root: string): string[] {
  return ["docs", "docs/agents", "docs/decisions"]
    .filter((folder) => existsSync(`${root}/${folder}`))
    .flatMap((folder) =>
      readdirSync(`${root}/${folder}`)
        .filter((name) => name.endsWith(".md"))
        .sort()
        .map((name) => posix.join(folder, name)),
    );
}

function guideOf(root: string, file: string): Guide {
  const text = readFileSync(`${root}/${file}`, "utf8");
  const title =
    TITLES[file] ?? /^# (.+)$/m.exec(text)?.[1].replaceAll("`", "") ?? posix.basename(file, ".md");
  const path = PATHS[file] ?? `/${file.slice(0, -".md".length).toLowerCase()}`;
  return { file, path, title, text };
}

function indexFirst(a: string, b: string): number {
  return Number(b.endsWith("README.md")) - Number(a.endsWith("README.md")) || a.localeCompare(b);
}
