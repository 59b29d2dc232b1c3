/**
 * What is kept of an answer for the next request with the same Idempotency-Key: its numbers, and in texts what the request
 * does not say itself (when facts end, what was there before, what was read). There are values in a text, so it lies with
 * the memory that they are of, the person's or that of a shared project, and goes when something of that is forgotten. Of
 * an answer that is not whole any more, or whose project is not shared with the caller any more, the numbers are left.
 */

import { isProject } from "../places.ts";
import type { FactRecord, MadeChange, PreviousFact, ReplayedChange, WriteRequest } from "../ports.ts";
import { isShared, projectUser } from "../shared-places.ts";
import type { Memory } from "./user-memory.ts";

export interface KeptAnswer {
  /** The last one of the answer. */
  readonly revision: number;
  readonly texts: readonly AnswerText[];
}

interface AnswerText {
  /** Whose memory it lies with. */
  readonly userId: string;
  readonly text: string;
}

/** A text: of how many changes the answer has told, and some of them, by their place among those. */
interface AnswerPart {
  readonly count: number;
  readonly changes: readonly (readonly [at: number, change: ReplayedChange])[];
}

/** The person, and the hidden one of a project that is shared. */
export function writtenUsers({ userId, shared }: Pick<WriteRequest, "userId" | "shared">): string[] {
  return shared === undefined ? [userId] : [userId, projectUser(shared.project)];
}

export function keptAnswer(request: WriteRequest, made: readonly MadeChange[], memory: Memory): KeptAnswer {
  const told = made.filter(({ value, number }) => value !== null || number !== undefined);
  const last = told.at(-1);
  // Two memories have two sequences of revisions.
  const revision =
    last !== undefined && isShared(last.place) ? memory.revisionAt(last.place) : memory.revision;
  if (isDerivable(request, told, revision)) return { revision, texts: [] };
  const texts = writtenUsers(request).flatMap((userId, i) => {
    const changes = told.flatMap((change, at) =>
      Number(isShared(change.place)) === i ? [[at, replayed(change)] as const] : [],
    );
    const answer: AnswerPart = { count: told.length, changes };
    return changes.length > 0 || told.length === 0 ? [{ userId, text: JSON.stringify(answer) }] : [];
  });
  return { revision, texts };
}

/** What the texts of an answer that are there have told; undefined where one is gone. */
export function replayedChanges(texts: readonly string[]): ReplayedChange[] | undefined {
  const parts = texts.map((text) => JSON.parse(text) as AnswerPart);
  const changes = parts.flatMap((part) => part.changes).sort(([a], [b]) => a - b);
  return changes.length === parts[0]?.count ? changes.map(([, change]) => change) : undefined;
}

/** Whether the request and the last revision say all of it. */
function isDerivable(
  { changes, shared }: WriteRequest,
  told: readonly MadeChange[],
  revision: number,
): boolean {
  return (
    // Where the project is shared or not any more, the same request would go elsewhere now.
    shared === undefined &&
    changes.every((change) => change.kind === undefined && !isProject(change.place)) &&
    told.every((change, i) => {
      const { expiresAtMs, before, number } = change;
      // Not so where an earlier one had expired, which takes a revision, too.
      const isNext = change.revision === revision - told.length + 1 + i;
      return isNext && expiresAtMs === null && before === undefined && number === undefined;
    })
  );
}

function replayed({ before, found: _, ...change }: MadeChange): ReplayedChange {
  return { ...change, previous: before === undefined ? null : previousOf(before) };
}

function previousOf({ value, revision, updatedAtMs, writtenBy }: FactRecord): PreviousFact {
  // Who has written it may be erased while the answer is kept.
  return { value, revision, updatedAtMs, writtenBy };
}
