/** Whole users: GET /users, /users/changes and /users/export, rollback, moving a project, DELETE /users. */

import { Readable } from "node:stream";
import { setImmediate as othersTurn } from "node:timers/promises";
import type { RollbackAnswer } from "../../contract/answers.ts";
import type { RollbackBody } from "../../contract/life-schemas.ts";
import type { Static } from "../../contract/type.ts";
import type { Caller } from "../../memory/authentication.ts";
import { forgetUser } from "../../memory/facts.ts";
import {
  type EventMark,
  type RollbackInput,
  type RollbackResult,
  rollBack,
  userChanges,
} from "../../memory/history.ts";
import { checkIdentifier } from "../../memory/identifiers.ts";
import type { Receipts } from "../../memory/receipts.ts";
import { moveProject } from "../../memory/rename.ts";
import { exportLines } from "../../memory/transfer.ts";
import { listUsers } from "../../memory/users.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import type { ByteBudget } from "../request/byte-budget.ts";
import { jsonParts, LIST_PART, PARTS_IN_FLIGHT } from "../request/long-answers.ts";
import { isTrue } from "../request/preferences.ts";
import { cursorOf, momentIn, textOfCursor, wrongCursor } from "../request/query.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { changesAnswer, leftAnswer, receiptAnswer, rollbackAnswer, usersAnswer } from "./life-mapping.ts";

const PAGE = 50;
/** From this length on an export is a stream that waits for its reader. */
const EXPORT_LENGTH = 512 * 1024;

export function userRoutes(answers: ByteBudget, receipts: Receipts) {
  return {
    async changes(call) {
      const { user_id: userId, project, since, limit = String(PAGE), cursor } = call.query;
      const { events, isMore } = await userChanges(call.memory, call.caller.account, {
        userId,
        project,
        sinceMs: since === undefined ? undefined : momentIn(since, "since"),
        limit: Number(limit),
        after: cursor === undefined ? undefined : eventOf(cursor),
      });
      const last = isMore ? events.at(-1) : undefined;
      const next = last === undefined ? null : cursorOf(`${last.atMs} ${last.revision} ${last.kind}`);
      return changesAnswer(userId, events, next);
    },

    async rollback(call) {
      const input = rollbackInput(call.body);
      call.sessionId = input.sessionId;
      const result = await rollBack(call.memory, call.caller, input);
      const hold = (bytes: number) => call.holdAnswer(answers, bytes);
      return rollbackResponse(result, input.dryRun === true, hold);
    },

    async moveProject(call) {
      const { user_id: userId, from, to } = call.body;
      const moved = await moveProject(call.memory, call.caller.account, { userId, from, to });
      return { status: "ok", moved } as const;
    },

    users: (call) => usersPage(call.memory, call.caller, call.query),

    async export(call) {
      const { user_id: userId } = call.query;
      checkIdentifier(userId, "user_id");
      const { caller, memory } = call;
      const { account } = caller;
      const lines = exportLines(memory.store, {
        account,
        userId,
        nowMs: memory.clock.now(),
        turn: () => memory.turns.next(account),
      });
      const terms = { type: "application/x-ndjson", headers: ["cache-control", "no-store"] };
      let begin = "";
      for (let next = await lines.next(); !next.done; next = await lines.next()) {
        begin += `${JSON.stringify(next.value)}\n`;
        if (begin.length < EXPORT_LENGTH) continue;
        call.holdAnswer(answers, PARTS_IN_FLIGHT * begin.length);
        return new Answer(
          Readable.from(restOf(begin, lines, (bytes) => call.holdAnswer(answers, bytes))),
          terms,
        );
      }
      return new Answer(begin, terms);
    },

    async forgetUser(call) {
      const { user_id: userId, project, details } = call.query;
      const { account } = call.caller;
      const begunMs = call.memory.clock.now();
      const { erased, left } = await forgetUser(call.memory, account, { userId, project });
      if (!isTrue(details)) return { status: "ok" };
      const receipt = receipts.of(erased, { account, userId, project }, begunMs, call.memory.clock.now());
      return { status: "ok", receipt: receiptAnswer(receipt), ...leftAnswer(left) };
    },
  } satisfies Partial<Handlers>;
}

/** A page of the users of an account; where a key is bound, of its user alone. */
export async function usersPage(
  memory: HttpServices["memory"],
  { account, user: only }: Pick<Caller, "account" | "user">,
  { prefix = "", limit = String(PAGE), cursor }: { prefix?: string; limit?: string; cursor?: string },
) {
  const after = cursor === undefined ? "" : textOfCursor(cursor);
  const { users, isMore } = await listUsers(memory, account, { prefix, after, limit: Number(limit), only });
  const last = users.at(-1);
  return usersAnswer(users, isMore && last !== undefined ? cursorOf(last.userId) : null);
}

function rollbackInput(body: Static<typeof RollbackBody>): RollbackInput {
  const { user_id: userId, project, scope, to, dry_run: dryRun, partial, unchanged_since: since } = body;
  const { written_by: writtenBy, session_id: sessionId } = body;
  const unchangedSinceMs = since === undefined ? undefined : momentIn(since, "unchanged_since");
  const toMs = momentIn(to, "to");
  return { userId, project, scope, toMs, dryRun, partial, writtenBy, sessionId, unchangedSinceMs };
}

function rollbackResponse(
  result: RollbackResult,
  isDryRun: boolean,
  hold: (bytes: number) => void,
): Answer<RollbackAnswer> {
  const { used } = result;
  if (result.changes.length <= LIST_PART) return Answer.json(rollbackAnswer(result, isDryRun), { used });
  const answerWith = (part: Partial<RollbackResult>) =>
    rollbackAnswer({ ...result, changes: [], unreached: [], ...part }, isDryRun);
  const { changes: _, unreached: __, ...rest } = answerWith({});
  const lists = (["changes", "unreached"] as const).map((name) => ({
    name,
    length: result[name].length,
    part: (start: number, end: number) => answerWith({ [name]: result[name].slice(start, end) })[name],
  }));
  return new Answer(Readable.from(jsonParts(rest, lists, hold)), { type: JSON_TYPE, used });
}

/** The rest of a long export, which is made as its reader takes it. */
async function* restOf(
  begin: string,
  lines: AsyncIterable<object>,
  hold: (bytes: number) => void,
): AsyncGenerator<string> {
  yield begin;
  for await (const line of lines) {
    // A reader that takes everything at once would leave no time for others.
    await othersTurn();
    const text = `${JSON.stringify(line)}\n`;
    hold(PARTS_IN_FLIGHT * text.length);
    yield text;
  }
}

function eventOf(cursor: string): EventMark {
  const mark = /^(\d{1,15}) (\d{1,16}) (written|forgotten|expired|renamed)$/.exec(textOfCursor(cursor));
  const [, atMs, revision, kind] = mark ?? [];
  if (kind === undefined) throw wrongCursor();
  return { atMs: Number(atMs), revision: Number(revision), kind: kind as EventMark["kind"] };
}
