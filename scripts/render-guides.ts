/** The guides (scripts/guides.ts) as pages of the website: sidebar, search, the guide itself, and its Markdown. */

import { ERRORS } from "../src/base/error-codes.ts";
import { escapeHtml, type Page } from "../src/web/shell.ts";
import { TIERS_TABLE } from "../src/web/site-pages.ts";
import { type DocsList, docsFrame, withCode } from "./docs-frame.ts";
import { guideHtml, linkOf, pictureOf, type Site } from "./guide-html.ts";
import type { Guide, GuideGroup } from "./guides.ts";

/** Pages that are no guides and stand in the first list, after its first page. */
const BESIDE_GUIDES = [{ path: "/docs/api", title: "API reference" }];

export function renderGuides(groups: readonly GuideGroup[], pictureUrl: Site["pictureUrl"]): Page[] {
  const guides = groups.flatMap((group) => group.guides);
  const site: Site = { pathOf: new Map(guides.map(({ file, path }) => [file, path])), pictureUrl };
  return groups.flatMap(({ name, guides: ofGroup }) =>
    ofGroup.map((guide) => ({
      path: guide.path,
      title: guide.title,
      description: `${guide.title}: a guide to Sideband.`,
      styles: ["guides"],
      script: "docs",
      group: name,
      markdown: markdownOf(guide, site),
      main: docsFrame({
        path: guide.path,
        article: guideHtml(guide, site) + (guide.path === "/docs" ? appendix() : ""),
        lists: guideLists(groups, guide.path),
      }),
    })),
  );
}

/** The lists of the sidebar. */
export function guideLists(groups: readonly GuideGroup[], here: string): DocsList[] {
  return groups.map(({ name, guides }, i) => {
    // Of the decisions only the index, unless one is being read.
    const shown = name === "Decisions" && !here.startsWith("/docs/decisions") ? guides.slice(0, 1) : guides;
    const [first, ...others] = shown;
    const listed = i === 0 ? [first, ...BESIDE_GUIDES, ...others] : shown;
    return { name, links: listed.map(({ path, title }) => ({ path, name: escapeHtml(title) })) };
  });
}

/** The guide as it is, with links that work here: to the Markdown of other pages, and to the site's pictures. */
function markdownOf(guide: Guide, site: Site): string {
  return guide.text.replace(/\]\(([^)\s]+)\)/g, (_, href: string) => {
    if (/\.(svg|png)$/.test(href)) return `](${site.pictureUrl(pictureOf(guide, href))})`;
    const [path, anchor] = linkOf(guide, href, site).split("#");
    if (!path.startsWith("/docs")) return `](${path}${anchor === undefined ? "" : `#${anchor}`})`;
    return `](${path}.md${anchor === undefined ? "" : `#${anchor}`})`;
  });
}

/** What problem answers point to: /docs#limits and /docs#error-CODE. */
function appendix(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, meaning }]) => {
    return `<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td data-name="Status">${status}</td><td data-name="Meaning">${withCode(meaning)}</td></tr>`;
  });
  return `<section class="narrow"><h2 id="limits">Limits</h2>${TIERS_TABLE}
<p>Another tier? <a href="/keys">Ask for it</a>. The sizes of values and bodies: <a href="/docs/using-the-api#limits">using the API</a>.</p></section>
<section><h2 id="errors">Errors</h2>
<p>Every failure is a problem answer (RFC 9457) with one of these codes, which never change.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Errors"><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></div></section>`;
}
