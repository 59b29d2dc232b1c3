/** Bodies: JSON in well-formed UTF-8, of a bounded size. An empty body is no body. */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ERRORS } from "../../base/error-codes.ts";
import { Failure } from "../../base/errors.ts";

const JSON_BODY = /^application\/json\s*(?:;|$)/i;

/** The value of the body; undefined where there is none. */
export async function readJson(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const { "content-type": type, "content-length": length, "transfer-encoding": coding } = request.headers;
  const isEmpty = coding === undefined && (length === undefined || length === "0");
  if (isEmpty && type === undefined) return undefined;
  if (type === undefined || !JSON_BODY.test(type))
    throw new Failure("unsupported_media_type", "Send the body with Content-Type: application/json.");
  if (isEmpty) return undefined;
  if (Number(length) > bytesMax) throw tooLarge();
  const bytes = await readBytes(request, bytesMax);
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new Failure("invalid_request", "The body is not well-formed UTF-8.");
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new Failure("invalid_request", "The body is not JSON.");
  }
}

function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) reject(tooLarge());
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on("error", reject);
  });
}

function tooLarge(): Failure {
  return new Failure("body_too_large", ERRORS.body_too_large.meaning);
}
