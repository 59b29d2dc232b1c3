/**
 * Bodies: JSON in well-formed UTF-8, of a bounded size, for which there is room. An empty body is no body. Room is taken
 * for what was announced before any of it is read, and without an announcement as it comes.
 */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ERRORS } from "../../base/error-codes.ts";
import { Failure } from "../../base/errors.ts";
import { BODY_PARTS_MAX } from "../../base/limits.ts";
import type { BodyPlace } from "./body-room.ts";

const JSON_BODY = /^application\/json\s*(?:;|$)/i;
/** Of a body without an announced size. */
const FIRST_BYTES = 4_096;
/** The pieces that a body comes in: each costs time, however short it is. The smallest packets give 2,000 for 1 MiB. */
const PIECES_MAX = 4_000;
/** What a part of a body takes in memory, beside its text. */
const PART_BYTES = 64;

const [QUOTE, BACKSLASH] = Buffer.from('"\\');
const PART_BEGINS = new Uint8Array(256);
for (const byte of Buffer.from("[{:,")) PART_BEGINS[byte] = 1;

/** The value of the body; undefined where there is none. */
export async function readJson(
  request: IncomingMessage,
  bytesMax: number,
  place: () => BodyPlace,
): Promise<unknown> {
  const { "content-type": type, "content-length": length, "transfer-encoding": coding } = request.headers;
  const isEmpty = coding === undefined && (length === undefined || length === "0");
  if (isEmpty && type === undefined) return undefined;
  if (type === undefined || !JSON_BODY.test(type))
    throw new Failure("unsupported_media_type", "Send the body with Content-Type: application/json.");
  if (isEmpty) return undefined;
  if (Number(length) > bytesMax) throw tooLarge();
  const taken = place();
  if (length !== undefined) taken.take(Number(length));
  const bytes = await readBytes(request, length === undefined ? undefined : Number(length), bytesMax, taken);
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new Failure("invalid_request", "The body is not well-formed UTF-8.");
  const parts = partsOf(bytes);
  if (parts > BODY_PARTS_MAX)
    throw new Failure("invalid_request", `A body has at most ${BODY_PARTS_MAX} names and values.`);
  taken.take(parts * PART_BYTES);
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new Failure("invalid_request", "The body is not JSON.");
  }
}

/** Into one piece of memory: a body may come in as many chunks as it has bytes, and each of them would be an object. */
function readBytes(
  request: IncomingMessage,
  announced: number | undefined,
  bytesMax: number,
  place: BodyPlace,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer | undefined;
    let size = 0;
    let pieces = 0;
    const fit = (sizeNext: number) => {
      const capacity = bytes?.length ?? 0;
      if (sizeNext <= capacity) return bytes!;
      const grown = announced ?? Math.min(bytesMax, Math.max(FIRST_BYTES, 2 * capacity, sizeNext));
      if (announced === undefined) place.take(grown - capacity);
      const larger = Buffer.allocUnsafeSlow(grown);
      bytes?.copy(larger, 0, 0, size);
      return larger;
    };
    const take = (chunk: Buffer) => {
      try {
        const sizeNext = size + chunk.length;
        pieces += 1;
        if (sizeNext > bytesMax) throw tooLarge();
        if (pieces > PIECES_MAX) throw new Failure("body_too_large", "The body comes in too many pieces.");
        if (chunk.length === announced) bytes = chunk;
        else {
          bytes = fit(sizeNext);
          chunk.copy(bytes, size);
        }
        size = sizeNext;
      } catch (error) {
        // The rest of what has come goes to nobody, and the connection ends with the answer.
        request.resume();
        fail(error);
      }
    };
    const end = () => {
      resolve(bytes?.subarray(0, size) ?? Buffer.alloc(0));
      letGo();
    };
    const fail = (error: unknown) => {
      reject(error);
      letGo();
    };
    // A connection that is kept alive keeps its last request, and that would keep the body.
    const letGo = () => {
      bytes = undefined;
      request.off("data", take).off("end", end).off("error", fail);
    };
    request.on("data", take).on("end", end).on("error", fail);
  });
}

/** How many names and values there are at most, by the marks before them: each becomes an object, however short it is. */
function partsOf(bytes: Buffer): number {
  let parts = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === QUOTE) i = endOfText(bytes, i + 1);
    else parts += PART_BEGINS[bytes[i]];
  }
  return parts;
}

/** Where the quote is that ends the text which begins at `i`. */
function endOfText(bytes: Buffer, i: number): number {
  let end = i;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}

function tooLarge(): Failure {
  return new Failure("body_too_large", ERRORS.body_too_large.meaning);
}
