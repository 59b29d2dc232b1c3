/**
 * The frame around every page: head, navigation, footer; and code samples in tabs. Used when the site is built, so that the
 * pages are plain files and the first paint waits for no script. Nothing is inline: the Content-Security-Policy forbids it.
 */

export interface Page {
  /** Where it is served: "/playground". */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** What stands in <main>, as HTML. */
  readonly main: string;
  /** The page's script among the build's entry points, if it has one. */
  readonly script?: string;
  /** Style sheets beside the site's own. */
  readonly styles?: readonly string[];
  /** The page for agents, served at its path with ".md". */
  readonly markdown: string;
  /** The group of the docs that it belongs to. */
  readonly group?: string;
}

/** /docs → /docs.md, / → /index.md */
export function markdownPath({ path }: Pick<Page, "path">): string {
  return `${path === "/" ? "/index" : path}.md`;
}

/** The result of the build for an entry point: its address, and those of the modules or fonts that it loads. */
export interface Asset {
  readonly url: string;
  readonly imports: readonly string[];
}

const NAVIGATION = [
  ["/playground", "Playground"],
  ["/docs", "Docs"],
  ["/keys", "Get a key"],
  ["/memory", "Memory"],
  ["/account", "Account"],
] as const;

const MARK = `<svg class="mark" viewBox="0 0 32 20" aria-hidden="true"><path d="M2 18v-5M6 18V8M10 18V2M14 18V6M18 18v-8M22 18v-3"/><path class="quiet" d="M26 18v-1M30 18v-1"/></svg>`;

export function renderPage(page: Page, assetOf: (entry: string) => Asset): string {
  const script = page.script === undefined ? undefined : assetOf(page.script);
  const styles = ["site", ...(page.styles ?? [])].map((name) => assetOf(`${name}.css`));
  const fonts = new Set(styles.flatMap(({ imports }) => imports));
  const title = page.path === "/" ? page.title : `${page.title} · Sideband`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.description)}">
<title>${escapeHtml(title)}</title>
<link rel="alternate" type="text/markdown" href="${markdownPath(page)}">
<link rel="icon" type="image/svg+xml" href="${assetOf("icon.svg").url}">
${[...fonts].map((url) => `<link rel="preload" href="${url}" as="font" type="font/woff2" crossorigin>`).join("\n")}
${styles.map(({ url }) => `<link rel="stylesheet" href="${url}">`).join("\n")}
${script === undefined ? "" : scriptTags(script)}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/"${current(page, "/")}>${MARK}Sideband</a>
<nav aria-label="Main">
${NAVIGATION.map(([path, name]) => `<a href="${path}"${current(page, path)}>${name}</a>`).join("\n")}
</nav>
</header>
<main id="main">
${page.main}
</main>
<footer>
<p>Sideband stores an agent's facts exactly and carries them inside the prompt. Open source, Apache-2.0.</p>
<p><a href="/docs">Docs</a> <a href="/docs/api">API</a> <a href="/benchmarks">Benchmarks</a> <a href="/openapi.json">OpenAPI</a> <a href="/llms.txt">llms.txt</a> <a href="/healthz">Health</a> <a href="/console"${current(page, "/console")}>Console</a></p>
</footer>
</body>
</html>
`;
}

function scriptTags({ url, imports }: Asset): string {
  const preloads = imports.map((address) => `<link rel="modulepreload" href="${address}">`);
  return [...preloads, `<script type="module" src="${url}"></script>`].join("\n");
}

function current(page: Page, path: string): string {
  const within = page.path === path || (path !== "/" && page.path.startsWith(`${path}/`));
  if (!within) return "";
  return page.path === path ? ' aria-current="page"' : ' aria-current="true"';
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

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
export function codeTabs(id: string, samples: readonly CodeSample[]): string {
  if (samples.length === 1) return `${codeBlock(samples[0])}\n`;
  const tabs = samples.map((sample, i) => {
    const name = languageName(sample);
    return `<input type="radio" name="${id}" id="${id}-${i}" value="${name}"${i === 0 ? " checked" : ""}><label for="${id}-${i}">${name}</label>`;
  });
  const panels = samples.map(codeBlock);
  return `<div class="samples${samples.length === 2 ? " two" : ""}" role="group" aria-label="Code">${tabs.join("")}${panels.join("")}</div>\n`;
}
