/** POST /encode and /encode/batch. */

import { batchAnswer, encodeAnswer } from "../../contract/answer-mapping.ts";
import type { Caller } from "../../memory/authentication.ts";
import { type EncodeInput, type EncodeResult, encodeFacts } from "../../memory/encode.ts";
import { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

type EncodeCall = Pick<Call, "sessionId"> & { readonly caller: Caller };

export function encodeRoutes({ memory }: HttpServices): Handlers<"encode" | "encodeBatch"> {
  const run = async <T>(call: EncodeCall, input: EncodeInput, answer: (result: EncodeResult) => T) => {
    call.sessionId = input.sessionId;
    const result = await encodeFacts(memory, call.caller, input);
    const headers = result.replayed ? ["idempotency-replayed", "true"] : [];
    return Answer.json(answer(result), { headers, used: result.used });
  };
  return {
    encode(call) {
      const { user_id: userId, label, value, session_id: sessionId } = call.body;
      const facts = [{ label, value }];
      const idempotencyKey = call.header("idempotency-key");
      return run(call, { operation: "encode", userId, facts, sessionId, idempotencyKey }, encodeAnswer);
    },

    encodeBatch(call) {
      const { user_id: userId, facts, session_id: sessionId } = call.body;
      const idempotencyKey = call.header("idempotency-key");
      return run(call, { operation: "encode/batch", userId, facts, sessionId, idempotencyKey }, batchAnswer);
    },
  };
}
