/** What all parts of the memory page work with: whose memory it is, what may be done, and how it is done. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LabelAnswer, StoredFact } from "../../contract/answers.ts";
import { isSidebandError } from "../../sdk/errors.ts";
import type { EncodeOptions } from "../../sdk/options.ts";
import type { Memory, PageClient } from "../api/memory.ts";
import type { LiveFacts, LiveState } from "./live-facts.ts";
import type { ToastMessage } from "./toast.tsx";

export interface MemoryPage {
  readonly api: PageClient;
  readonly memory: Memory;
  readonly live: LiveFacts;
  readonly state: LiveState;
  readonly canWrite: boolean;
  /** By label. */
  readonly labels: ReadonlyMap<string, LabelAnswer>;
  /** How many labels may still be added; 0 where this key may add none. */
  readonly freeLabels: number;
  /** Labels that have no room in the block. */
  readonly overflow: ReadonlySet<string>;
  readonly nowMs: number;
  /** Reads the labels again. */
  readonly readLabels: () => Promise<void>;
  readonly showToast: (message: ToastMessage | undefined) => void;
}

const PageContext = createContext<MemoryPage | undefined>(undefined);
export const PageProvider = PageContext.Provider;

export function usePage(): MemoryPage {
  return useContext(PageContext)!;
}

type WrittenFact = Pick<StoredFact, "label" | "value"> & Omit<EncodeOptions, "project">;

/**
 * Writes a fact from a form, if it is still what the person has seen (`ifRevision`).
 * @returns whether it was written; if not, the facts have been read again by now
 */
export async function writeSeen(
  { live, api, memory }: MemoryPage,
  { label, value, ...options }: WrittenFact,
): Promise<boolean> {
  const { userId, project } = memory;
  try {
    await live.write([label], () => api.encode(userId, label, value, { ...options, project }));
    return true;
  } catch (failure) {
    if (isSidebandError(failure, "revision_mismatch")) return false;
    throw failure;
  }
}

/**
 * Writes a fact as it was, with its end, where it was.
 * @param ifRevision the revision that it must have now; 0: there must be none
 */
export async function putBack(page: MemoryPage, fact: StoredFact, ifRevision: number): Promise<void> {
  const { live, api, memory } = page;
  const { label, value, place: scope, expires_at: expiresAt } = fact;
  const options = { project: memory.project, scope, expiresAt, ifRevision };
  await live.write([label], () => api.encode(memory.userId, label, value, options));
}
