/**
 * Options of the client: from the environment where there is one, checked, and as the fields and headers of the interface.
 * What a program got wrong is told at once, as a TypeError or RangeError, and not by the first call that fails.
 */

import { SECTION_PARTS, type SectionParts } from "../agent-side/memory-section.ts";
import { CONTEXT_TOKENS_MAX } from "../base/limits.ts";
import type {
  ExpectedFact,
  FactEnd,
  FactPlace,
  FromWhere,
  LabelTermsChange,
  Moment,
  Pinnable,
  UnknownLabel,
} from "./options.ts";

/** A variable; undefined where it is empty, not set, or there is no environment: Node, Deno and Bun have one, browsers do not. */
export function variable(
  name:
    | "SIDEBAND_API_URL"
    | "SIDEBAND_API_KEY"
    | "SIDEBAND_INCLUDE"
    | "SIDEBAND_STALE_IF_ERROR_MS"
    | "SIDEBAND_CONTEXT_TOKENS",
): string | undefined {
  try {
    return globalThis.process?.env?.[name] || undefined;
  } catch {
    // Deno throws if the program may not read the environment.
    return undefined;
  }
}

/** The address of a service, without slashes at its end. */
export function checkedAddress(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {}
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.search + url.hash !== "")
    throw new TypeError(`baseUrl is an address such as https://memory.example/path, not "${text}"`);
  return text.replace(/(?<!\/)\/+$/, "");
}

export function checkedParts(text: string): SectionParts {
  const parts = SECTION_PARTS.find((known) => known === text);
  if (parts === undefined)
    throw new TypeError(`include (SIDEBAND_INCLUDE) is one of ${SECTION_PARTS.join(", ")}, not "${text}"`);
  return parts;
}

/** @param given an option, or the text of the variable */
export function checkedStaleMs(given: number | string): number {
  const ms = given === "" ? Number.NaN : Number(given);
  if (ms >= 0) return ms;
  throw new RangeError(
    `staleIfErrorMs (SIDEBAND_STALE_IF_ERROR_MS) is a number from 0 on, not ${String(given)}`,
  );
}

/** @param given an option, or the text of the variable */
export function checkedContextTokens(given: number | string): number {
  const tokens = given === "" ? Number.NaN : Number(given);
  if (tokens === 0 || (Number.isInteger(tokens) && tokens >= 200 && tokens <= CONTEXT_TOKENS_MAX))
    return tokens;
  throw new RangeError(
    `contextTokens (SIDEBAND_CONTEXT_TOKENS) is 0, or from 200 to ${CONTEXT_TOKENS_MAX}, not ${String(given)}`,
  );
}

/** A program in plain JavaScript may pass undefined, which would be left out of the request. */
export function checkedUser(userId: string): string {
  if (typeof userId === "string") return userId;
  throw new TypeError(`userId is a text, not ${String(userId)}`);
}

/** A field that is undefined is not sent. */
export function factFields(fact: FactPlace & FactEnd & UnknownLabel & FromWhere & Pinnable) {
  const { scope, ttlS, expiresAt, newLabel, ...rest } = fact;
  const { description, origin, pinned } = rest;
  const end = { ttl_s: ttlS, expires_at: isoMoment(expiresAt) };
  return { scope, ...end, new_label: newLabel, description, origin, pinned };
}

export function labelFields(terms: LabelTermsChange) {
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
