/**
 * The page /benchmarks: other memories beside Sideband, as pictures and as the tables of docs/BENCHMARKS.md. It is made when the
 * site is built, from the file of results.
 */

import type { Results } from "../../bench/compare/results.ts";
import { codeBlock, escapeHtml, type Page } from "../../src/web/shell.ts";
import { guideHtml } from "../guide-html.ts";
import { comparisonMarkdown, comparisonSummary, HELD_BACK, RUN_COMMAND, SECTION } from "./documents.ts";
import { comparisonPictures } from "./pictures.ts";
import { inlineSvg } from "./svg.ts";

const PATH = "/benchmarks";

export function comparisonPage(results: Results): Page {
  const html = (text: string) =>
    guideHtml({ file: "docs/BENCHMARKS.md", path: PATH, title: SECTION, text }, NO_OTHERS);
  const summary = comparisonSummary(results);
  const tables = comparisonMarkdown(results, "##", () => "");
  const figures = comparisonPictures(results).map(
    (picture) =>
      `<figure class="card"><figcaption>${escapeHtml(picture.title)}</figcaption>${inlineSvg(picture)}</figure>`,
  );
  return {
    path: PATH,
    title: SECTION,
    description: "Sideband and what people would use instead, measured by one command.",
    styles: ["benchmarks"],
    markdown: `# ${SECTION}\n\n${LEAD}\n\n${HELD_BACK}\n\n${summary}\n\n${tables}\n\n${RUN_HEADING}\n\n\`\`\`sh\n${RUN_COMMAND}\n\`\`\`\n\n${RUN_ABOUT}\n\nAll other measurements: [Benchmarks](/docs/benchmarks.md).\n`,
    main: `<div class="intro"><h1>${SECTION}</h1>
<p class="lead">${LEAD}</p><p>${HELD_BACK}</p></div>
<div class="figures-row">${figures.join("\n")}</div>
<article class="measures">
<h2 id="better">Where others are better</h2>
${html(summary)}
${html(tables)}
${html(RUN_HEADING)}
${codeBlock({ language: "sh", text: RUN_COMMAND })}
${html(RUN_ABOUT)}
<p>All other measurements: <a href="/docs/benchmarks">Benchmarks</a>. What each of these memories cannot be measured by: <a href="/docs">what Sideband is, and is not</a>.</p>
</article>`,
  };
}

const LEAD =
  "Sideband and what people would use instead, each as its own documents say. Counted is what is kept, lost, changed and left behind. Every number here is from one file, which one command makes.";

const RUN_HEADING = "## Run it yourself";

const RUN_ABOUT =
  "In a clone of the repository, on Linux with a C compiler and Debian's `redis-server`. It goes on where it was cut off. The results above are in `bench/compare/results.json`; each measure and each memory is a short file beside it.";

const NO_OTHERS = { pathOf: new Map<string, string>(), pictureUrl: () => "" };
