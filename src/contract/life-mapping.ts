/** From a fact's life in the memory to answers of the interface. */

import { placeKind, timeText } from "./answer-mapping.ts";
import type { ChangesAnswer, HistoryAnswer, LabelAnswer, RollbackAnswer, UsersAnswer } from "./answers.ts";

interface Signed {
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
}

interface RevisionOfFact extends Signed {
  readonly revision: number;
  readonly value: string;
  readonly updatedAtMs: number;
  readonly ended?: "replaced" | "forgotten" | "expired";
  readonly endedAtMs?: number;
}

export function historyAnswer(
  userId: string,
  history: { readonly label: string; readonly place: string; readonly revisions: readonly RevisionOfFact[] },
): HistoryAnswer {
  return {
    user_id: userId,
    label: history.label,
    place: placeKind(history.place),
    revisions: history.revisions.map((fact) => ({
      revision: fact.revision,
      value: fact.value,
      updated_at: timeText(fact.updatedAtMs),
      ...authorOf(fact),
      ...(fact.ended === undefined ? {} : { ended: fact.ended }),
      ...(fact.endedAtMs === undefined ? {} : { ended_at: timeText(fact.endedAtMs) }),
    })),
  };
}

interface ListedChange extends Signed {
  readonly place: string;
  readonly label: string;
  readonly kind: "written" | "forgotten" | "expired";
  readonly value: string;
  readonly was?: string | undefined;
  readonly revision: number;
  readonly atMs: number;
}

export function changesAnswer(
  userId: string,
  events: readonly ListedChange[],
  nextCursor: string | null,
): ChangesAnswer {
  return {
    user_id: userId,
    changes: events.map((event) => ({
      label: event.label,
      ...projectField(event),
      kind: event.kind,
      value: event.value,
      ...(event.was === undefined ? {} : { was: event.was }),
      revision: event.revision,
      at: timeText(event.atMs),
      ...authorOf(event),
    })),
    next_cursor: nextCursor,
  };
}

interface PlacedLabel {
  readonly place: string;
  readonly label: string;
}

export function rollbackAnswer(result: {
  readonly changes: readonly (PlacedLabel & { readonly from: string | null; readonly to: string | null })[];
  readonly unreached: readonly PlacedLabel[];
  readonly isDone: boolean;
  readonly isDryRun: boolean;
}): RollbackAnswer {
  const { changes, unreached, isDone, isDryRun } = result;
  return {
    status: isDone ? "ok" : isDryRun ? "planned" : "unreached",
    changes: changes.map((change) => ({
      label: change.label,
      ...projectField(change),
      from: change.from,
      to: change.to,
    })),
    unreached: unreached.map((fact) => ({ label: fact.label, ...projectField(fact) })),
  };
}

export function usersAnswer(
  users: readonly {
    readonly userId: string;
    readonly projects: readonly string[];
    readonly channelCount: number;
    readonly updatedAtMs: number | null;
  }[],
  nextCursor: string | null,
): UsersAnswer {
  return {
    users: users.map(({ userId, projects, channelCount, updatedAtMs }) => ({
      user_id: userId,
      projects: [...projects],
      channel_count: channelCount,
      updated_at: updatedAtMs === null ? null : timeText(updatedAtMs),
    })),
    next_cursor: nextCursor,
  };
}

export function labelAnswer(terms: {
  readonly channel: number;
  readonly label: string;
  readonly description: string;
  readonly example: string;
  readonly isOwn: boolean;
  readonly scope: LabelAnswer["scope"];
  readonly hidden: boolean;
  readonly oneOf: readonly string[] | null;
  readonly maxBytes: number | null;
  readonly ttlS: number | null;
  readonly createdAtMs?: number | undefined;
  readonly createdBy?: string | undefined;
  readonly createdKey?: string | undefined;
}): LabelAnswer {
  const { channel, label, description, example, isOwn, scope, hidden, oneOf, maxBytes, ttlS } = terms;
  const { createdAtMs, createdBy, createdKey } = terms;
  return {
    channel,
    label,
    description,
    example,
    own: isOwn,
    scope,
    hidden,
    ...(oneOf === null ? {} : { one_of: [...oneOf] }),
    ...(maxBytes === null ? {} : { max_bytes: maxBytes }),
    ...(ttlS === null ? {} : { ttl_s: ttlS }),
    ...(createdAtMs === undefined ? {} : { created_at: new Date(createdAtMs).toISOString() }),
    ...(createdBy === undefined ? {} : { created_by: createdBy }),
    ...(createdKey === undefined ? {} : { created_key: createdKey }),
  };
}

function authorOf({ writtenBy, sessionId }: Signed) {
  return {
    ...(writtenBy === null ? {} : { written_by: writtenBy }),
    ...(sessionId === null ? {} : { session_id: sessionId }),
  };
}

function projectField({ place }: { readonly place: string }) {
  return place === "" ? {} : { project: place };
}
