/**
 * Facts that were read somewhere and wait for the person, at a terminal and on the page: the value that one of them has
 * replaced, which counts again where the person turns it down. The write that brings it back has the revision of the fact
 * as its condition: what has changed since is left alone.
 */

import { lastAccepted } from "../base/fact-origins.ts";
import type { HistoryAnswer, StoredFact } from "../contract/answers.ts";
import type { AgentMemory } from "./agent-memory.ts";

/** Nobody has said them. */
export function waitingFacts(facts: readonly StoredFact[] = []): readonly StoredFact[] {
  return facts.filter(({ origin }) => origin === "read");
}

/** The value that counted before; undefined where there was none, it has ended, or it is not kept. */
export async function replacedValue(
  memory: Pick<AgentMemory, "history">,
  userId: string,
  { label, place: scope }: StoredFact,
  project: string | undefined,
  nowMs: number,
): Promise<HistoryAnswer["revisions"][number] | undefined> {
  const { revisions } = await memory.history(userId, label, { project, scope });
  const found = lastAccepted(revisions.filter(({ ended }) => ended !== undefined).reverse());
  const hasEnded = found?.expires_at !== undefined && Date.parse(found.expires_at) <= nowMs;
  return hasEnded ? undefined : found;
}
