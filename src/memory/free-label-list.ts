/** All labels that a person has made, and those of a project that the view shares, with what they are for. */

import type { Store, View } from "./ports.ts";
import type { FreeLabel } from "./records.ts";
import { readViewLabels } from "./shared-reads.ts";

/** Labels that are read in one go. */
const READ_MAX = 256;

/** Page by page. */
export async function allFreeLabels(
  store: Pick<Store, "readFreeLabels">,
  who: Pick<View, "account" | "userId"> & Partial<Pick<View, "places">>,
  turn: () => Promise<unknown>,
): Promise<Map<string, FreeLabel>> {
  const labels = new Map<string, FreeLabel>();
  for (let after = ""; ; ) {
    const page = await readViewLabels(store, who, { prefix: "", after, limit: READ_MAX });
    for (const label of page) labels.set(label.label, label);
    if (page.length < READ_MAX) return labels;
    after = page[READ_MAX - 1].label;
    await turn();
  }
}
