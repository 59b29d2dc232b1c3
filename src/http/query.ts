/**
 * Query strings, strictly: percent-escapes must be well-formed UTF-8, a name given twice is an error. Faults
 * are kept beside the values and raised when the route looks at them, so that an unknown address stays a 404.
 */

import { Failure } from "../base/errors.ts";

const FAULT = Symbol("fault");

export type Query = Record<string, string> & { [FAULT]?: { param: string; detail: string } };

const NAMES_MAX = 32;

export function parseQuery(text: string): Query {
  // Without a prototype, no name means anything but itself.
  const query: Query = Object.create(null);
  if (text === "") return query;
  const pairs = text.split("&", NAMES_MAX + 1);
  if (pairs.length > NAMES_MAX)
    query[FAULT] = { param: "", detail: `The query has more than ${NAMES_MAX} parameters.` };
  for (const pair of pairs) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    try {
      const name = decode(rawName);
      if (name in query) query[FAULT] ??= { param: name, detail: `${name} is given twice.` };
      query[name] = equals < 0 ? "" : decode(pair.slice(equals + 1));
    } catch {
      const param = /^\w{1,64}$/.test(rawName) ? rawName : "";
      query[FAULT] ??= { param, detail: "The query is not well-formed UTF-8 in percent-encoding." };
    }
  }
  return query;
}

export function raiseQueryFault(query: unknown): void {
  const fault = (query as Query)[FAULT];
  if (fault === undefined) return;
  throw new Failure("invalid_request", fault.detail, fault.param === "" ? {} : { param: fault.param });
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}
