/**
 * Carries an import out: the labels that an export declares, then the facts in batches, each all or none. A write asks for the
 * revision that was planned with, so that it never overwrites what came in between. What was written is then checked for
 * whether it can be rolled back, and to which moment.
 */

import { CHANNEL_COUNT } from "../base/limits.ts";
import type { ServiceCalls } from "../sdk/calls.ts";
import type { ImportPlan, PlannedFact } from "./import-plan.ts";

export interface WrittenImport {
  readonly written: readonly PlannedFact[];
  readonly labelsAdded: ImportPlan["labels"];
  /** Why the rest was not written. */
  readonly error: unknown;
  /** The moment to go back to; undefined where nothing was written, or the history does not reach back. */
  readonly rollbackTo: string | undefined;
  /** What has changed after this moment is not as it was imported. */
  readonly unchangedSince: string | undefined;
}

export async function writeImport(
  memory: ServiceCalls<string>,
  userId: string,
  { writes, labels }: Pick<ImportPlan, "writes" | "labels">,
  writtenBy: string,
  step: (count: number) => void,
): Promise<WrittenImport> {
  const written: PlannedFact[] = [];
  const labelsAdded: ImportPlan["labels"][number][] = [];
  const revisions = new Set<number>();
  let error: unknown;
  try {
    for (const label of labels) {
      const { label: name, ...terms } = label;
      await memory.addLabel(name, terms);
      labelsAdded.push(label);
    }
    for (const batch of batchesOf(writes)) {
      const { facts } = await memory.encodeBatch(
        userId,
        batch.map(({ label, value, kind, expiresAt, present, isNew, origin, pinned, description }) => ({
          label,
          value,
          scope: kind,
          expiresAt,
          ifRevision: present?.revision ?? 0,
          // The plan has shown it: no label that is a slip away is meant.
          newLabel: isNew ? ("certain" as const) : undefined,
          origin,
          pinned,
          description: isNew ? description : undefined,
        })),
        { project: batch[0].project, writtenBy },
      );
      written.push(...batch);
      step(batch.length);
      for (const { revision } of facts) revisions.add(revision);
    }
  } catch (cause) {
    error = cause;
  }
  const moments = written.length === 0 ? undefined : await momentsAround(memory, userId, written, revisions);
  return {
    written,
    labelsAdded,
    error,
    rollbackTo: moments?.before,
    unchangedSince: moments?.last,
  };
}

/** As many facts as a call takes, of one project each. */
function batchesOf(writes: readonly PlannedFact[]): PlannedFact[][] {
  const byProject = new Map<string, PlannedFact[]>();
  for (const fact of writes) {
    const name = fact.project ?? "";
    const others = byProject.get(name);
    if (others === undefined) byProject.set(name, [fact]);
    else others.push(fact);
  }
  return [...byProject.values()].flatMap((facts) =>
    Array.from({ length: Math.ceil(facts.length / CHANNEL_COUNT) }, (_, i) =>
      facts.slice(i * CHANNEL_COUNT, (i + 1) * CHANNEL_COUNT),
    ),
  );
}

/** The last moment before the writes and that of the last one, by the clock of the service, if a rollback takes all of them back. */
async function momentsAround(
  memory: ServiceCalls<string>,
  userId: string,
  written: readonly PlannedFact[],
  revisions: ReadonlySet<number>,
): Promise<{ readonly before: string; readonly last: string } | undefined> {
  const projects = [
    undefined,
    ...new Set(written.flatMap(({ project }) => [project?.split("/")[0], project])),
  ];
  const times: number[] = [];
  for (const project of projects) {
    for (const { revision, updated_at } of (await memory.facts(userId, { project })).facts)
      if (revisions.has(revision)) times.push(Date.parse(updated_at));
  }
  if (times.length === 0) return undefined;
  const moment = (ms: number) => new Date(ms).toISOString();
  const before = moment(times.reduce((least, time) => Math.min(least, time)) - 1);
  const last = moment(times.reduce((most, time) => Math.max(most, time)));
  const planned = await memory.rollback(userId, before, { dryRun: true, unchangedSince: last });
  return planned.unreached.length === 0 ? { before, last } : undefined;
}
