/**
 * Builds the website into dist/web: scripts and styles with hashes in their names, pages as plain files, each also
 * compressed (Brotli and gzip), manifest.json, which says what is served at which path, and redirects.json, which says
 * which page a guessed address means. Run by npm run build.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { READER_WEIGHTS } from "../src/reader/weights-path.ts";
import { type Asset, markdownPath, type Page, renderPage } from "../src/web/shell.ts";
import { NOT_FOUND_PAGE, SITE_PAGES } from "../src/web/site-pages.ts";
import { COMPARISON } from "./comparison/columns.ts";
import { comparisonPage } from "./comparison/page.ts";
import { guessedAddresses } from "./guessed-addresses.ts";
import { findGuides } from "./guides.ts";
import { highlightPage } from "./highlight.ts";
import { llmsText } from "./llms-text.ts";
import { renderGuides } from "./render-guides.ts";
import { renderReference } from "./render-reference.ts";
import { searchIndex } from "./search-index.ts";
import { siteFonts } from "./site-fonts.ts";

interface ManifestEntry {
  /** The file, from dist/web; with .br and .gz beside it where that is smaller. */
  readonly file: string;
  readonly type: string;
  /** Its name has a hash: it never changes. */
  readonly immutable: boolean;
  readonly etag: string;
  readonly encodings: readonly ("br" | "gzip")[];
  readonly sizeBytes: number;
  readonly brotliBytes: number;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist/web");
const source = join(root, "src/web");
const PAGE_SCRIPTS = [
  "home.tsx",
  "playground.tsx",
  "keys.tsx",
  "account.tsx",
  "memory.tsx",
  "console.tsx",
  "docs.ts",
  "reference.ts",
];
const STYLES = ["site", "charts", "guides", "front", "memory", "benchmarks"];
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".woff2": "font/woff2",
};

const manifest: Record<string, ManifestEntry> = {};

const SHARED: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  platform: "browser",
  outdir: out,
  outbase: source,
  entryNames: "assets/[name]-[hash]",
  chunkNames: "assets/[name]-[hash]",
  assetNames: "assets/[name]-[hash]",
  metafile: true,
  write: false,
  legalComments: "none",
  logLevel: "warning",
};

async function main(): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  const assets = new Map<string, Asset>();

  const groups = findGuides(root);
  const guides = renderGuides(groups, (file) => addHashed(join(root, file)));
  const index = JSON.stringify(searchIndex(guides));
  const searchUrl = addHashedText("search.json", index);
  const weightsUrl = addWeights(READER_WEIGHTS);
  const worker = await bundle({
    entryPoints: [join(source, "codec/codec-worker.ts")],
    splitting: true,
    define: { READER_WEIGHTS_URL: JSON.stringify(weightsUrl) },
  });
  const workerUrl = entriesOf(worker).get("codec-worker")!.url;
  const pages = await bundle({
    entryPoints: PAGE_SCRIPTS.map((name) => join(source, "pages", name)),
    splitting: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { CODEC_WORKER_URL: JSON.stringify(workerUrl), SEARCH_INDEX_URL: JSON.stringify(searchUrl) },
  });
  const styles = await bundle({
    entryPoints: STYLES.map((name) => join(source, `style/${name}.css`)),
    plugins: [fontPlugin(await siteFonts())],
  });
  for (const metafile of [pages, styles]) {
    for (const [entry, asset] of entriesOf(metafile)) assets.set(entry, asset);
  }
  assets.set("icon.svg", { url: addHashed(join(source, "style/icon.svg")), imports: [] });

  const render = (page: Page) =>
    highlightPage(
      renderPage(page, (entry) => {
        const asset = assets.get(entry);
        if (asset === undefined) throw new Error(`${page.path} needs ${entry}, which the build did not make`);
        return asset;
      }),
    );
  const all = [...SITE_PAGES, comparisonPage(COMPARISON), ...guides, ...renderReference(groups)];
  for (const page of all) {
    add(
      page.path,
      `${page.path === "/" ? "index" : page.path.slice(1)}.html`,
      Buffer.from(render(page)),
      false,
    );
    add(markdownPath(page), markdownPath(page).slice(1), Buffer.from(page.markdown), false);
  }
  add("/llms.txt", "llms.txt", Buffer.from(llmsText(all)), false);
  // Not in the manifest: it has no address of its own.
  writeFileSync(join(out, "not-found.html"), render(NOT_FOUND_PAGE));
  add(
    "/robots.txt",
    "robots.txt",
    Buffer.from("User-agent: *\nDisallow: /console\nDisallow: /account\nDisallow: /memory\n"),
    false,
  );
  writeFileSync(join(out, "manifest.json"), `${JSON.stringify(manifest, null, 1)}\n`);
  writeFileSync(join(out, "redirects.json"), `${JSON.stringify(guessedAddresses(all, groups), null, 1)}\n`);
  report();
}

