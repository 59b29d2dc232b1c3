/** Steps that share a project, end that, and erase what is shared, in the model. */

import { projectUser } from "../../../src/memory/shared-places.ts";
import type { LifeModel } from "./model.ts";
import { Refused } from "./refused.ts";
import { labelsAt, share, type Taking, unshare } from "./sharing.ts";
import type { SharingStep } from "./steps.ts";

/** With the labels that are taken along. */
export type ResolvedSharing = SharingStep & { readonly take?: Taking };

/** What is taken along, or given back: only where nothing is in its way, and there is a fact to name. */
export function withFreeWay(
  model: LifeModel,
  step: Exclude<SharingStep, { kind: "erase shared" }>,
): ResolvedSharing {
  const { account, shared } = step;
  const { users } = model.account(account);
  const ofTeam = labelsAt(users, projectUser(shared), "");
  if (step.kind === "share") {
    const { takeFrom: user } = step;
    if (user === undefined) return step;
    const facts = model.livesAt(account, user, shared).filter(({ present }) => present !== undefined);
    const labels = facts.flatMap(({ label }) => (ofTeam.has(label) ? [] : [label]));
    return labels.length === 0 ? step : { ...step, take: { user, labels } };
  }
  const own = step.giveTo === undefined ? new Set<string>() : labelsAt(users, step.giveTo, shared);
  return [...ofTeam].some((label) => own.has(label)) ? { ...step, giveTo: undefined } : step;
}

export function changeSharing(model: LifeModel, step: ResolvedSharing): unknown {
  const { account, shared: project } = step;
  const known = model.account(account);
  if (step.kind === "share") {
    const { members, take } = step;
    const outcome = share(known, { project, members, take }, model.moving(account));
    if (take !== undefined) model.forgetAnswers(account, [take.user, projectUser(project)]);
    return outcome;
  }
  if (step.kind === "unshare") {
    const isGiven = known.users.has(projectUser(project));
    const given = unshare(known, { project, giveTo: step.giveTo }, model.moving(account));
    if (isGiven) model.forgetAnswers(account, [step.giveTo!, projectUser(project)]);
    return given;
  }
  if (!known.sharings.delete(project)) throw new Refused("not_found");
  known.users.delete(projectUser(project));
  model.forgetAnswers(account, [projectUser(project)]);
  return null;
}
