/** Options of the client as the fields and headers of the interface. A field that is undefined is not sent. */

import type { ExpectedFact, FactEnd, FactPlace, LabelTermsChange, Moment } from "./options.ts";

export function factFields({ scope, ttlS, expiresAt }: FactPlace & FactEnd) {
  return { scope, ttl_s: ttlS, expires_at: isoMoment(expiresAt) };
}

export function labelFields(terms: LabelTermsChange) {
  if (typeof terms !== "object" || terms === null)
    throw new TypeError('a label takes its terms, such as { description: "what belongs there" }');
  const { oneOf, maxBytes, ttlS, ...rest } = terms;
  return { ...rest, one_of: oneOf, max_bytes: maxBytes, ttl_s: ttlS };
}

export function expectedHeaders({ ifRevision }: ExpectedFact): Record<string, string> {
  if (ifRevision === undefined) return {};
  return ifRevision === 0 ? { "if-none-match": "*" } : { "if-match": `"${ifRevision}"` };
}

export function isoMoment(moment: Moment | undefined): string | undefined {
  return moment instanceof Date ? moment.toISOString() : moment;
}

/** crypto.randomUUID would be shorter, but browsers have it only on secure pages. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
