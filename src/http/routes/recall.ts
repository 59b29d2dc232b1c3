/** GET /context, /decode, /decode/model and /facts: everything that only reads. */

import { andThen } from "../../base/maybe-promise.ts";
import { decodeAnswer, factsAnswer, modelDecodeAnswer } from "../../contract/answer-mapping.ts";
import { readContext } from "../../memory/context.ts";
import { decodeFact, decodeThroughModel } from "../../memory/decode.ts";
import { listFacts } from "../../memory/facts.ts";
import { requesterOf } from "../request/call.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import type { ContextAnswers } from "./context-answers.ts";

export function recallRoutes(
  { memory }: HttpServices,
  contexts: ContextAnswers,
): Handlers<"context" | "decode" | "decodeModel" | "facts"> {
  const decodeModel: Handlers["decodeModel"] = async (call) => {
    const { user_id: userId, label } = call.query;
    return modelDecodeAnswer(
      await decodeThroughModel(memory, requesterOf(call, call.caller), { userId, label }),
    );
  };
  return {
    context(call) {
      const requester = requesterOf(call, call.caller);
      return andThen(readContext(memory, requester, call.query.user_id), (context) =>
        contexts.answerOf(call, context),
      );
    },

    decode(call) {
      const { user_id: userId, label, use_model: useModel } = call.query;
      if (asksForModel(useModel)) return decodeModel(call);
      return andThen(decodeFact(memory, call.caller.account, { userId, label }), decodeAnswer);
    },

    decodeModel,

    async facts(call) {
      const { user_id: userId } = call.query;
      return factsAnswer(userId, await listFacts(memory, call.caller.account, userId));
    },
  };
}

export function asksForModel(useModel: string | undefined): boolean {
  return useModel !== undefined && /^(true|1)$/i.test(useModel);
}
