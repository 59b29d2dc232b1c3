/**
 * Where a person works, for a memory that is in use. A project that is known by its remote takes over what is kept under
 * its path: by the release before, or before it had a remote. That costs one short call, once in a process.
 */

import { isSidebandError } from "../sdk/errors.ts";
import type { Sideband } from "../sdk/index.ts";
import { findProject, type ProjectSettings, projectOf } from "./project.ts";

interface OpenSettings extends ProjectSettings {
  readonly timeoutMs?: number | undefined;
}

/** What was asked of each memory, by user and names. */
const opened = new WeakMap<object, Map<string, Promise<boolean>>>();

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
  const known = opened.get(memory) ?? new Map<string, Promise<boolean>>();
  opened.set(memory, known);
  const name = JSON.stringify([userId, byPath, project]);
  const moving =
    known.get(name) ??
    memory.moveProject(userId, byPath, project, { timeoutMs: settings.timeoutMs }).then(
      () => true,
      // A service of the release before does not know the call: there the facts stay where they are.
      (error) => !isSidebandError(error, "not_found"),
    );
  known.set(name, moving);
  return (await moving) ? place : projectOf(folders, { ...settings, projectFrom: "path" });
}
