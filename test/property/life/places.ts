/** The places of a call, and the terms of the standard labels, by the contract. */

import { LABELS } from "../../../src/base/channel-labels.ts";
import type { NewLabel } from "../../../src/memory/label-terms.ts";
import type { Scope } from "../../../src/memory/records.ts";

/** The person's own place first. */
export function placesOf(project: string | undefined): string[] {
  if (project === undefined) return [""];
  const [name, worktree] = project.split("/");
  return worktree === undefined ? ["", name] : ["", name, project];
}

export function placeFor(scope: Scope, project: string | undefined): string {
  const places = placesOf(project);
  if (scope === "person") return "";
  return (scope === "project" ? places[1] : places.at(-1)) ?? "";
}

export function isInside(place: string, outer: string): boolean {
  return place === outer || place.startsWith(`${outer}/`);
}

export function isStandard(label: string): boolean {
  return (LABELS as readonly string[]).includes(label);
}

/** The same for a label without a scope and one of the person. */
export function areSameTerms(a: NewLabel, b: NewLabel): boolean {
  const [text, other] = [a, b].map((terms) => JSON.stringify({ ...terms, scope: terms.scope ?? "person" }));
  return text === other;
}

export function standardTerms(label: string): NewLabel {
  const scope =
    label.startsWith("TASK.") || label === "PROJ.branch"
      ? "worktree"
      : label.startsWith("PROJ.")
        ? "project"
        : "person";
  return {
    label,
    description: "",
    example: "",
    oneOf: null,
    maxBytes: null,
    ttlS: null,
    scope,
    hidden: false,
  };
}
