/** What parameters of a query stand for: moments, and the places at which lists go on. */

import { momentOf } from "../../base/clock.ts";
import { type Failure, invalidRequest } from "../../base/errors.ts";
import { isIdentifier } from "../../memory/identifiers.ts";

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
