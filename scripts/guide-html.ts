/**
 * A guide's Markdown as HTML. Links between guides follow to the rendered pages; pictures become files of the site;
 * raw HTML is shown as text, because the guides have none. Neighbouring samples of one step in several languages
 * become one box with a tab for each language.
 */

import { posix } from "node:path";
import { Marked, type Token, type Tokens } from "marked";
import { codeBlock, codeTabs, escapeHtml, slugOf } from "../src/web/shell.ts";
import type { Guide } from "./guides.ts";

/** What a page of the site may link to. */
export interface Site {
  /** The page of a Markdown file. */
  readonly pathOf: ReadonlyMap<string, string>;
  /** Makes a picture a file of the site. */
  readonly pictureUrl: (file: string) => string;
}

interface Samples {
  readonly type: "samples";
  readonly raw: string;
  readonly codes: readonly Tokens.Code[];
}

export function guideHtml(guide: Guide, site: Site): string {
  const anchorOf = anchorsOf();
  let boxes = 0;
  const marked = new Marked({
    gfm: true,
    hooks: { processAllTokens: (tokens) => joinSamples(tokens as Token[]) as typeof tokens },
    walkTokens: (token: Token) => {
      if (token.type === "link") token.href = linkOf(guide, token.href, site);
      if (token.type === "image" && !/^[a-z]+:/.test(token.href))
        token.href = site.pictureUrl(pictureOf(guide, token.href));
    },
    extensions: [
      {
        name: "samples",
        renderer: (token) => {
          const { codes } = token as unknown as Samples;
          boxes += 1;
          return codeTabs(
            `sample-${boxes}`,
            codes.map(({ lang = "", text }) => ({ language: lang, text })),
          );
        },
      },
    ],
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      paragraph(token: Tokens.Paragraph) {
        const head = runInHead(guide.path, token);
        const id = head === undefined ? "" : ` id="${anchorOf(head)}"`;
        return `<p${id}>${this.parser.parseInline(token.tokens)}</p>\n`;
      },
      // On a phone each row is a list of its cells, with the names of their columns. Alignment by class: styles may not be inline.
      table({ header, rows }: Tokens.Table) {
        const names = header.map(({ text }) => escapeHtml(text.replaceAll("`", "")));
        const cell = ({ tokens }: Tokens.TableCell, i: number) =>
          `<td data-name="${names[i]}">${this.parser.parseInline(tokens)}</td>`;
        const body = rows.map((row) => `<tr>${row.map(cell).join("")}</tr>`).join("\n");
        const head = header
          // A column without a name has no header.
          .map(({ text, tokens }) =>
            text === "" ? "<td></td>" : `<th scope="col">${this.parser.parseInline(tokens)}</th>`,
          )
          .join("");
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>\n`;
      },
      // A picture leads to itself, because a phone shows it small.
      image: ({ href, text }: Tokens.Image) =>
        `<a href="${escapeHtml(href)}"><img src="${escapeHtml(href)}" alt="${escapeHtml(text)}"></a>`,
      // Without a language it is a picture or an output: nothing to copy.
      code: ({ text, lang = "" }: Tokens.Code) =>
        lang === ""
          ? `<pre tabindex="0" class="diagram"><code>${escapeHtml(text)}</code></pre>\n`
          : `${codeBlock({ language: lang, text })}\n`,
    },
  });
  return marked.parse(guide.text, { async: false });
}

/** Gives each heading of a page its anchor: the second of the same name gets a number. */
export function anchorsOf(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const slug = slugOf(heading);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

/** "**Facts.** A fact is …": a paragraph that begins with its own heading. In decisions these are always the same ones. */
export function runInHead(path: string, token: Token): string | undefined {
  if (token.type !== "paragraph" || path.startsWith("/docs/decisions/")) return undefined;
  return /^\*\*([A-Z][^*]*?)\.?\*\*/.exec(token.raw)?.[1];
}

/** Where a link of a guide leads: to a page of the site, or to what the site does not have. */
export function linkOf(guide: Guide, href: string, { pathOf }: Pick<Site, "pathOf">): string {
  if (/^[a-z]+:|^[#/]/.test(href)) return href;
  const [file, anchor] = href.split("#");
  const target = posix.join(posix.dirname(guide.file), file).replace(/\/$/, "");
  const known = pathOf.get(target) ?? pathOf.get(`${target}/README.md`) ?? "/docs";
  return anchor === undefined ? known : `${known}#${anchor}`;
}

/** The file of a guide's picture, from the root of the repository. */
export function pictureOf({ file }: Guide, href: string): string {
  return posix.join(posix.dirname(file), href);
}

/** Samples that follow each other in different languages, sh first, become one token. */
function joinSamples(tokens: Token[]): Token[] {
  const joined: Token[] = [];
  for (const token of tokens) {
    const before = joined.at(-1) as Samples | undefined;
    if (token.type === "space" && before?.type === "samples") continue;
    if (token.type !== "code" || !/^(sh|ts|python)$/.test(token.lang ?? "")) {
      joined.push(token);
      continue;
    }
    const code = token as Tokens.Code;
    const follows = before?.type === "samples" && code.lang !== "sh";
    if (follows) joined.pop();
    const codes = follows ? [...before.codes, code] : [code];
    joined.push({ type: "samples", raw: "", codes } as unknown as Token);
  }
  return joined;
}
