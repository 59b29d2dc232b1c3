/** What a client says in the headers of a request about the answer it wants: its media type, and what it has already. */

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
