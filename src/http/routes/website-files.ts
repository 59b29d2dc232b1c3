/**
 * Serves the built website (dist/web). Its manifest says what there is: each path becomes a route of its own, so no
 * request ever names a file. Everything is read into memory once (under a megabyte) with its compressed forms, but
 * for what is large, a model's weights: that is sent from the disk.
 *
 * Names with a hash are cached for ever; pages are asked for again and answered 304 by their ETag. The policy lets
 * a page load from this origin and nowhere else, and runs nothing inline.
 */

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { Route } from "../request/route.ts";

interface ManifestEntry {
  readonly file: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly etag: string;
  readonly encodings: readonly Encoding[];
  readonly sizeBytes: number;
}

type Encoding = "br" | "gzip";
const SUFFIXES: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz" };

export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS = [
  "content-security-policy",
  CONTENT_SECURITY_POLICY,
  "x-content-type-options",
  "nosniff",
  "referrer-policy",
  "no-referrer",
  "cross-origin-opener-policy",
  "same-origin",
  "cross-origin-resource-policy",
  "same-origin",
  "permissions-policy",
  "camera=(), geolocation=(), microphone=()",
];
const IN_MEMORY_BYTES_MAX = 2 ** 20;
const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";

type Forms = ReadonlyMap<Encoding | "identity", Buffer>;

export interface WebsiteOptions {
  /** Where the build put it. */
  readonly folder: string;
  /** The operator's words on /keys, instead of the page's own. */
  readonly keysText: string | undefined;
}

export interface Website {
  /** A route for each file; none where the site was not built. */
  readonly routes: Route[];
  /** The page for a browser that asks for an address where there is nothing. */
  readonly notFound: (call: Call) => Answer | undefined;
}

/** Where the manifest has the page of an address where there is nothing; it has no route. */
const NOT_FOUND_PATH = "/404";
const KEYS_TEXT = /(<p id="keys-text">)[\s\S]*?(<\/p>)/;

export function openWebsite(options: WebsiteOptions | undefined): Website {
  const manifestFile = join(options?.folder ?? "", "manifest.json");
  if (options === undefined || !existsSync(manifestFile)) return { routes: [], notFound: () => undefined };
  const { folder, keysText } = options;
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, ManifestEntry>;
  const { [NOT_FOUND_PATH]: missing, ...entries } = manifest;
  const routes = Object.entries(entries).map(([path, built]): Route => {
    const file = join(folder, built.file);
    const large = built.sizeBytes > IN_MEMORY_BYTES_MAX;
    let [entry, forms] = [built, large ? undefined : readForms(file, built)];
    if (path === "/keys" && keysText !== undefined) [entry, forms] = withKeysText(built, file, keysText);
    const handle = (call: Call) =>
      forms === undefined ? sendFromDisk(call, entry, file) : sendFromMemory(call, entry, forms);
    return { method: "GET", path, access: "page", bodyBytesMax: "stream", handle };
  });
  const page = missing === undefined ? undefined : readFileSync(join(folder, missing.file));
  return {
    routes,
    notFound(call) {
      const isBrowser = /\btext\/html\b/.test(call.header("accept") ?? "");
      const reads = call.method === "GET" || call.method === "HEAD";
      if (page === undefined || !isBrowser || !reads) return undefined;
      return new Answer(page, { status: 404, type: missing.type, headers: headersOf('"404"', false) });
    },
  };
}

/** The page with the operator's words, compressed once, at the start. */
function withKeysText(built: ManifestEntry, file: string, keysText: string): [ManifestEntry, Forms] {
  const safe = keysText.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  const html = readFileSync(file, "utf8").replace(KEYS_TEXT, (_, open, close) => open + safe + close);
  const page = Buffer.from(html);
  const forms = new Map<Encoding | "identity", Buffer>([
    ["identity", page],
    ["br", brotliCompressSync(page)],
    ["gzip", gzipSync(page)],
  ]);
  return [{ ...built, etag: createHash("sha256").update(page).digest("base64url").slice(0, 22) }, forms];
}

function readForms(file: string, { encodings }: ManifestEntry): Forms {
  const forms = new Map<Encoding | "identity", Buffer>([["identity", readFileSync(file)]]);
  for (const encoding of encodings) forms.set(encoding, readFileSync(file + SUFFIXES[encoding]));
  return forms;
}

function sendFromMemory(call: Call, { type, etag, immutable }: ManifestEntry, forms: Forms): Answer {
  const encoding = chooseEncoding(call.header("accept-encoding"), forms);
  // One tag for each form: a tag names bytes, not a page.
  const tag = `"${etag}${encoding === "identity" ? "" : `-${encoding}`}"`;
  const headers = [...headersOf(tag, immutable), "vary", "accept-encoding"];
  if (isKnown(call, tag)) return new Answer(undefined, { status: 304, headers });
  if (encoding !== "identity") headers.push("content-encoding", encoding);
  return new Answer(forms.get(encoding)!, { type, headers });
}

function sendFromDisk(call: Call, entry: ManifestEntry, file: string): Answer {
  const { type, etag, immutable, sizeBytes } = entry;
  const tag = `"${etag}"`;
  const headers = headersOf(tag, immutable);
  if (isKnown(call, tag)) return new Answer(undefined, { status: 304, headers });
  headers.push("content-length", String(sizeBytes));
  return new Answer(call.method === "HEAD" ? undefined : createReadStream(file), { type, headers });
}

function headersOf(tag: string, immutable: boolean): string[] {
  return [...SECURITY_HEADERS, "cache-control", immutable ? FOR_EVER : ASK_AGAIN, "etag", tag];
}

function isKnown(call: Call, tag: string): boolean {
  return (
    call
      .header("if-none-match")
      ?.split(/\s*,\s*/)
      .includes(tag) === true
  );
}

/** The best form that the browser takes; "br;q=0" means that it does not. */
export function chooseEncoding(
  accepted: string | undefined,
  forms: ReadonlyMap<Encoding | "identity", unknown>,
): Encoding | "identity" {
  const offered = (accepted ?? "").split(",").map((part) => part.trim().toLowerCase());
  const takes = (encoding: Encoding) =>
    offered.some((part) => {
      const [name, ...parameters] = part.split(/\s*;\s*/);
      return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
  if (forms.has("br") && takes("br")) return "br";
  if (forms.has("gzip") && takes("gzip")) return "gzip";
  return "identity";
}
