/**
 * Facts as a section for CLAUDE.md or AGENTS.md, which `sideband import` reads back exactly. The facts stand in a
 * fenced block: each line begins with its label, so that no value can end the block or look like Markdown, and a value is
 * spelled as in a prompt (escaped-text.ts), so that it hides nothing.
 */

import { FACT_PLACES } from "../agent-side/agent-memory.ts";
import { escapeText } from "../agent-side/escaped-text.ts";
import { factsHeading } from "../agent-side/memory-section.ts";
import type { StoredFact } from "../contract/answers.ts";

export const SECTION_BEGIN =
  '<!-- sideband-memory: "sideband export --as markdown" writes this section anew -->';
export const SECTION_END = "<!-- /sideband-memory -->";
/** The info string of the fenced block. */
export const SECTION_FENCE = "sideband";
const FENCE_MARKS = "```";

/** The section; empty if there are no facts. A line before them says whose they are, where that is known. */
export function markdownSection(facts: readonly StoredFact[]): string {
  if (facts.length === 0) return "";
  const placed = FACT_PLACES.map((kind) => ({ kind, some: facts.filter(({ place }) => place === kind) }));
  const unplaced = facts.filter(({ place }) => place === undefined);
  const lines = [
    ...unplaced.flatMap(factLines),
    ...placed.flatMap(({ kind, some }) =>
      some.length === 0 ? [] : [`# ${kind}`, ...some.flatMap(factLines)],
    ),
  ];
  const isEscaped = facts.some(({ value }) => escapeText(value) !== value);
  return [
    SECTION_BEGIN,
    "## Memory",
    "",
    factsHeading(isEscaped),
    "",
    FENCE_MARKS + SECTION_FENCE,
    ...lines,
    FENCE_MARKS,
    SECTION_END,
  ].join("\n");
}

function factLines({ label, value, expires_at: expiresAt }: StoredFact): string[] {
  const line = `${label}=${escapeText(value)}`;
  return expiresAt === undefined ? [line] : [`# until ${expiresAt}`, line];
}

/** A file's text with the section: in the place of an earlier one, or at the end. An empty one goes with its blank line. */
export function withMarkdownSection(text: string, section: string): string {
  const start = text.indexOf(SECTION_BEGIN);
  const end = start < 0 ? -1 : text.indexOf(SECTION_END, start);
  if (end >= 0) {
    const rest = text.slice(end + SECTION_END.length);
    const before = text.slice(0, start);
    if (section !== "") return before + section + rest;
    const after = rest.replace(/^\n/, "");
    return (after === "" || after.startsWith("\n") ? before.replace(/\n\n$/, "\n") : before) + after;
  }
  if (section === "") return text;
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}${section}\n`;
}
