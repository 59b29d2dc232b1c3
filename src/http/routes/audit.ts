/** GET /audit and /admin/audit: who has changed what. An account learns of an operator that it was one, not who, nor from where. */

import { invalidRequest } from "../../base/errors.ts";
import { TIME_MS_MAX } from "../../base/limits.ts";
import type { AuditAnswer, AuditedChange } from "../../contract/answers.ts";
import type { AuditFilter } from "../../memory/audit.ts";
import { checkAccount, checkIdentifier } from "../../memory/identifiers.ts";
import type { AuditNote } from "../../memory/records.ts";
import { requireAllGroups } from "../../memory/rights.ts";
import { cursorOf, momentIn, textOfCursor, wrongCursor } from "../request/query.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { timeText } from "./answer-mapping.ts";

const PAGE = 50;

interface AskedEntries {
  readonly account?: string;
  readonly user?: string;
  readonly operation?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

export function auditRoutes({ audit }: HttpServices) {
  const pageOf = async (asked: AskedEntries, isOperator: boolean): Promise<AuditAnswer> => {
    const { notes, isMore } = await audit.list(filterOf(asked));
    const last = isMore ? notes.at(-1)?.entry : undefined;
    return {
      entries: notes.map((note) => entryAnswer(note, isOperator)),
      next_cursor: last === undefined ? null : cursorOf(`${last.atMs} ${last.id}`),
    };
  };
  return {
    audit(call) {
      requireAllGroups(call.caller);
      return pageOf({ ...call.query, account: call.caller.account }, false);
    },

    adminAudit(call) {
      const { account, user } = call.query;
      if (account !== undefined) checkAccount(account);
      else if (user !== undefined)
        throw invalidRequest(
          "account",
          "account must say whose user it is: others may have one of that name.",
        );
      return pageOf(call.query, true);
    },
  } satisfies Partial<Handlers>;
}

function filterOf({
  account,
  user,
  operation,
  since,
  until,
  limit = String(PAGE),
  cursor,
}: AskedEntries): AuditFilter {
  if (user !== undefined) checkIdentifier(user, "user");
  return {
    ...{ account, user, operation, limit: Number(limit) },
    sinceMs: since === undefined ? undefined : momentIn(since, "since"),
    untilMs: until === undefined ? undefined : momentIn(until, "until"),
    after: cursor === undefined ? undefined : entryOf(cursor),
  };
}

function entryOf(cursor: string): { atMs: number; id: string } {
  const [, atMs, id] = /^(\d{1,15}) ([0-9a-f]{16})$/.exec(textOfCursor(cursor)) ?? [];
  if (id === undefined || Number(atMs) > TIME_MS_MAX) throw wrongCursor();
  return { atMs: Number(atMs), id };
}

function entryAnswer({ entry, names }: AuditNote, isOperator: boolean): AuditedChange {
  const known = new Map(names.map(({ hash, name }) => [hash, name]));
  const { by, of } = entry;
  const { user, members, keyId, requestId, ...others } = of;
  const hashes = [by.person, user, ...(members ?? [])].filter((hash) => hash !== undefined);
  const erased = [...new Set(hashes)].filter((hash) => !known.has(hash));
  const isHidden = by.operator !== undefined && !isOperator;
  return {
    id: entry.id,
    at: timeText(entry.atMs),
    operation: entry.operation,
    account: entry.account,
    by: {
      ...(by.keyId !== undefined && { key_id: by.keyId }),
      ...(by.operator !== undefined && { operator: isHidden ? "operator" : by.operator }),
      ...(by.person !== undefined && { person: known.get(by.person) ?? null }),
    },
    of: {
      ...(user !== undefined && { user_id: known.get(user) ?? null }),
      ...(members && { members: members.flatMap((hash) => known.get(hash) ?? []) }),
      ...(keyId !== undefined && { key_id: keyId }),
      ...(requestId !== undefined && { request_id: requestId }),
      ...others,
    },
    ...(erased.length > 0 && { erased }),
    address: isHidden ? null : entry.address,
    request_id: entry.requestId,
  };
}
