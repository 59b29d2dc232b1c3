/**
 * Query strings, strictly: percent-escapes must be well-formed UTF-8, a name given twice is an error. Faults
 * are kept beside the values and raised after the access check, so that an unknown address stays a 404.
 * And what parameters stand for: moments, and the places at which lists go on.
 */

import { momentOf } from "../../base/clock.ts";
import { Failure, invalidRequest } from "../../base/errors.ts";
import { isIdentifier } from "../../memory/identifiers.ts";

const FAULT = Symbol("fault");

export type UrlQuery = Record<string, string> & { [FAULT]?: { param: string; detail: string } };

const NAMES_MAX = 32;

/** Inherits nothing, so that a name such as "constructor" is a name like any other. A constructor makes it quickly. */
class EmptyQuery {}
Object.setPrototypeOf(EmptyQuery.prototype, null);
Reflect.deleteProperty(EmptyQuery.prototype, "constructor");

export function parseQuery(text: string): UrlQuery {
  const query = new EmptyQuery() as UrlQuery;
  let names = 0;
  for (let start = 0; start < text.length; ) {
    const ampersand = text.indexOf("&", start);
    const end = ampersand < 0 ? text.length : ampersand;
    names += 1;
    if (names > NAMES_MAX) {
      query[FAULT] = { param: "", detail: `The query has more than ${NAMES_MAX} parameters.` };
      break;
    }
    if (end > start) addPair(query, text.slice(start, end));
    start = end + 1;
  }
  return query;
}

function addPair(query: UrlQuery, pair: string): void {
  const equals = pair.indexOf("=");
  const rawName = equals < 0 ? pair : pair.slice(0, equals);
  try {
    const name = decode(rawName);
    if (query[name] !== undefined) query[FAULT] ??= { param: name, detail: `${name} is given twice.` };
    query[name] = equals < 0 ? "" : decode(pair.slice(equals + 1));
  } catch {
    const param = /^\w{1,64}$/.test(rawName) ? rawName : "";
    query[FAULT] ??= { param, detail: "The query is not well-formed UTF-8 in percent-encoding." };
  }
}

export function raiseQueryFault(query: UrlQuery | undefined): void {
  const fault = query?.[FAULT];
  if (fault === undefined) return;
  throw new Failure("invalid_request", fault.detail, fault.param === "" ? {} : { param: fault.param });
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}

export function momentIn(text: string, param: string): number {
  const ms = momentOf(text);
  if (ms === undefined || ms < 0)
    throw invalidRequest(
      param,
      `${param} must be a moment of RFC 3339 with its zone, such as "2026-11-15T18:00:00Z", or a day.`,
    );
  return ms;
}

export function cursorOf(text: string): string {
  return Buffer.from(text).toString("base64url");
}

export function textOfCursor(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  // Those that were given out are of user ids, moments and revisions.
  if (cursorOf(text) !== cursor || !isIdentifier(text)) throw wrongCursor();
  return text;
}

export function wrongCursor(): Failure {
  return invalidRequest("cursor", "cursor must be the next_cursor of the page before.");
}
