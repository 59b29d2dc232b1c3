/**
 * A fact under another label: the law moves it with its history in one step (law/renames.ts), and it does not count as a
 * write. And a project under another name: a repository that was known by its path and is now known by its remote is such
 * a project; its worktrees are inside it. How two projects become one, the law says (law/moves.ts).
 */

import { assert } from "../base/assert.ts";
import { Failure, invalidRequest } from "../base/errors.ts";
import type { Caller } from "./authentication.ts";
import { type EncodeResult, type WriteInput, writeFacts } from "./encode.ts";
import { namedLabel, writtenLabel } from "./free-labels.ts";
import { viewOf } from "./places.ts";
import type { MemoryServices } from "./services.ts";
import { viewFor } from "./shared-projects.ts";

interface RenameInput extends WriteInput {
  readonly label: string;
  readonly to: string;
  /** Makes a list of both where the other label has a fact. */
  readonly merge?: "append" | undefined;
  readonly ifRevision?: number | undefined;
}

export async function renameFact(
  services: MemoryServices,
  caller: Caller,
  input: RenameInput,
): Promise<EncodeResult> {
  const { userId, project, label, to, merge, ifRevision } = input;
  const view = await viewFor(services, caller.account, input);
  if (label === to) throw invalidRequest("to", "to must be another label.");
  const { free } = await namedLabel(services, view, label);
  const target = await targetOf(() => writtenLabel(services, view, { label: to, newLabel: "certain" }));
  const { places } = view;
  const { terms, free: toFree } = target;
  return writeFacts(services, caller, input, view, {
    changes: [
      { kind: "rename", label, places, free, to, terms, toFree, merge: merge === "append", ifRevision },
    ],
    label: to,
    isCounted: false,
    fingerprinted: ["rename", userId, [label, to, merge, ifRevision], project ?? null],
  });
}

/** What is wrong with the other label is said of the field `to`. */
async function targetOf<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof Failure) || error.extra.param !== "label") throw error;
    throw new Failure(error.code, error.message, { ...error.extra, param: "to" });
  }
}

interface MoveInput {
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
