/**
 * A project under another name. A repository that was known by its path and is now known by its remote is such a project;
 * its worktrees are inside it. How two projects become one, the law says (law/moves.ts).
 */

import { assert } from "../base/assert.ts";
import { Failure } from "../base/errors.ts";
import { viewOf } from "./places.ts";
import type { MemoryServices } from "./services.ts";

export interface MoveInput {
  readonly userId: string;
  /** Projects, without worktrees. */
  readonly from: string;
  readonly to: string;
}

/** Resolves to the number of facts that were moved. */
export async function moveProject(
  { store, clock, blocks }: MemoryServices,
  account: string,
  input: MoveInput,
): Promise<number> {
  const { userId, from, to } = input;
  for (const [param, project] of Object.entries({ from, to }))
    checkMovedProject(account, input, param, project);
  if (from === to) return 0;
  const changes = [{ kind: "move", from, to } as const];
  const outcome = await store.write({ account, userId, changes, places: [], nowMs: clock.now() });
  assert(outcome.outcome === "stored" && outcome.report?.moved !== undefined, "a move is reported");
  blocks.drop(account, userId);
  return outcome.report.moved;
}

function checkMovedProject(account: string, { userId }: MoveInput, param: string, project: string): void {
  if (project.includes("/"))
    throw new Failure("invalid_request", `${param} must be a project, without a worktree.`, { param });
  viewOf(account, { userId, project }, 0);
}
