/** What a picture is, as part of a page in the colours of the site, and as a file of the documents in colours of its own. */

import { escapeHtml } from "../../src/web/shell.ts";

export interface Picture {
  readonly id: string;
  readonly title: string;
  /** The title of the table that it belongs to, where it is a picture of the documents too. */
  readonly table?: string;
  /** What it shows, as a text. */
  readonly alt: string;
  readonly width: number;
  readonly height: number;
  readonly body: string;
}

/** As part of a page, in whose style the colours are. */
export function inlineSvg({ alt, width, height, body }: Picture): string {
  return `<svg class="chart-picture" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(alt)}">${body}</svg>`;
}

const STYLE = `
svg { --ink: #15212c; --soft: #52606d; --track: #ebeeee; --own: #0a5fb5; --other: #7a8794; --paper: #fff }
@media (prefers-color-scheme: dark) { svg { --ink: #e8eef4; --soft: #a3b2c0; --track: #1e2833; --own: #76b8ff; --other: #8a98a5; --paper: #0d131a } }
text { fill: var(--ink) } .strong { font-weight: 600 } .soft { fill: var(--soft) } .track { fill: var(--track) }
.own { fill: var(--own) } .other { fill: var(--other) } .pale { opacity: 0.5 } .page { fill: var(--paper) }
.grid { stroke: var(--track) } .line { fill: none; stroke: var(--other); stroke-width: 2 } .line-1 { stroke-dasharray: 2 3 }
.line-2 { stroke-dasharray: 7 3 } .line-own { stroke: var(--own); stroke-width: 5 }`;

/** As a file of its own, with a margin and colours for light and dark. */
export function fileSvg({ title, width, height, body }: Picture): string {
  const margin = 16;
  const head = 26;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-margin} ${-margin - head} ${width + 2 * margin} ${height + 2 * margin + head}" width="${Math.round(1.4 * (width + 2 * margin))}" role="img" font-family="system-ui, sans-serif" font-size="12">
<title>${escapeHtml(title)}</title>
<style>${STYLE}
</style>
<rect class="page" x="${-margin}" y="${-margin - head}" width="100%" height="100%"/>
<text class="strong" y="${-head / 2}" font-size="13">${escapeHtml(title)}</text>
${body}
</svg>
`;
}
