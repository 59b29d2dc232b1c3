/** Where a value comes from: the person said it, an agent concluded it, or it was read in a file, a page or a tool's answer. */
export const FACT_ORIGINS = ["said", "concluded", "read"] as const;
export type FactOrigin = (typeof FACT_ORIGINS)[number];
