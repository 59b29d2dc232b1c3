/** Where a value comes from: the person said it, an agent concluded it, or it was read in a file, a page or a tool's answer. */
export const FACT_ORIGINS = ["said", "concluded", "read"] as const;
export type FactOrigin = (typeof FACT_ORIGINS)[number];

/**
 * Of the earlier values of a fact that was read somewhere, the one that counted before: the last that was not read, unless the
 * fact was taken away since, or has ended.
 * @param earlier the oldest first
 */
export function lastAccepted<
  V extends { readonly ended?: string | undefined; readonly origin?: FactOrigin | undefined },
>(earlier: readonly V[]): V | undefined {
  const gone = earlier.findLastIndex(({ ended }) => ended === "forgotten" || ended === "expired");
  return earlier.slice(gone + 1).findLast(({ origin }) => origin !== "read");
}
