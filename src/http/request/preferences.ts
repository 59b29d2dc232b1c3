/**
 * What a client says in the headers of a request about the answer it wants: its media type, what it has already, and
 * which fact it expects to find.
 */

import { invalidRequest } from "../../base/errors.ts";
import type { Call } from "./call.ts";

/** Whether a person's browser asks: it names HTML, and no JSON that it likes as much. Clients of the API never do. */
export function prefersHtml(accept: string | undefined): boolean {
  let html = 0;
  let json = 0;
  for (const range of (accept ?? "").split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = qualityOf(parameters);
    if (type === "text/html") html = Math.max(html, quality);
    if (type === "application/json" || type === "application/problem+json") json = Math.max(json, quality);
  }
  return html > json;
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith("q="));
  return given === undefined ? 1 : Number(given.slice(2)) || 0;
}

/** Whether the client has the entity with this tag (If-None-Match, with the weak comparison of RFC 9110, 8.8.3.2). */
export function hasEntity(call: Pick<Call, "header">, tag: string): boolean {
  const header = call.header("if-none-match");
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const candidate = part.trim();
    return candidate === "*" || candidate === tag || candidate === `W/${tag}`;
  });
}

/** A fact's revision as its entity tag. */
export function revisionHeaders(revision: number): readonly string[] {
  return ["etag", `"${revision}"`];
}

/** The revision that a fact must have for a write (If-Match), 0 where there must be none (If-None-Match: *). */
export function expectedRevision(call: Pick<Call, "header">): number | undefined {
  const [match, noneMatch] = [call.header("if-match"), call.header("if-none-match")];
  if (match !== undefined && noneMatch !== undefined)
    throw invalidRequest("If-Match", "Send If-Match or If-None-Match, not both.");
  if (noneMatch !== undefined) {
    if (noneMatch.trim() === "*") return 0;
    throw invalidRequest("If-None-Match", "If-None-Match takes * here: the fact must not exist.");
  }
  if (match === undefined) return undefined;
  const [, revision] = /^\s*"([1-9]\d{0,15})"\s*$/.exec(match) ?? [];
  if (revision === undefined)
    throw invalidRequest("If-Match", 'If-Match takes the revision of a fact in quotes, such as "17".');
  return Number(revision);
}

/** A parameter that is true, false, 1 or 0. */
export function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^(true|1)$/i.test(text);
}
