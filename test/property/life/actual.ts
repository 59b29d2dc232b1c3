/** Does a step with the real functions of memory on a store, and tells its outcome in the words of the model. */

import type { Caller } from "../../../src/memory/authentication.ts";
import { type EncodeResult, encodeFacts, type FactInput } from "../../../src/memory/encode.ts";
import { forgetFact, forgetUser } from "../../../src/memory/facts.ts";
import { restoreFact, rollBack } from "../../../src/memory/history.ts";
import { addLabel, changeLabel } from "../../../src/memory/label-terms.ts";
import { changeList } from "../../../src/memory/lists.ts";
import { eraseProject, shareProject, unshareProject } from "../../../src/memory/project-sharing.ts";
import { renameFact } from "../../../src/memory/rename.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { type ResolvedStep, sorted } from "./expected.ts";
import type { WorldStep, Written } from "./steps.ts";

type CallStep = Exclude<ResolvedStep, WorldStep>;

/** Throws a Failure where the step is refused. */
export async function actual(services: MemoryServices, caller: Caller, step: CallStep): Promise<unknown> {
  const { account } = caller;
  switch (step.kind) {
    case "encode":
    case "batch": {
      const facts: FactInput[] = step.facts.map(({ condition: _, ...fact }) => fact);
      const operation = step.kind === "batch" ? "encode/batch" : "encode";
      return resultOf(await encodeFacts(services, caller, { ...writerOf(step), facts, operation }));
    }
    case "append":
    case "remove": {
      const { label, item, scope, ttlS, newLabel, ifRevision, origin } = step;
      const input = { ...writerOf(step), label, item, scope, ttlS, newLabel, ifRevision, origin };
      return resultOf(await changeList(services, caller, step.kind, input));
    }
    case "forget": {
      const { label, scope, keepHistory, ifRevision } = step;
      return forgetFact(services, account, { ...writerOf(step), label, scope, keepHistory, ifRevision });
    }
    case "restore": {
      const { label, revision, ifRevision } = step;
      return resultOf(
        await restoreFact(services, caller, { ...writerOf(step), label, revision, ifRevision }),
      );
    }
    case "rename": {
      const { label, to, merge, ifRevision } = step;
      const input = {
        ...writerOf(step),
        label,
        to,
        merge: merge ? ("append" as const) : undefined,
        ifRevision,
      };
      return resultOf(await renameFact(services, caller, input));
    }
    case "rollback": {
      const { toMs, dryRun, partial, unchangedSinceMs, scope } = step;
      const input = { ...writerOf(step), toMs, dryRun, partial, unchangedSinceMs, scope };
      const { changes, unreached, isDone, changedSince } = await rollBack(services, caller, input);
      return {
        changes: sorted(changes),
        unreached: sorted(unreached),
        isDone,
        changedSince: sorted(changedSince),
      };
    }
    case "forget user":
      // What has ended is counted by the store's own clock, which does not go back to where another sequence begins.
      return (({ erased: { labels, places } }) => ({ labels, places }))(
        await forgetUser(services, account, writerOf(step)),
      );
    case "clear": {
      const { user: userId, project: place = "", kept } = step;
      const isKept = ({ value }: { readonly value: string }) => kept.includes(value);
      const changes = [{ kind: "clear", place, isKept } as const];
      const nowMs = services.clock.now();
      const outcome = await services.store.write({ account, userId, changes, places: [], nowMs });
      return outcome.outcome === "stored" && outcome.changes.map(({ label }) => label).sort();
    }
    case "add label":
      return { isNew: (await addLabel(services, account, step.label)).isNew };
    case "share": {
      const { shared: project, members, take } = step;
      const input = { project, members, take: take && { userId: take.user, labels: take.labels } };
      const { record, taken } = await shareProject(services, account, input);
      return { members: record.members, taken: taken.map(({ label }) => label).sort() };
    }
    case "unshare":
      return unshareProject(services, account, { project: step.shared, giveTo: step.giveTo });
    case "erase shared":
      // What has ended is counted by the store's own clock.
      await eraseProject(services, account, step.shared);
      return null;
    case "change label":
      return void (await changeLabel(services, account, step.label, step.change));
  }
}

function writerOf({ user, project, writtenBy, sessionId, key }: Written) {
  return { userId: user, project, writtenBy, sessionId, idempotencyKey: key };
}

function resultOf({ facts, channelCount, replayed }: EncodeResult): unknown {
  return {
    count: channelCount,
    replayed,
    facts: facts.map(({ label, value, place, expiresAtMs, previous }) => ({
      label,
      value,
      place,
      expiresAtMs,
      previous: previous === undefined ? null : [previous.value, previous.revision],
    })),
  };
}
