/** What the history has after a write or a forget: only that can be undone. A service may keep no history at all. */

import type { HistoryAnswer, PlaceKind, WrittenAnswer } from "../contract/answers.ts";
import type { AgentCallOptions, AgentMemory } from "./agent-memory.ts";

/** The values of a fact, the newest first; undefined where they could not be read. */
export type KeptRevisions = HistoryAnswer["revisions"] | undefined;

/** The code of an error, whether it comes from the service itself or from the client. */
export function errorCodeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/** Asked only after the write: no read may keep it from being tried. */
export async function keptRevisions(
  memory: Pick<AgentMemory, "history">,
  userId: string,
  label: string,
  options: AgentCallOptions,
): Promise<KeptRevisions> {
  try {
    return (await memory.history(userId, label, options)).revisions;
  } catch (error) {
    return errorCodeOf(error) === "fact_not_found" ? [] : undefined;
  }
}

/** Of what was just written: at its place, which another one may hide. */
export function keptOfWritten(
  memory: Pick<AgentMemory, "history">,
  userId: string,
  { label, place }: Pick<WrittenAnswer, "label" | "place">,
  options: AgentCallOptions,
): Promise<KeptRevisions> {
  return keptRevisions(memory, userId, label, { ...options, project: projectAt(place, options.project) });
}

function projectAt(place: PlaceKind, project: string | undefined): string | undefined {
  if (place === "person") return undefined;
  return place === "project" ? project?.split("/")[0] : project;
}
