/** Where a fact is kept: for the person everywhere, for a project, for the team that shares it, or for the person alone. */

import type { LabelScope, PlaceKind } from "../../contract/answers.ts";
import { isWorktree } from "../api/memory.ts";
import { SelectField } from "../parts/fields.tsx";
import { type MemoryPage, mayChange, usePage } from "./page-context.ts";

/** Where the person may keep a fact here, the innermost last. In a project that is no worktree there is no place for one. */
export function placesOf({
  memory,
  sharing,
  canWrite,
}: Pick<MemoryPage, "memory" | "sharing" | "canWrite">): readonly PlaceKind[] {
  const inner: PlaceKind[] = memory.project !== undefined && isWorktree(memory.project) ? ["worktree"] : [];
  if (sharing.here === undefined) return ["person", "project", ...inner];
  const ofTeam: PlaceKind[] = mayChange({ canWrite, sharing }, "shared") ? ["shared"] : [];
  return ["person", ...ofTeam, "own", ...inner];
}

/** Where the facts of a label go unless somebody says otherwise. Who only reads what a team shares keeps them alone. */
export function usualPlace(places: readonly PlaceKind[], scope: LabelScope = "person"): PlaceKind {
  if (scope === "person") return scope;
  return places[scope === "project" ? 1 : places.length - 1];
}

const PLACE_NAMES: Readonly<Record<PlaceKind, (me: string) => string>> = {
  person: () => "the person, everywhere",
  project: () => "this project",
  shared: () => "the team",
  own: (me) => `only ${me}, in this project`,
  worktree: () => "this worktree",
};

interface PlaceFieldProps {
  readonly places: readonly PlaceKind[];
  readonly place: PlaceKind;
  readonly onPlace: (place: PlaceKind) => void;
}

export function PlaceField({ places, place, onPlace }: PlaceFieldProps) {
  const { me } = usePage();
  return (
    <SelectField label="Kept for" value={place} onValue={(chosen) => onPlace(chosen as PlaceKind)}>
      {places.map((kind) => (
        <option key={kind} value={kind}>
          {PLACE_NAMES[kind](me)}
        </option>
      ))}
    </SelectField>
  );
}