/** url("font:sans.woff2") in a style sheet. */
function fontPlugin(fonts: ReadonlyMap<string, Buffer>): Plugin {
  return {
    name: "fonts",
    setup(hooks) {
      hooks.onResolve({ filter: /^font:/ }, ({ path }) => ({
        path: path.slice("font:".length),
        namespace: "font",
      }));
      hooks.onLoad({ filter: /.*/, namespace: "font" }, ({ path }) => ({
        contents: fonts.get(path)!,
        loader: "file",
      }));
    },
  };
}

async function bundle(options: BuildOptions): Promise<Metafile> {
  const result = await build({ ...SHARED, ...options });
  for (const { path, contents } of result.outputFiles ?? []) {
    const name = path.slice(out.length + 1);
    add(`/${name}`, name, Buffer.from(contents), true);
  }
  return result.metafile!;
}

/** Entry points by name ("home", "site.css"), with what each loads at once: modules, or fonts. */
function entriesOf(metafile: Metafile): Map<string, Asset> {
  const urlOf = (path: string) => `/${path.slice("dist/web/".length)}`;
  const entries = new Map<string, Asset>();
  for (const [path, { entryPoint, imports }] of Object.entries(metafile.outputs)) {
    if (entryPoint === undefined) continue;
    const name =
      extname(entryPoint) === ".css" ? basename(entryPoint) : basename(entryPoint, extname(entryPoint));
    const statics = imports
      .filter(({ kind }) => kind === "import-statement" || kind === "url-token")
      .map((file) => urlOf(file.path));
    entries.set(name, { url: urlOf(path), imports: statics });
  }
  return entries;
}

function addHashed(file: string): string {
  return addHashedText(file, readFileSync(file));
}

function addHashedText(file: string, text: Buffer | string): string {
  const contents = Buffer.from(text);
  const url = hashedUrl(file, contents);
  if (manifest[url] === undefined) add(url, url.slice(1), contents, true);
  return url;
}

/**
 * A model's weights are served from where the package has them, as they are: compression takes 8 % off, and a
 * browser could not tell how far they have come.
 */
function addWeights(address: URL): string {
  const file = fileURLToPath(address);
  const contents = readFileSync(file);
  const url = hashedUrl(file, contents);
  manifest[url] = entryOf(relative(out, file), contents, true, undefined);
  return url;
}

function hashedUrl(file: string, contents: Buffer): string {
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 8);
  return `/assets/${basename(file, extname(file))}-${hash}${extname(file)}`;
}

function add(path: string, file: string, contents: Buffer, immutable: boolean): void {
  const target = join(out, file);
  mkdirSync(join(target, ".."), { recursive: true });
  writeFileSync(target, contents);
  const brotli = brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  const gzip = gzipSync(contents, { level: 9 });
  const smaller = brotli.length < contents.length && gzip.length < contents.length;
  if (smaller) {
    writeFileSync(`${target}.br`, brotli);
    writeFileSync(`${target}.gz`, gzip);
  }
  manifest[path] = entryOf(file, contents, immutable, smaller ? brotli.length : undefined);
}

function entryOf(
  file: string,
  contents: Buffer,
  immutable: boolean,
  brotliBytes: number | undefined,
): ManifestEntry {
  return {
    file,
    type: TYPES[extname(file)] ?? "application/octet-stream",
    immutable,
    etag: createHash("sha256").update(contents).digest("base64url").slice(0, 22),
    encodings: brotliBytes === undefined ? [] : ["br", "gzip"],
    sizeBytes: contents.length,
    brotliBytes: brotliBytes ?? contents.length,
  };
}

function report(): void {
  const entries = Object.values(manifest);
  const sum = (of: (entry: ManifestEntry) => number) =>
    `${Math.round(entries.reduce((total, entry) => total + of(entry), 0) / 1024)} KiB`;
  console.log(
    `dist/web: ${entries.length} files, ${sum(({ sizeBytes }) => sizeBytes)}, ${sum(({ brotliBytes }) => brotliBytes)} compressed`,
  );
}

await main();
