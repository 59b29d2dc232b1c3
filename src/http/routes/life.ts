/** A fact's life: lists, history, going back, the users and the labels of an account. */

import { Readable } from "node:stream";
import { setImmediate as othersTurn } from "node:timers/promises";
import { momentOf } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import { CHANNEL_COUNT } from "../../base/limits.ts";
import { detailedEncodeAnswer, encodeAnswer } from "../../contract/answer-mapping.ts";
import {
  changesAnswer,
  historyAnswer,
  labelAnswer,
  rollbackAnswer,
  usersAnswer,
} from "../../contract/life-mapping.ts";
import type { Caller } from "../../memory/authentication.ts";
import type { EncodeResult } from "../../memory/encode.ts";
import { type EventMark, factHistory, restoreFact, rollBack, userChanges } from "../../memory/history.ts";
import { checkIdentifier } from "../../memory/identifiers.ts";
import { addLabel, changeLabel, removeLabel } from "../../memory/label-terms.ts";
import type { AccountLabels, LabelTerms } from "../../memory/labels.ts";
import { changeList } from "../../memory/lists.ts";
import { moveProject } from "../../memory/project-move.ts";
import { mayAddLabels } from "../../memory/rights.ts";
import { exportLines } from "../../memory/transfer.ts";
import { listUsers } from "../../memory/users.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import type { ByteBudget } from "../request/byte-budget.ts";
import { expectedRevision, revisionHeaders } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

type LifeOperation =
  | "append"
  | "remove"
  | "history"
  | "restore"
  | "changes"
  | "rollback"
  | "moveProject"
  | "users"
  | "export"
  | "addLabel"
  | "changeLabel"
  | "removeLabel";

const PAGE = 50;
/** From this length on an export is a stream that waits for its reader. */
const EXPORT_LENGTH = 512 * 1024;
/** Changes of an answer that are made in one go. */
const PIECE = 256;
/** One that the reader takes, and the next. */
const PIECES_IN_FLIGHT = 2;

export function lifeRoutes({ memory }: HttpServices, answers: ByteBudget): Handlers<LifeOperation> {
  return {
    async append(call) {
      const { body } = call;
      call.sessionId = body.session_id;
      const input = {
        ...writerOf(call),
        label: body.label,
        item: body.item,
        scope: body.scope,
        ttlS: body.ttl_s,
        expiresAt: body.expires_at,
        ifRevision: expectedRevision(call),
      };
      return written(await changeList(memory, call.caller, "append", input), body);
    },

    async remove(call) {
      const { body } = call;
      call.sessionId = body.session_id;
      const { label, item, scope } = body;
      const input = { ...writerOf(call), label, item, scope, ifRevision: expectedRevision(call) };
      return written(await changeList(memory, call.caller, "remove", input), body);
    },

    async history(call) {
      const { user_id: userId, label, project } = call.query;
      return historyAnswer(
        userId,
        await factHistory(memory, call.caller.account, { userId, label, project }),
      );
    },

    async restore(call) {
      const { body } = call;
      call.sessionId = body.session_id;
      const { label, revision } = body;
      const input = { ...writerOf(call), label, revision, ifRevision: expectedRevision(call) };
      return written(await restoreFact(memory, call.caller, input), body);
    },

    async changes(call) {
      const { user_id: userId, project, since, limit = String(PAGE), cursor } = call.query;
      const { events, isMore } = await userChanges(memory, call.caller.account, {
        userId,
        project,
        sinceMs: since === undefined ? undefined : momentIn(since, "since"),
        limit: Number(limit),
        after: cursor === undefined ? undefined : eventOf(cursor),
      });
      const last = events.at(-1);
      return changesAnswer(
        userId,
        events,
        isMore && last !== undefined ? cursorOf(`${last.atMs} ${last.revision} ${last.kind}`) : null,
      );
    },

    async rollback(call) {
      const { user_id: userId, to, project, dry_run: dryRun, partial } = call.body;
      const { written_by: writtenBy, session_id: sessionId } = call.body;
      call.sessionId = sessionId;
      const toMs = momentIn(to, "to");
      const input = { userId, project, toMs, dryRun, partial, writtenBy, sessionId };
      const result = await rollBack(memory, call.caller, input);
      const answer = { ...result, isDryRun: dryRun === true };
      if (result.changes.length <= PIECE) return Answer.json(rollbackAnswer(answer), { used: result.used });
      const pieces = rollbackPieces(answer, (bytes) => call.holdAnswer(answers, PIECES_IN_FLIGHT * bytes));
      return new Answer<ReturnType<typeof rollbackAnswer>>(Readable.from(pieces), {
        type: JSON_TYPE,
        used: result.used,
      });
    },

    async moveProject(call) {
      const { user_id: userId, from, to } = call.body;
      const moved = await moveProject(memory, call.caller.account, { userId, from, to });
      return { status: "ok", moved } as const;
    },

    users: (call) => usersPage(memory, call.caller, call.query),

    async export(call) {
      const { user_id: userId } = call.query;
      checkIdentifier(userId, "user_id");
      const { account } = call.caller;
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
        call.holdAnswer(answers, PIECES_IN_FLIGHT * begin.length);
        return new Answer(
          Readable.from(restOf(begin, lines, (bytes) => call.holdAnswer(answers, bytes))),
          terms,
        );
      }
      return new Answer(begin, terms);
    },

    async addLabel(call) {
      const { label, description, example = "", scope = null, hidden = false } = call.body;
      const { one_of: oneOf = null, max_bytes: maxBytes = null, ttl_s: ttlS = null } = call.body;
      const wanted = { label, description, example, oneOf, maxBytes, ttlS, scope, hidden };
      const { account, keyId } = call.caller;
      const author = { keyId, writtenBy: call.body.written_by };
      const { isNew, terms } = await addLabel(memory, account, wanted, author);
      return Answer.json(labelView(terms), { status: isNew ? 201 : 200 });
    },

    async changeLabel(call) {
      const { description, example, one_of: oneOf, max_bytes: maxBytes, ttl_s: ttlS, hidden } = call.body;
      const { scope } = call.body as { readonly scope?: unknown };
      const change = given({ description, example, oneOf, maxBytes, ttlS, hidden, scope });
      const { account, keyId } = call.caller;
      return labelView(await changeLabel(memory, account, call.params.label, change, { keyId }));
    },

    async removeLabel(call) {
      const { account, keyId } = call.caller;
      await removeLabel(memory, account, call.params.label, { keyId });
      return { status: "ok" } as const;
    },
  };
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

