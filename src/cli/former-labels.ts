/** Changes of facts that were renamed: what happened before that is told under the label that they had then. */

import { factName } from "../agents/session-news.ts";
import type { ChangesAnswer } from "../contract/answers.ts";

export type KeptChange = ChangesAnswer["changes"][number];

/** @param changes the newest first */
export function underFormerLabels(changes: readonly KeptChange[]): KeptChange[] {
  const former = new Map<string, string>();
  return changes.map((change) => {
    const { label, renamed_from: from } = change;
    const then = { ...change, label: former.get(factName(change)) ?? label };
    if (from !== undefined) former.set(factName(change), from);
    return then;
  });
}
