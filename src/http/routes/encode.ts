/** POST /encode and /encode/batch. */

import type { Caller } from "../../memory/authentication.ts";
import { type EncodeInput, type EncodeResult, encodeFacts } from "../../memory/encode.ts";
import { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { expectedRevision, revisionHeaders } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { batchAnswer, detailedBatchAnswer, detailedEncodeAnswer, encodeAnswer } from "./answer-mapping.ts";

type EncodeCall = Pick<Call, "sessionId"> & { readonly caller: Caller };

export function encodeRoutes({ memory }: HttpServices): Handlers<"encode" | "encodeBatch"> {
  const run = async <T>(
    call: EncodeCall,
    input: EncodeInput,
    answer: (result: EncodeResult) => T,
    headersOf: (result: EncodeResult) => readonly string[] = () => [],
  ) => {
    call.sessionId = input.sessionId;
    const result = await encodeFacts(memory, call.caller, input);
    const replayed = result.replayed ? ["idempotency-replayed", "true"] : [];
    return Answer.json(answer(result), { headers: [...replayed, ...headersOf(result)], used: result.used });
  };
  return {
    encode(call) {
      const { user_id: userId, label, value, project, scope, details } = call.body;
      const { ttl_s: ttlS, expires_at: expiresAt, written_by: writtenBy, session_id: sessionId } = call.body;
      const facts = [{ label, value, scope, ttlS, expiresAt, ifRevision: expectedRevision(call) }];
      const idempotencyKey = call.header("idempotency-key");
      return run(
        call,
        { operation: "encode", userId, project, facts, writtenBy, sessionId, idempotencyKey },
        details ? detailedEncodeAnswer : encodeAnswer,
        ({ facts: [{ revision }] }) => revisionHeaders(revision),
      );
    },

    encodeBatch(call) {
      const { user_id: userId, project, written_by: writtenBy, session_id: sessionId, details } = call.body;
      const facts = call.body.facts.map((fact) => ({
        label: fact.label,
        value: fact.value,
        scope: fact.scope,
        ttlS: fact.ttl_s,
        expiresAt: fact.expires_at,
        ifRevision: fact.if_revision,
      }));
      const idempotencyKey = call.header("idempotency-key");
      return run(
        call,
        { operation: "encode/batch", userId, project, facts, writtenBy, sessionId, idempotencyKey },
        details ? detailedBatchAnswer : batchAnswer,
      );
    },
  };
}