export function labelView(terms: LabelTerms) {
  return labelAnswer({ ...terms, isOwn: terms.channel >= CHANNEL_COUNT });
}

/** The JSON of an answer with many changes, which is made as its reader takes it. */
async function* rollbackPieces(
  result: Parameters<typeof rollbackAnswer>[0],
  hold: (bytes: number) => void,
): AsyncGenerator<string> {
  const answerWith = (part: Partial<typeof result>) =>
    rollbackAnswer({ ...result, changes: [], unreached: [], ...part });
  yield `{"status":${JSON.stringify(answerWith({}).status)}`;
  for (const name of ["changes", "unreached"] as const) {
    yield `,"${name}":[`;
    for (let i = 0; i < result[name].length; i += PIECE) {
      await othersTurn();
      const part = answerWith({ [name]: result[name].slice(i, i + PIECE) })[name];
      const text = (i === 0 ? "" : ",") + JSON.stringify(part).slice(1, -1);
      hold(text.length);
      yield text;
    }
    yield "]";
  }
  yield "}";
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
    hold(PIECES_IN_FLIGHT * text.length);
    yield text;
  }
}

/** The labels of an account as a caller sees them: who added one is told to keys of the whole account. */
export function channelsView({ all, free }: AccountLabels, caller: Caller) {
  const seen = ({ createdAtMs: _at, createdBy: _by, createdKey: _key, ...terms }: LabelTerms) => terms;
  return {
    channels: (caller.user === null ? all : all.map(seen)).map(labelView),
    free: mayAddLabels(caller) ? free : 0,
  };
}

interface WriteCall {
  readonly body: {
    readonly user_id: string;
    readonly project?: string;
    readonly written_by?: string;
    readonly session_id?: string;
  };
  header(name: string): string | undefined;
}

function writerOf(call: WriteCall) {
  const { user_id: userId, project, written_by: writtenBy, session_id: sessionId } = call.body;
  return { userId, project, writtenBy, sessionId, idempotencyKey: call.header("idempotency-key") };
}

/** A list whose last item was removed is no fact any more: its value is empty. */
function written(result: EncodeResult, { label, details }: { label: string; details?: boolean }) {
  const { facts, channelCount, used } = result;
  const replayed = result.replayed ? ["idempotency-replayed", "true"] : [];
  if (facts.length === 0) {
    const gone = {
      status: "ok",
      label,
      value: "",
      channel: result.channel,
      channel_count: channelCount,
    } as const;
    return Answer.json(gone, { headers: replayed, used });
  }
  const headers = [...replayed, ...revisionHeaders(facts[0].revision)];
  return Answer.json(details ? detailedEncodeAnswer(result) : encodeAnswer(result), { headers, used });
}

function momentIn(text: string, param: string): number {
  const ms = momentOf(text);
  if (ms === undefined || ms < 0)
    throw new Failure(
      "invalid_request",
      `${param} must be a moment of RFC 3339 with its zone, such as "2026-11-15T18:00:00Z", or a day.`,
      { param },
    );
  return ms;
}

function cursorOf(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function textOfCursor(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  if (cursorOf(text) !== cursor) throw wrongCursor();
  return text;
}

function wrongCursor(): Failure {
  return new Failure("invalid_request", "cursor must be the next_cursor of the page before.", {
    param: "cursor",
  });
}

function eventOf(cursor: string): EventMark {
  const mark = /^(\d{1,15}) (\d{1,16}) (written|forgotten|expired)$/.exec(textOfCursor(cursor));
  const [, atMs, revision, kind] = mark ?? [];
  if (kind === undefined) throw wrongCursor();
  return { atMs: Number(atMs), revision: Number(revision), kind: kind as EventMark["kind"] };
}

/** Only what was sent. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
