/**
 * Serves the built website (dist/web). Its manifest says what there is: each path becomes a route of its own, so no
 * request ever names a file. Everything is read into memory once (under a megabyte) with its compressed forms, but
 * for what is large, a model's weights: that is sent from the disk.
 *
 * Names with a hash are cached for ever; pages are asked for again and answered 304 by their ETag. The policy lets
 * a page load from this origin and nowhere else, and runs nothing inline.
 */

import { createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

export interface WebsiteOptions {
  /** Where the build put it. */
  readonly folder: string;
}

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

const SECURITY_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};
const IN_MEMORY_BYTES_MAX = 2 ** 20;
const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";

/** Registers a route for each file of the website; how many there are. None where it was not built. */
export function registerWebsite(app: FastifyInstance, { folder }: WebsiteOptions): number {
  const manifestFile = join(folder, "manifest.json");
  if (!existsSync(manifestFile)) return 0;
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, ManifestEntry>;
  for (const [path, entry] of Object.entries(manifest)) {
    if (entry.sizeBytes > IN_MEMORY_BYTES_MAX) {
      app.route({
        method: ["GET", "HEAD"],
        url: path,
        exposeHeadRoute: false,
        handler: (request, reply) => sendFromDisk(request, reply, entry, join(folder, entry.file)),
      });
      continue;
    }
    const forms = new Map<Encoding | "identity", Buffer>();
    forms.set("identity", readFileSync(join(folder, entry.file)));
    for (const encoding of entry.encodings) {
      forms.set(encoding, readFileSync(join(folder, entry.file + SUFFIXES[encoding])));
    }
    app.route({
      method: ["GET", "HEAD"],
      url: path,
      exposeHeadRoute: false,
      handler: (request, reply) => sendFile(request, reply, entry, forms),
    });
  }
  return Object.keys(manifest).length;
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, immutable }: ManifestEntry,
  forms: ReadonlyMap<Encoding | "identity", Buffer>,
): FastifyReply {
  const encoding = chooseEncoding(request.headers["accept-encoding"], forms);
  // One tag for each form: a tag names bytes, not a page.
  const tag = `"${etag}${encoding === "identity" ? "" : `-${encoding}`}"`;
  reply.headers(SECURITY_HEADERS).headers({
    "cache-control": immutable ? FOR_EVER : ASK_AGAIN,
    etag: tag,
    vary: "accept-encoding",
  });
  if (request.headers["if-none-match"]?.split(/\s*,\s*/).includes(tag)) return reply.code(304).send();
  if (encoding !== "identity") reply.header("content-encoding", encoding);
  const body = forms.get(encoding)!;
  reply.type(type).header("content-length", body.length);
  return reply.send(request.method === "HEAD" ? null : body);
}

function sendFromDisk(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, immutable, sizeBytes }: ManifestEntry,
  file: string,
): FastifyReply {
  const tag = `"${etag}"`;
  reply.headers(SECURITY_HEADERS).headers({
    "cache-control": immutable ? FOR_EVER : ASK_AGAIN,
    etag: tag,
  });
  if (request.headers["if-none-match"]?.split(/\s*,\s*/).includes(tag)) return reply.code(304).send();
  reply.type(type).header("content-length", sizeBytes);
  return reply.send(request.method === "HEAD" ? null : createReadStream(file));
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
