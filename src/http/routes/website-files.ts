/**
 * Serves the built website (dist/web). Its manifest says what there is: each path becomes a route of its own, so no
 * request ever names a file. Each file is read into memory with its compressed forms when it is first asked for, but
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
import type { NotFoundPages } from "../request/dispatcher.ts";
import { hasEntity } from "../request/preferences.ts";
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
  "font-src 'self'",
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

const KEYS_TEXT = /(<p id="keys-text">)[^<]*(<\/p>)/;

/** A route for each file of the website; none where it was not built. */
export function websiteRoutes({ folder, keysText }: WebsiteOptions): Route[] {
  const manifestFile = join(folder, "manifest.json");
  if (!existsSync(manifestFile)) return [];
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, ManifestEntry>;
  return Object.entries(manifest).map(([path, built]) => {
    const file = join(folder, built.file);
    const large = built.sizeBytes > IN_MEMORY_BYTES_MAX;
    const isWorded = path === "/keys" && keysText !== undefined;
    // Read when somebody asks for it: reading all of them took 30 ms of a start.
    let known: [ManifestEntry, Forms] | undefined;
    const handle = (call: Call) => {
      if (large) return sendFromDisk(call, built, file);
      known ??= isWorded ? withKeysText(built, file, keysText) : [built, readForms(file, built)];
      return sendFromMemory(call, ...known);
    };
    return { method: "GET", path, access: "page", bodyBytesMax: "stream", handle };
  });
}

/** The page with the operator's words, compressed once. */
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

/** What the website answers where there is no route; undefined where it was not built. */
export function notFoundPages(folder: string): NotFoundPages | undefined {
  const file = join(folder, "not-found.html");
  if (!existsSync(file)) return undefined;
  const headers = [...SECURITY_HEADERS, "cache-control", ASK_AGAIN];
  const redirects = new Map<string, string>(
    Object.entries(JSON.parse(readFileSync(join(folder, "redirects.json"), "utf8"))),
  );
  return {
    page: new Answer(readFileSync(file), { status: 404, type: "text/html; charset=utf-8", headers }),
    redirectFor: (path) => {
      const page = redirects.get(guessOf(path));
      if (page === undefined) return undefined;
      return new Answer(undefined, { status: 301, headers: [...headers, "location", page] });
    },
  };
}

/** /Docs/MODEL_CARD.md/ → /docs/model-card */
function guessOf(path: string): string {
  return path
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/\/$/, "")
    .replace(/\.(md|html)$/, "");
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
  if (hasEntity(call, tag)) return new Answer(undefined, { status: 304, headers });
  if (encoding !== "identity") headers.push("content-encoding", encoding);
  return new Answer(forms.get(encoding)!, { type, headers });
}

function sendFromDisk(call: Call, entry: ManifestEntry, file: string): Answer {
  const { type, etag, immutable, sizeBytes } = entry;
  const tag = `"${etag}"`;
  const headers = headersOf(tag, immutable);
  if (hasEntity(call, tag)) return new Answer(undefined, { status: 304, headers });
  headers.push("content-length", String(sizeBytes));
  return new Answer(call.method === "HEAD" ? undefined : createReadStream(file), { type, headers });
}

function headersOf(tag: string, immutable: boolean): string[] {
  return [...SECURITY_HEADERS, "cache-control", immutable ? FOR_EVER : ASK_AGAIN, "etag", tag];
}

/** The best form that the browser takes; "br;q=0" means that it does not. */
export function chooseEncoding(
  accepted: string | undefined,
  forms: ReadonlyMap<Encoding | "identity", unknown>,
): Encoding | "identity" {
  const offered = (accepted ?? "").split(",").map((part) => part.trim().toLowerCase());
  const takes = (encoding: Encoding) =>
    offered.some((part) => {
      const [name, ...parameters] = part.split(";").map((word) => word.trim());
      return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
  if (forms.has("br") && takes("br")) return "br";
  if (forms.has("gzip") && takes("gzip")) return "gzip";
  return "identity";
}
