/** From a fact's life in the memory to answers of the interface. */

import { CHANNEL_COUNT } from "../../base/limits.ts";
import type {
  ChangesAnswer,
  FindAnswer,
  HistoryAnswer,
  LabelAnswer,
  Receipt as ReceiptAnswer,
  RollbackAnswer,
  UsersAnswer,
} from "../../contract/answers.ts";
import type { FoundRecords } from "../../memory/find.ts";
import type { FactEvent, FactHistory, KeptValue, RollbackResult } from "../../memory/history.ts";
import type { LabelTerms } from "../../memory/labels.ts";
import type { Receipt } from "../../memory/receipts.ts";
import { projectOfPlace } from "../../memory/shared-places.ts";
import type { ListedUser } from "../../memory/users.ts";
import { placeKind, timeText } from "./answer-mapping.ts";

export function historyAnswer(userId: string, history: FactHistory): HistoryAnswer {
  return {
    user_id: userId,
    label: history.label,
    place: placeKind(history.place, history.isOwn),
    revisions: history.revisions.map((fact) => ({
      revision: fact.revision,
      value: fact.value,
      updated_at: timeText(fact.updatedAtMs),
      ...authorOf(fact),
      ...("ended" in fact ? { ended: fact.ended, ended_at: timeText(fact.endedAtMs) } : {}),
      ...(fact.expiresAtMs == null ? {} : { expires_at: timeText(fact.expiresAtMs) }),
      ...("ended" in fact && fact.ended === "renamed" ? renamedFrom(fact.former?.label) : {}),
    })),
  };
}

export function changesAnswer(
  userId: string,
  events: readonly FactEvent[],
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
      ...renamedFrom(event.renamedFrom),
    })),
    next_cursor: nextCursor,
  };
}

export function findAnswer(userId: string, query: string, { by, found }: FoundRecords): FindAnswer {
  return {
    user_id: userId,
    query,
    by,
    facts: found.map(({ record, score, isGuess, isOwn }) => ({
      label: record.label,
      value: record.value,
      ...projectField(record),
      place: placeKind(record.place, isOwn),
      updated_at: timeText(record.updatedAtMs),
      ...(record.writtenBy === null ? {} : { written_by: record.writtenBy }),
      ...(record.author === undefined ? {} : { user_id: record.author }),
      ...(record.expiresAtMs === null ? {} : { expires_at: timeText(record.expiresAtMs) }),
      ...(record.origin === undefined ? {} : { origin: record.origin }),
      score: Math.round(score * 1000) / 1000,
      ...(isGuess ? { guess: true as const } : {}),
    })),
  };
}

export function rollbackAnswer(result: RollbackResult, isDryRun: boolean): RollbackAnswer {
  const { changes, unreached, isDone, changedSince, doneAtMs } = result;
  const named = (fact: (typeof unreached)[number]) => ({ label: fact.label, ...projectField(fact) });
  return {
    status: isDone ? "ok" : isDryRun ? "planned" : "unreached",
    changes: changes.map((change) => ({
      label: change.label,
      ...projectField(change),
      from: change.from,
      to: change.to,
    })),
    unreached: unreached.map(named),
    ...(changedSince.length === 0 ? {} : { changed_since: changedSince.map(named) }),
    ...(doneAtMs === undefined ? {} : { at: timeText(doneAtMs) }),
  };
}

export function usersAnswer(users: readonly ListedUser[], nextCursor: string | null): UsersAnswer {
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

export function labelAnswer(terms: LabelTerms): LabelAnswer {
  const { channel, label, description, example, scope, hidden, oneOf, maxBytes, ttlS } = terms;
  const { createdAtMs, createdBy, createdKey, writers } = terms;
  return {
    channel,
    label,
    description,
    example,
    own: channel >= CHANNEL_COUNT,
    scope,
    hidden,
    ...(writers === undefined ? {} : { writers }),
    ...(oneOf === null ? {} : { one_of: [...oneOf] }),
    ...(maxBytes === null ? {} : { max_bytes: maxBytes }),
    ...(ttlS === null ? {} : { ttl_s: ttlS }),
    ...(createdAtMs === undefined ? {} : { created_at: timeText(createdAtMs) }),
    ...(createdBy === undefined ? {} : { created_by: createdBy }),
    ...(createdKey === undefined ? {} : { created_key: createdKey }),
  };
}

function authorOf(fact: Pick<KeptValue, "writtenBy" | "sessionId" | "origin" | "author">) {
  const { writtenBy, sessionId, origin, author } = fact;
  return {
    ...(writtenBy === null ? {} : { written_by: writtenBy }),
    ...(author === undefined ? {} : { user_id: author }),
    ...(sessionId === null ? {} : { session_id: sessionId }),
    ...(origin === undefined ? {} : { origin }),
  };
}

function renamedFrom(label: string | undefined) {
  return label === undefined ? {} : { renamed_from: label };
}

function projectField({ place }: { readonly place: string }) {
  const shared = projectOfPlace(place);
  if (shared !== undefined) return { project: shared, place: "shared" as const };
  return place === "" ? {} : { project: place };
}

/** Why something of an erased user is still there. */
export function leftAnswer(left: readonly { readonly project: string; readonly values: number }[]) {
  if (left.length === 0) return {};
  const why =
    "It belongs to the shared project. The user's name was taken out of it; DELETE /projects/{project} erases it for all.";
  return { left: left.map(({ project, values }) => ({ project, values, why })) };
}

export function receiptAnswer(receipt: Receipt): ReceiptAnswer {
  const { account, userId, project, facts, earlier, labels, places, key, signature } = receipt;
  const { connections, keysLeft, erasedAtMs, tokensUntilMs, backupsUntilMs } = receipt;
  return {
    ...{ account, user_id: userId, project, facts, earlier, labels, places, connections },
    keys_left: keysLeft,
    erased_at: timeText(erasedAtMs),
    tokens_until: timeText(tokensUntilMs),
    backups_until: backupsUntilMs === null ? null : timeText(backupsUntilMs),
    ...{ key, signature },
  };
}

/** The receipt that an answer has; times are as they were written, to the millisecond. */
export function receiptOf(answer: ReceiptAnswer): Receipt {
  const { user_id: userId, keys_left: keysLeft, erased_at, tokens_until, backups_until, ...rest } = answer;
  return {
    ...rest,
    ...{ userId, keysLeft },
    erasedAtMs: Date.parse(erased_at),
    tokensUntilMs: Date.parse(tokens_until),
    backupsUntilMs: backups_until === null ? null : Date.parse(backups_until),
  };
}
