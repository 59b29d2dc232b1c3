/** What is written and forgotten: POST /encode, /encode/batch, /append, /remove, /restore and /rename, DELETE /facts. */

import type { AppendBody } from "../../contract/life-schemas.ts";
import type { Static } from "../../contract/type.ts";
import type { Caller } from "../../memory/authentication.ts";
import { type EncodeInput, type EncodeResult, encodeFacts } from "../../memory/encode.ts";
import { forgetFact } from "../../memory/facts.ts";
import { restoreFact } from "../../memory/history.ts";
import { changeList } from "../../memory/lists.ts";
import { renameFact } from "../../memory/rename.ts";
import type { MemoryServices } from "../../memory/services.ts";
import { Answer } from "../request/answer.ts";
import { expectedRevision, isTrue, revisionHeaders } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import {
  batchAnswer,
  detailedBatchAnswer,
  detailedEncodeAnswer,
  encodeAnswer,
  forgetAnswer,
} from "./answer-mapping.ts";

interface WriteCall {
  readonly body: {
    readonly user_id: string;
    readonly project?: string;
    readonly written_by?: string;
    readonly session_id?: string;
  };
  readonly caller: Caller;
  readonly memory: MemoryServices;
  sessionId: string | undefined;
  header(name: string): string | undefined;
}

export function factRoutes() {
  const encodeAll = (call: WriteCall, input: Pick<EncodeInput, "operation" | "facts">) =>
    encodeFacts(call.memory, call.caller, { ...input, ...writerOf(call) });
  return {
    async encode(call) {
      const { label, value, details } = call.body;
      const facts = [{ label, value, ...termsOf(call.body), ifRevision: expectedRevision(call) }];
      const result = await encodeAll(call, { operation: "encode", facts });
      return written(result, details ? detailedEncodeAnswer(result) : encodeAnswer(result));
    },

    async encodeBatch(call) {
      const given = call.body.new_label;
      const facts = call.body.facts.map((fact) => ({
        label: fact.label,
        value: fact.value,
        ...termsOf(fact),
        newLabel: fact.new_label ?? given,
        ifRevision: fact.if_revision,
      }));
      const result = await encodeAll(call, { operation: "encode/batch", facts });
      const answer = call.body.details ? detailedBatchAnswer(result) : batchAnswer(result);
      return Answer.json(answer, { headers: replayHeaders(result), used: result.used });
    },

    async append(call) {
      const { label, item } = call.body;
      const change = { label, item, ...termsOf(call.body), ifRevision: expectedRevision(call) };
      const input = { ...writerOf(call), ...change };
      return changed(await changeList(call.memory, call.caller, "append", input), call.body);
    },

    async remove(call) {
      const { label, item, scope } = call.body;
      const input = { ...writerOf(call), label, item, scope, ifRevision: expectedRevision(call) };
      return changed(await changeList(call.memory, call.caller, "remove", input), call.body);
    },

    async restore(call) {
      const { label, revision, scope } = call.body;
      const input = { ...writerOf(call), label, revision, scope, ifRevision: expectedRevision(call) };
      return changed(await restoreFact(call.memory, call.caller, input), call.body);
    },

    async rename(call) {
      const { label, to, merge } = call.body;
      const input = { ...writerOf(call), label, to, merge, ifRevision: expectedRevision(call) };
      const result = await renameFact(call.memory, call.caller, input);
      return written(result, call.body.details ? detailedEncodeAnswer(result) : encodeAnswer(result));
    },

    async forgetFact(call) {
      const { user_id: userId, label, project, scope, keep_history: keep } = call.query;
      const condition = { keepHistory: isTrue(keep), ifRevision: expectedRevision(call) };
      const input = { userId, label, project, scope, ...condition };
      return forgetAnswer(await forgetFact(call.memory, call.caller.account, input));
    },
  } satisfies Partial<Handlers>;
}

/** What a fact may be written with. */
function termsOf(fact: Omit<Static<typeof AppendBody>, "user_id" | "label" | "item">) {
  const {
    scope,
    ttl_s: ttlS,
    expires_at: expiresAt,
    new_label: newLabel,
    description,
    origin,
    pinned,
  } = fact;
  return { scope, ttlS, expiresAt, newLabel, description, origin, pinned };
}

/** What every write has; its session is logged. */
function writerOf(call: WriteCall) {
  const { user_id: userId, project, written_by: writtenBy, session_id: sessionId } = call.body;
  call.sessionId = sessionId;
  return { userId, project, writtenBy, sessionId, idempotencyKey: call.header("idempotency-key") };
}

/** A list whose last item was removed is no fact any more: its value is empty. */
function changed(result: EncodeResult, { label, details }: { label: string; details?: boolean }) {
  const { facts, channel, channelCount: channel_count } = result;
  if (facts.length === 0)
    return written(result, { status: "ok", label, value: "", channel, channel_count } as const);
  return written(result, details ? detailedEncodeAnswer(result) : encodeAnswer(result));
}

/** The answer to a write of one fact. */
function written<T>(result: EncodeResult, answer: T): Answer<T> {
  const { facts, used } = result;
  const tag = facts.length === 0 ? [] : revisionHeaders(facts[0].revision);
  return Answer.json(answer, { headers: [...replayHeaders(result), ...tag], used });
}

function replayHeaders({ replayed }: EncodeResult): string[] {
  return replayed ? ["idempotency-replayed", "true"] : [];
}
