/**
 * The search index of the docs: one entry for each section of a page, with its words as plain text. The browser loads
 * it when somebody begins to search, and looks through it itself (src/web/docs/search.ts).
 */

import { marked, type Token } from "marked";
import { slugOf } from "../src/web/docs/code-samples.ts";
import type { SearchEntry } from "../src/web/docs/search.ts";
import type { Page } from "../src/web/shell.ts";

export function searchIndex(pages: readonly Page[]): SearchEntry[] {
  return pages.flatMap(({ path, title, markdown }) => sectionsOf(path, title, markdown));
}

function sectionsOf(path: string, page: string, markdown: string): SearchEntry[] {
  const sections: { address: string; page: string; title: string; texts: string[] }[] = [
    { address: path, page, title: page, texts: [] },
  ];
  const counts = new Map<string, number>();
  for (const token of marked.lexer(markdown)) {
    if (token.type !== "heading") {
      sections.at(-1)!.texts.push(plainText(token));
      continue;
    }
    const slug = slugOf(token.text);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    if (token.depth === 1) continue;
    const anchor = count === 0 ? slug : `${slug}-${count}`;
    sections.push({ address: `${path}#${anchor}`, page, title: plainText(token), texts: [] });
  }
  return sections.map(({ texts, ...entry }) => ({
    ...entry,
    text: texts.join(" ").replace(/\s+/g, " ").trim(),
  }));
}

function plainText(token: Token): string {
  if (token.type === "space") return "";
  if (token.type === "table") {
    const rows = [token.header, ...token.rows] as { tokens: Token[] }[][];
    return rows.map((row) => row.map((cell) => cell.tokens.map(plainText).join("")).join(" ")).join(" ");
  }
  if (token.type === "list") return token.items.map(plainText).join(" ");
  if ("tokens" in token && token.tokens !== undefined) return token.tokens.map(plainText).join("");
  return "text" in token ? String(token.text) : token.raw;
}
