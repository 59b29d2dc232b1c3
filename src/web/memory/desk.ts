/** What all parts of the memory page work with: whose memory it is, what may be done, and how it is done. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { KnownLabel, Memory, MemoryApi, StoredFact, UsageAnswer } from "../api/memory.ts";
import type { LiveFacts, LiveState } from "./live-facts.ts";

export interface Desk {
  readonly api: MemoryApi;
  readonly usage: UsageAnswer;
  readonly memory: Memory;
  readonly live: LiveFacts;
  readonly state: LiveState;
  readonly canWrite: boolean;
  /** By label. */
  readonly labels: ReadonlyMap<string, KnownLabel>;
  /** How many labels may still be added; 0 where this key may add none. */
  readonly freeLabels: number;
  /** Labels that have no room in the block. */
  readonly overflow: ReadonlySet<string>;
  readonly nowMs: number;
  /** Reads the labels again. */
  readonly readLabels: () => Promise<void>;
  /** Says at the foot of the page what was done, with what can be done about it. */
  readonly say: (said: Said | undefined) => void;
}

export interface Said {
  readonly text: string;
  readonly actions: readonly SaidAction[];
}

export interface SaidAction {
  readonly name: string;
  readonly run: () => Promise<void>;
}

const DeskContext = createContext<Desk | undefined>(undefined);
export const DeskProvider = DeskContext.Provider;

export function useDesk(): Desk {
  return useContext(DeskContext)!;
}

/**
 * Writes a fact as it was, with its end, where it was.
 * @param expected the revision that it must have now; 0: there must be none
 */
export async function putBack(
  { live, api, memory }: Desk,
  fact: StoredFact,
  expected: number,
): Promise<void> {
  const { label, value, place, expires_at } = fact;
  const draft = { label, value, scope: place, ...(expires_at === undefined ? {} : { expires_at }) };
  await live.write([label], () => api.write(memory, draft, expected));
}
