/** Writes that wait for a commit, and which of them go into the next one. */

import { assert } from "../../base/assert.ts";
import { isWhole } from "../../memory/law/law.ts";
import type { WriteOutcome, WriteRequest } from "../../memory/ports.ts";

export interface QueuedWrite {
  readonly request: WriteRequest;
  readonly queuedMs: number;
  answered: boolean;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * How an attempt to commit a group ended. After "stored" and "failed" its writes are answered. Locked: somebody else has
 * locked a user. Refused: the database does not take the data of one of several writes, or what is stored of one's user is
 * damaged. In both nothing is stored, and nobody is answered.
 */
export type CommitEnd = "stored" | "failed" | "locked" | "refused";

/** Facts that a write changes together with others'. */
const FACTS_MAX = 64;

/** Work on a whole user, or on many facts, as those of an import: others would wait long for it. */
export function isLong(request: WriteRequest): boolean {
  const named = request.changes.reduce(
    (sum, change) => sum + (change.kind === "import" ? change.lives.length : 1),
    0,
  );
  return named > FACTS_MAX || isWhole(request);
}

/**
 * The next group, in order. It has each idempotency key at most once: the second use is answered from the first. A long
 * write is the only one of its user in its group.
 */
export function takeGroup(
  queue: readonly QueuedWrite[],
  groupMax: number,
): { group: QueuedWrite[]; rest: QueuedWrite[] } {
  const group: QueuedWrite[] = [];
  const rest: QueuedWrite[] = [];
  const seen = new Set<string>();
  const users = new Set<string>();
  /** Users whose further writes wait. */
  const closed = new Set<string>();
  for (const queued of queue) {
    const { idempotency } = queued.request;
    const key = idempotency && `${idempotency.keyId}\0${idempotency.key}`;
    const user = userOf(queued);
    const isAlone = isLong(queued.request);
    const mustWait = closed.has(user) || (isAlone && users.has(user)) || (key !== undefined && seen.has(key));
    if (group.length >= groupMax || mustWait) {
      rest.push(queued);
      // Nobody overtakes a write of the same user.
      closed.add(user);
      continue;
    }
    if (isAlone) closed.add(user);
    if (key !== undefined) seen.add(key);
    users.add(user);
    group.push(queued);
  }
  assert(group.length + rest.length === queue.length, "no write is left out");
  return { group, rest };
}

export function userOf({ request: { account, userId } }: QueuedWrite): string {
  return `${account}\0${userId}`;
}
