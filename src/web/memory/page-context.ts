/** What all parts of the memory page work with: whose memory it is, what may be done, and how it is done. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { LabelAnswer, PlaceKind, ProjectAnswer, StoredFact } from "../../contract/answers.ts";
import type { Memory, PageClient } from "../api/memory.ts";
import type { LiveFacts, LiveState } from "./live-facts.ts";
import type { ToastMessage } from "./toast.tsx";

export interface Sharing {
  /** Names of shared projects: those of a bound key's user, or all of the account. */
  readonly names: readonly string[];
  /** The project in which one looks, where its person shares it. */
  readonly here: ProjectAnswer | undefined;
}

export interface MemoryPage {
  readonly api: PageClient;
  readonly memory: Memory;
  readonly live: LiveFacts;
  readonly state: LiveState;
  /** The facts of `state`. */
  readonly byLabel: ReadonlyMap<string, StoredFact>;
  /** The projects and worktrees in which the person has facts. */
  readonly projects: readonly string[];
  readonly canWrite: boolean;
  /** What the person shares with a team. */
  readonly sharing: Sharing;
  /** What the page calls the person: a key of the whole account shows the memories of others. */
  readonly me: string;
  /** By label: those of the account, and those that the person's facts have. */
  readonly labels: ReadonlyMap<string, LabelAnswer>;
  /** How many labels of the account may still be added; 0 where this key may add none. */
  readonly labelsLeft: number;
  /** Whether a person makes labels by writing them: not in a strict account. */
  readonly mayMakeLabels: boolean;
  /** Reads the labels again. */
  readonly readLabels: () => Promise<void>;
  readonly showToast: (message: ToastMessage | undefined) => void;
}

const PageContext = createContext<MemoryPage | undefined>(undefined);
export const PageProvider = PageContext.Provider;

/** Whether what is at a place may be changed: what a team shares, by those who may write it. */
export function mayChange(
  { canWrite, sharing }: Pick<MemoryPage, "canWrite" | "sharing">,
  place: PlaceKind | undefined,
): boolean {
  return canWrite && (place !== "shared" || sharing.here?.access === "write");
}

export function usePage(): MemoryPage {
  return useContext(PageContext)!;
}
