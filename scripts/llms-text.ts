/** /llms.txt: what Sideband is and where its pages are as Markdown, for agents (llmstxt.org). */

import { markdownPath, type Page } from "../src/web/shell.ts";

export function llmsText(pages: readonly Page[]): string {
  const groups = new Map<string, Page[]>();
  for (const page of pages) {
    const name = page.group ?? "Pages for people";
    groups.set(name, [...(groups.get(name) ?? []), page]);
  }
  const people = groups.get("Pages for people") ?? [];
  groups.delete("Pages for people");
  const list = ([name, listed]: [string, Page[]]) =>
    `## ${name}\n\n${listed.map((page) => `- [${page.title}](${markdownPath(page)})`).join("\n")}\n`;
  return `# Sideband

> A persistent fact memory for AI agents. Short labelled facts of each user are stored exactly and come back by label, as
> plain text, and as one sealed block of 512 tokens that can be read even after damage.

Every page of this site exists as Markdown: add ".md" to its address. The API as a document: /openapi.json. To write a fact:
POST /encode with user_id, label and value; to read all: GET /context. There are 40 labels: GET /channels.

${[...groups].map(list).join("\n")}
${list(["Optional", people])}`;
}
