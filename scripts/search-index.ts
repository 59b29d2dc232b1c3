/**
 * The search index of the docs: one entry for each section of a page, with its words as plain text. The browser loads
 * it when somebody begins to search, and looks through it itself (src/web/docs/search.ts).
 */

import { marked, type Token } from "marked";
import type { SearchEntry } from "../src/web/docs/search.ts";
import type { Page } from "../src/web/shell.ts";
import { anchorsOf, runInHead } from "./guide-html.ts";
import { referenceEntries } from "./render-reference.ts";
import { SEARCH_WORDS } from "./search-words.ts";

export function searchIndex(guides: readonly Page[]): SearchEntry[] {
  const sections = guides.flatMap(({ path, title, markdown }) => sectionsOf(path, title, markdown));
  return [...sections, ...referenceEntries()].map((entry) => {
    const words = SEARCH_WORDS[entry.address];
    return words === undefined ? entry : { ...entry, words };
  });
}

function sectionsOf(path: string, page: string, markdown: string): SearchEntry[] {
  const sections: { address: string; page: string; title: string; texts: string[] }[] = [
    { address: path, page, title: page, texts: [] },
  ];
  const anchorOf = anchorsOf();
  for (const token of marked.lexer(markdown)) {
    const head = token.type === "heading" ? token.text : runInHead(path, token);
    if (head !== undefined) {
      const anchor = anchorOf(head);
      if (token.type !== "heading" || token.depth > 1)
        sections.push({ address: `${path}#${anchor}`, page, title: plainHead(head), texts: [] });
    }
    if (token.type !== "heading") sections.at(-1)!.texts.push(plainText(token));
  }
  return sections.map(({ texts, ...entry }) => ({
    ...entry,
    text: texts.join(" ").replace(/\s+/g, " ").trim(),
  }));
}

function plainHead(markdown: string): string {
  return markdown.replaceAll("`", "");
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
