/**
 * Renders the guides, docs/*.md and docs/decisions/*.md, as pages of the website. Links between them follow to the
 * rendered pages; pictures become files of the site; raw HTML is shown as text, because the guides have none.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { Marked, type Token, type Tokens } from "marked";
import { ERRORS } from "../src/base/error-codes.ts";
import { escapeHtml, type Page } from "../src/web/shell.ts";
import { TIERS_TABLE } from "../src/web/site-pages.ts";

interface Guide {
  /** From the root of the repository: docs/FORMAT.md. */
  readonly file: string;
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** The order in which the overview lists the guides it knows; others follow by name. */
const ORDER = [
  "API",
  "ERRORS",
  "CONFIG",
  "OPERATIONS",
  "AGENTS",
  "ARCHITECTURE",
  "FORMAT",
  "MODEL-CARD",
  "BENCHMARKS",
];

export function renderGuides(root: string, pictureUrl: (file: string) => string): Page[] {
  const guides = findGuides(root);
  const pathOf = new Map(guides.map(({ file, path }) => [file, path]));
  const main = guides.filter(({ file }) => !file.includes("/decisions/"));
  const decisions = guides.filter(({ file }) => file.includes("/decisions/"));
  return [
    overview(main, decisions),
    ...guides.map((guide) => ({
      path: guide.path,
      title: guide.title,
      description: `${guide.title}: a guide to Sideband.`,
      styles: ["guides"],
      main: `<div class="guide"><nav class="side" aria-label="Guides">${links(main, guide)}</nav><article>${toHtml(
        guide,
        pathOf,
        pictureUrl,
      )}</article></div>`,
    })),
  ];
}

function findGuides(root: string): Guide[] {
  const rank = (file: string) => {
    const at = ORDER.indexOf(posix.basename(file, ".md"));
    return at < 0 ? ORDER.length : at;
  };
  return ["docs", "docs/decisions"]
    .filter((folder) => existsSync(`${root}/${folder}`))
    .flatMap((folder) =>
      readdirSync(`${root}/${folder}`)
        .filter((name) => name.endsWith(".md"))
        .sort()
        .map((name) => posix.join(folder, name)),
    )
    .sort((a, b) => rank(a) - rank(b))
    .map((file) => {
      const text = readFileSync(`${root}/${file}`, "utf8");
      const title = /^# (.+)$/m.exec(text)?.[1].replaceAll("`", "") ?? posix.basename(file, ".md");
      const name = file.slice("docs/".length, -".md".length).toLowerCase();
      // /docs/api is the reference, which a script draws.
      return { file, path: `/docs/${name === "api" ? "using-the-api" : name}`, title, text };
    });
}

function overview(main: readonly Guide[], decisions: readonly Guide[]): Page {
  const item = ({ path, title }: Guide) => `<li><a href="${path}">${escapeHtml(title)}</a></li>`;
  return {
    path: "/docs",
    title: "Docs",
    description: "The API reference and the guides.",
    styles: ["guides"],
    main: `<div class="intro"><h1>Docs</h1>
<p>Write a fact with one POST, read it with one GET. Everything below is also in the repository.</p></div>
<div class="doc-cards">
<a class="card" href="/docs/api"><h2>API reference</h2><p>Every endpoint, field and error, from this server's OpenAPI document.</p></a>
<a class="card" href="/playground"><h2>Playground</h2><p>The same endpoints with nothing to install: facts, block, spectrum, damage.</p></a>
</div>
<h2>Guides</h2><ul class="guide-list">${main.map(item).join("")}</ul>
<section id="limits" class="narrow"><h2>Limits</h2>${TIERS_TABLE}
<p>Another tier? <a href="/keys">Ask for it</a>.</p></section>
<section id="errors"><h2>Errors</h2>
<p>Every failure is a problem answer (RFC 9457) with one of these codes, which never change.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Errors"><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${errorRows()}</tbody></table></div></section>
<h2 id="decisions">Decisions</h2><ul class="guide-list">${decisions.map(item).join("")}</ul>`,
  };
}

/** Problem answers point here: /docs#error-CODE. */
function errorRows(): string {
  return Object.entries(ERRORS)
    .map(([code, { status, meaning }]) => {
      const text = escapeHtml(meaning).replace(/`([^`]+)`/g, "<code>$1</code>");
      return `<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td>${status}</td><td>${text}</td></tr>`;
    })
    .join("\n");
}

function links(guides: readonly Guide[], here: Guide): string {
  const item = (path: string, title: string) =>
    `<li><a href="${path}"${path === here.path ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`;
  return `<ul>${item("/docs", "Overview")}${item("/docs/api", "API reference")}${guides
    .map(({ path, title }) => item(path, title))
    .join("")}</ul>`;
}

function toHtml(
  guide: Guide,
  pathOf: ReadonlyMap<string, string>,
  pictureUrl: (file: string) => string,
): string {
  const resolve = (href: string) => posix.join(posix.dirname(guide.file), href);
  const ids = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    walkTokens: (token: Token) => {
      if (token.type === "link" && !/^[a-z]+:|^[#/]/.test(token.href)) {
        const [file, anchor] = token.href.split("#");
        const target = resolve(file).replace(/\/$/, "");
        const known = pathOf.get(target) ?? (target === "docs/decisions" ? "/docs#decisions" : "/docs");
        token.href = anchor === undefined ? known : `${known}#${anchor}`;
      }
      if (token.type === "image" && !/^[a-z]+:/.test(token.href))
        token.href = pictureUrl(resolve(token.href));
    },
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      heading({ tokens, depth, text }: Tokens.Heading) {
        const slug = text
          .toLowerCase()
          .replace(/[^\p{L}\p{N}]+/gu, "-")
          .replace(/^-|-$/g, "");
        const count = ids.get(slug) ?? 0;
        ids.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Wide tables and long lines scroll by themselves, and by keyboard; alignment by class, since styles may not be inline.
      table({ header, rows }: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("");
        const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(
          header,
          'th scope="col"',
        ).replaceAll('</th scope="col">', "</th>")}</tr></thead><tbody>${body}</tbody></table></div>\n`;
      },
      code: ({ text }: Tokens.Code) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
    },
  });
  return marked.parse(guide.text, { async: false });
}
