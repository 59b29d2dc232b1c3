/** The places of a call, and the terms of the standard labels, by the contract. */

import { LABELS } from "../../../src/base/channel-labels.ts";
import type { NewLabel } from "../../../src/memory/label-terms.ts";
import type { WriteScope } from "../../../src/memory/records.ts";
import { isShared } from "../../../src/memory/shared-places.ts";
import { Refused } from "./refused.ts";

/** The person's own place first. */
export function placesOf(project: string | undefined): string[] {
  if (project === undefined) return [""];
  const [name, worktree] = project.split("/");
  return worktree === undefined ? ["", name] : ["", name, project];
}

/** @param places those of the call */
export function placeFor(scope: WriteScope, places: readonly string[]): string {
  if (scope === "person") return "";
  if (scope === "project") return places[1] ?? "";
  if (scope === "worktree") return places.at(-1) ?? "";
  if (scope === "own") return places.slice(1).find((place) => !isShared(place)) ?? "";
  const shared = places.find(isShared);
  if (shared === undefined) throw new Refused("not_a_member");
  return shared;
}

/** The scope of a place of the call. */
export function scopeOfPlace(place: string, places: readonly string[]): WriteScope {
  if (place === "") return "person";
  if (isShared(place)) return "shared";
  return place === placeFor("own", places) ? "own" : "worktree";
}

export function isInside(place: string, outer: string): boolean {
  return place === outer || place.startsWith(`${outer}/`);
}

export function isStandard(label: string): boolean {
  return (LABELS as readonly string[]).includes(label);
}

/** The same for a label without a scope and one of the person. */
function areSameTerms(a: NewLabel, b: NewLabel): boolean {
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

/** Adds a label of an account's own, or finds it with the same terms. */
export function addTerms(labels: Map<string, NewLabel>, wanted: NewLabel): { isNew: boolean } {
  const known = labels.get(wanted.label);
  if (isStandard(wanted.label) || (known !== undefined && !areSameTerms(known, wanted)))
    throw new Refused("label_exists");
  if (known === undefined) labels.set(wanted.label, wanted);
  return { isNew: known === undefined };
}

export function changeTerms(
  { labels, hidden }: { readonly labels: Map<string, NewLabel>; readonly hidden: Set<string> },
  label: string,
  change: Partial<NewLabel>,
): void {
  const known = labels.get(label);
  if (!isStandard(label)) {
    if (known === undefined) throw new Refused("unknown_label");
    labels.set(label, { ...known, ...change });
    return;
  }
  if (Object.keys(change).some((name) => name !== "hidden")) throw new Refused("invalid_request");
  if (change.hidden) hidden.add(label);
  else hidden.delete(label);
}
