/**
 * Where a person works, for a memory that is in use. A project that is known by its remote takes over what is kept under
 * its path: by the release before, or before it had a remote. That costs one short call, once in a process; where memory
 * was away, it is tried again.
 */

import { isOutage, isSidebandError } from "../sdk/errors.ts";
import type { Sideband } from "../sdk/index.ts";
import { findProject, type ProjectSettings, projectOf } from "./project.ts";

interface OpenSettings extends ProjectSettings {
  readonly timeoutMs?: number | undefined;
}

interface Move {
  /** Whether the service knows the call. */
  readonly isKnown: Promise<boolean>;
  /** When it may be tried again, as memory was away. */
  againAtMs: number;
}

/** No agent waits at every turn for a memory that is away. */
const AGAIN_MS = 30_000;

/** What was asked of each memory, by user and names. */
const opened = new WeakMap<object, Map<string, Move>>();

/** The place of the first folder that is in a project. Never throws: what comes next meets the same fault. */
export async function openProject(
  memory: Pick<Sideband<string>, "moveProject">,
  userId: string,
  folders: readonly string[],
  settings: OpenSettings,
): Promise<string | undefined> {
  const found = findProject(folders, settings);
  if (found?.byPath === undefined) return found?.place;
  const { byPath, project, place } = found;
  const known = opened.get(memory) ?? new Map<string, Move>();
  opened.set(memory, known);
  const name = JSON.stringify([userId, byPath, project]);
  const before = known.get(name);
  const move: Move =
    before !== undefined && Date.now() < before.againAtMs
      ? before
      : {
          isKnown: memory.moveProject(userId, byPath, project, { timeoutMs: settings.timeoutMs }).then(
            () => true,
            (error) => {
              if (isOutage(error)) move.againAtMs = Date.now() + AGAIN_MS;
              // A service of the release before does not know the call: there the facts stay where they are.
              return !isSidebandError(error, "not_found");
            },
          ),
          againAtMs: Number.POSITIVE_INFINITY,
        };
  known.set(name, move);
  return (await move.isKnown) ? place : projectOf(folders, { ...settings, projectFrom: "path" });
}
