/**
 * What stands around a page of the docs: the bar with the search, the list of pages, "On this page", and the pages before
 * and after. On a phone the two lists are popovers that the bar opens, which needs no script.
 */

import { escapeHtml } from "../src/web/shell.ts";

export interface DocsLink {
  readonly path: string;
  /** As HTML. */
  readonly name: string;
}

export interface DocsList {
  readonly name: string;
  readonly links: readonly DocsLink[];
}

interface FrameOptions {
  readonly path: string;
  readonly article: string;
  readonly lists: readonly DocsList[];
  /** A link above the lists: to where these pages belong. */
  readonly above?: DocsLink;
  /** The article has two columns of its own and takes the place of "On this page". */
  readonly twoColumns?: boolean;
}

/** More than these are a second table of the whole page: then only the main headings are listed. */
const HEADINGS_MAX = 24;
const HEADING = /<h([23]) id="([^"]+)">(.*?)<\/h\1>/gs;

export function docsFrame({ path, article, lists, above, twoColumns = false }: FrameOptions): string {
  const contents = twoColumns ? "" : onThisPage(article);
  return `<div class="docs${twoColumns ? " two-columns" : ""}">
<div class="docs-bar"><button type="button" class="for-phone" popovertarget="pages">Menu</button>
<div id="search"></div>
${contents === "" ? "" : '<button type="button" class="for-phone" popovertarget="on-page">On this page</button>'}</div>
<nav class="side" id="pages" popover aria-label="Docs">${CLOSE("pages")}
${above === undefined ? "" : `<p class="above"><a href="${above.path}">${above.name}</a></p>`}
${lists.map((list) => listHtml(list, path)).join("\n")}</nav>
<article>
${article}
${neighbours(lists, path)}
<p class="as-markdown"><a href="${path}.md">This page as Markdown</a></p></article>
${contents}</div>`;
}

const CLOSE = (id: string) =>
  `<button type="button" class="small for-phone" popovertarget="${id}" popovertargetaction="hide">Close</button>`;

function listHtml({ name, links }: DocsList, here: string): string {
  const items = links.map(
    (link) =>
      `<li><a href="${link.path}"${link.path === here ? ' aria-current="page"' : ""}>${link.name}</a></li>`,
  );
  return `<h2>${name}</h2><ul>${items.join("")}</ul>`;
}

function onThisPage(article: string): string {
  const all = [...article.matchAll(HEADING)].map(([, depth, id, html]) => ({ depth, id, text: plain(html) }));
  const shown = all.length > HEADINGS_MAX ? all.filter(({ depth }) => depth === "2") : all;
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ depth, id, text }) => `<li${depth === "3" ? ' class="inner"' : ""}><a href="#${id}">${text}</a></li>`,
  );
  return `<nav class="on-page" id="on-page" popover aria-labelledby="on-page-title">${CLOSE("on-page")}
<h2 id="on-page-title">On this page</h2><ul>${items.join("")}</ul></nav>`;
}

/** The text of a heading, without its code and links. */
function plain(html: string): string {
  return html.replace(/<[^>]*>/g, "");
}

function neighbours(lists: readonly DocsList[], here: string): string {
  const links = lists.flatMap((list) => list.links);
  const at = links.findIndex(({ path }) => path === here);
  const link = (found: DocsLink | undefined, word: string) =>
    found === undefined ? "" : `<a href="${found.path}"><small>${word}</small> ${found.name}</a>`;
  if (at < 0) return "";
  return `<nav class="neighbours" aria-label="Pages before and after">${link(links[at - 1], "Before")}${link(links[at + 1], "Next")}</nav>`;
}

/** Text with `code` in it, as HTML. */
export function withCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}
