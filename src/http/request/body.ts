/**
 * Bodies: JSON in well-formed UTF-8, of a bounded size, for which there is room. An empty body is no body. Room is taken
 * as a body comes, whatever was announced: an announcement costs its sender nothing. One that comes too slowly is ended.
 */

import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { ERRORS } from "../../base/error-codes.ts";
import { Failure } from "../../base/errors.ts";
import { BODY_PARTS_MAX } from "../../base/limits.ts";
import type { HttpRequest } from "../services.ts";
import type { ByteReservation } from "./byte-budget.ts";

interface BodyType {
  readonly pattern: RegExp;
  readonly name: string;
}

const JSON_BODY: BodyType = { pattern: /^application\/json\s*(?:;|$)/i, name: "application/json" };
const FORM_BODY: BodyType = {
  pattern: /^application\/x-www-form-urlencoded\s*(?:;|$)/i,
  name: "application/x-www-form-urlencoded",
};
const FIELDS_MAX = 100;
/** What a body has room for at first; then for twice as much each time. */
const FIRST_BYTES = 4_096;
/** The slowest that a body may come. */
const BYTES_PER_SECOND_MIN = 1_024;
/** The pieces that a body comes in: each costs time, however short it is. The smallest packets give 2,000 for 1 MiB. */
const PIECES_MAX = 4_000;
/** What a part of a body takes in memory, beside its text. */
const PART_BYTES = 64;

const [QUOTE, BACKSLASH, AMPERSAND] = Buffer.from('"\\&');
const PART_BEGINS = new Uint8Array(256);
for (const byte of Buffer.from("[{:,")) PART_BEGINS[byte] = 1;

interface BodyTerms {
  readonly bytesMax: number;
  /** For how long a body may come slowly. */
  readonly slowMs: number;
  /** Asked for when there is a body. */
  readonly holding: () => ByteReservation;
}

/** The value of the body; undefined where there is none. */
export async function readJson(
  request: Pick<HttpRequest, "headers"> & Readable,
  terms: BodyTerms,
): Promise<unknown> {
  const read = await readText(request, terms, JSON_BODY);
  if (read === undefined) return undefined;
  const { bytes, holding } = read;
  const parts = partsOf(bytes);
  if (parts > BODY_PARTS_MAX)
    throw new Failure("invalid_request", `A body has at most ${BODY_PARTS_MAX} names and values.`);
  holding.take(parts * PART_BYTES);
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new Failure("invalid_request", "The body is not JSON.");
  }
}

/** The fields of a form; undefined where there is no body. */
export async function readForm(
  request: Pick<HttpRequest, "headers"> & Readable,
  terms: BodyTerms,
): Promise<URLSearchParams | undefined> {
  const read = await readText(request, terms, FORM_BODY);
  if (read === undefined) return undefined;
  const { bytes, holding } = read;
  const fields = bytes.reduce((count, byte) => count + Number(byte === AMPERSAND), 1);
  if (fields > FIELDS_MAX) throw new Failure("invalid_request", `A form has at most ${FIELDS_MAX} fields.`);
  holding.take(fields * PART_BYTES);
  return new URLSearchParams(bytes.toString());
}

/** The bytes of a body of the right type; undefined where there is none. */
async function readText(
  request: Pick<HttpRequest, "headers"> & Readable,
  terms: BodyTerms,
  { pattern, name }: BodyType,
): Promise<{ bytes: Buffer; holding: ByteReservation } | undefined> {
  const { "content-type": type, "content-length": length, "transfer-encoding": coding } = request.headers;
  const isEmpty = coding === undefined && (length === undefined || length === "0");
  if (isEmpty && type === undefined) return undefined;
  if (type === undefined || !pattern.test(type))
    throw new Failure("unsupported_media_type", `Send the body with Content-Type: ${name}.`);
  if (isEmpty) return undefined;
  if (Number(length) > terms.bytesMax) throw tooLarge();
  const holding = terms.holding();
  const sizeMax = length === undefined ? terms.bytesMax : Number(length);
  const bytes = await readBytes(request, sizeMax, terms.slowMs, holding);
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new Failure("invalid_request", "The body is not well-formed UTF-8.");
  return { bytes, holding };
}

/** Into one piece of memory: a body may come in as many chunks as it has bytes, and each of them would be an object. */
function readBytes(
  request: Readable,
  sizeMax: number,
  slowMs: number,
  holding: ByteReservation,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer | undefined;
    let size = 0;
    let sizeBefore = 0;
    let pieces = 0;
    const fit = (sizeNext: number) => {
      const capacity = bytes?.length ?? 0;
      if (sizeNext <= capacity) return bytes!;
      const grown = Math.min(sizeMax, Math.max(FIRST_BYTES, 2 * capacity, sizeNext));
      holding.take(grown - capacity);
      const larger = Buffer.allocUnsafeSlow(grown);
      bytes?.copy(larger, 0, 0, size);
      return larger;
    };
    const take = (chunk: Buffer) => {
      try {
        const sizeNext = size + chunk.length;
        pieces += 1;
        if (sizeNext > sizeMax) throw tooLarge();
        if (pieces > PIECES_MAX) throw new Failure("body_too_large", "The body comes in too many pieces.");
        if (chunk.length === sizeMax) {
          holding.take(sizeMax);
          bytes = chunk;
        } else {
          bytes = fit(sizeNext);
          chunk.copy(bytes, size);
        }
        size = sizeNext;
      } catch (error) {
        refuse(error);
      }
    };
    const endIfSlow = () => {
      const isSlow = size - sizeBefore < (BYTES_PER_SECOND_MIN * slowMs) / 1_000;
      sizeBefore = size;
      if (isSlow) refuse(new Failure("request_timeout", "The body came slower than 1 KiB a second."));
    };
    // After the sockets have been read: what has come counts, however busy the process was.
    const look = setInterval(() => setImmediate(endIfSlow), slowMs);
    const end = () => {
      resolve(bytes?.subarray(0, size) ?? Buffer.alloc(0));
      letGo();
    };
    const refuse = (error: unknown) => {
      // The rest of what comes goes to nobody.
      request.resume();
      fail(error);
    };
    const fail = (error: unknown) => {
      reject(error);
      letGo();
    };
    // A connection that is kept alive keeps its last request, and that would keep the body.
    const letGo = () => {
      clearInterval(look);
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
