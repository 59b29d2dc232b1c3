/** How much a person may keep: refused is what would make it more, and the refusal says what to do. */

import { Failure } from "../../base/errors.ts";
import { FACTS_MAX, KEPT_LABELS_MAX, PLACE_FACTS_MAX, PLACES_MAX, withThousands } from "../../base/limits.ts";
import type { Sliced } from "../../base/slices.ts";
import { OWN_PLACE } from "../places.ts";
import type { UserMemory } from "./user-memory.ts";

/** Up to so many facts, neither a place nor the number of places can be full. */
export const UNCHECKED_FACTS_MAX = Math.min(PLACE_FACTS_MAX, PLACES_MAX);

/** @param before what the user had before the write */
export function* requireCapacity(
  memory: UserMemory,
  before: Pick<UserMemory, "facts" | "heads">,
): Sliced<void> {
  if (memory.facts > FACTS_MAX && memory.facts > before.facts)
    throw memoryFull(
      `A person has at most ${withThousands(FACTS_MAX)} facts over all projects. Forget some, or a whole project, first.`,
    );
  // A fact that ends, or is forgotten with its history kept, stays one of them: neither is ever refused.
  const kept = memory.facts + memory.heads;
  if (kept > KEPT_LABELS_MAX && kept > before.facts + before.heads)
    throw memoryFull(
      `A person has at most ${withThousands(KEPT_LABELS_MAX)} labels over all projects, with those that have only earlier values. ` +
        "Forget some with their history, or a whole project, first.",
    );
  if (memory.facts <= UNCHECKED_FACTS_MAX) return;
  let newPlaces = 0;
  for (const { place, before: was, now } of yield* memory.countPlaces()) {
    if (now > was && now > PLACE_FACTS_MAX)
      throw memoryFull(
        `A person's own place, a project and a worktree have at most ${withThousands(PLACE_FACTS_MAX)} facts each. ` +
          "Forget some there first, or keep them in another project.",
      );
    if (place !== OWN_PLACE) newPlaces += Number(now > 0) - Number(was > 0);
  }
  if (newPlaces > 0 && memory.places + newPlaces > PLACES_MAX)
    throw memoryFull(
      `A person has facts in at most ${withThousands(PLACES_MAX)} projects and worktrees. Forget one first.`,
    );
}

function memoryFull(message: string): Failure {
  return new Failure("memory_full", message);
}
