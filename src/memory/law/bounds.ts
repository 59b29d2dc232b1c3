/** How much a person may keep: refused is what would make it more, and the refusal says what to do. */

import { Failure } from "../../base/errors.ts";
import { FACTS_MAX, PLACE_FACTS_MAX, PLACES_MAX } from "../../base/limits.ts";
import type { Sliced } from "../../base/slices.ts";
import { withThousands } from "../../base/thousands.ts";
import { OWN_PLACE } from "../places.ts";
import type { UserMemory } from "./user-memory.ts";

/** Up to so many facts, neither a place nor the number of places can be full. */
export const UNCHECKED_FACTS_MAX = Math.min(PLACE_FACTS_MAX, PLACES_MAX);

/** @param factsBefore the facts of the user before the write */
export function* requireCapacity(memory: UserMemory, factsBefore: number): Sliced<void> {
  if (memory.facts > FACTS_MAX && memory.facts > factsBefore)
    throw memoryFull(
      `A person has at most ${withThousands(FACTS_MAX)} facts over all projects. Forget some, or a whole project, first.`,
    );
  if (memory.facts <= UNCHECKED_FACTS_MAX) return;
  let newPlaces = 0;
  for (const { place, before, now } of yield* memory.countPlaces()) {
    if (now > before && now > PLACE_FACTS_MAX)
      throw memoryFull(
        `A person's own place, a project and a worktree have at most ${withThousands(PLACE_FACTS_MAX)} facts each. ` +
          "Forget some there first, or keep them in another project.",
      );
    if (place !== OWN_PLACE) newPlaces += Number(now > 0) - Number(before > 0);
  }
  if (newPlaces > 0 && memory.places + newPlaces > PLACES_MAX)
    throw memoryFull(
      `A person has facts in at most ${withThousands(PLACES_MAX)} projects and worktrees. Forget one first.`,
    );
}

function memoryFull(message: string): Failure {
  return new Failure("memory_full", message);
}
