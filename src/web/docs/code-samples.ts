/** Pieces of the docs pages as HTML, made when the site is built: code samples in tabs, anchors, the sidebar's frame. */

import { escapeHtml } from "../shell.ts";

export interface CodeSample {
  readonly language: string;
  readonly text: string;
}

const LANGUAGE_NAMES: Readonly<Record<string, string>> = { ts: "TypeScript", python: "Python" };

/** "Unused carriers are error correction" → unused-carriers-are-error-correction */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}

/** "curl", "Shell", "TypeScript", "Python" */
function languageName({ language, text }: CodeSample): string {
  return LANGUAGE_NAMES[language] ?? (text.startsWith("curl") ? "curl" : "Shell");
}

/** Code as it is; the build colours it (scripts/highlight.ts). */
export function codeBlock({ language, text }: CodeSample): string {
  return `<pre tabindex="0"><code class="language-${language}">${escapeHtml(text)}</code></pre>`;
}

/** A tab for each sample, by radio buttons, so that it works without a script. One sample has no tabs. */
export function sampleBox(id: string, samples: readonly CodeSample[]): string {
  if (samples.length === 1) return `${codeBlock(samples[0])}\n`;
  const tabs = samples.map((sample, i) => {
    const name = languageName(sample);
    return `<input type="radio" name="${id}" id="${id}-${i}" value="${name}"${i === 0 ? " checked" : ""}><label for="${id}-${i}">${name}</label>`;
  });
  const panels = samples.map(codeBlock);
  return `<div class="samples${samples.length === 2 ? " two" : ""}" role="group" aria-label="Code">${tabs.join("")}${panels.join("")}</div>\n`;
}
