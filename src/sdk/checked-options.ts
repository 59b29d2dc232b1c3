/** What a program got wrong is told at once, as a TypeError or RangeError, and not by the first call that fails. */

import { SECTION_PARTS, type SectionParts } from "../agent-side/memory-section.ts";

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

export function checkedTimeout(timeoutMs: number): number {
  if (timeoutMs >= 0) return timeoutMs;
  throw new RangeError(`timeoutMs is a number from 0 on, not ${timeoutMs}`);
}

/** @param given an option, or the text of the variable */
export function checkedStaleMs(given: number | string): number {
  const ms = given === "" ? Number.NaN : Number(given);
  if (ms >= 0) return ms;
  throw new RangeError(
    `staleIfErrorMs (SIDEBAND_STALE_IF_ERROR_MS) is a number from 0 on, not ${String(given)}`,
  );
}

/** A program in plain JavaScript may pass undefined, which would be left out of the request. */
export function checkedUser(userId: string): string {
  if (typeof userId === "string") return userId;
  throw new TypeError(`userId is a text, not ${String(userId)}`);
}
