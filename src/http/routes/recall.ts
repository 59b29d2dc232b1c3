/** GET /context, /decode, /decode/model and /facts: everything that only reads. */

import { andThen } from "../../base/maybe-promise.ts";
import { readContext } from "../../memory/context.ts";
import { decodeFact, decodeThroughModel } from "../../memory/decode.ts";
import { listFacts } from "../../memory/facts.ts";
import { Answer } from "../request/answer.ts";
import { requesterOf } from "../request/call.ts";
import { isTrue, revisionHeaders } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { decodeAnswer, factDetails, factsAnswer, modelDecodeAnswer } from "./answer-mapping.ts";
import type { ContextAnswers } from "./context-answers.ts";

export function recallRoutes(
  { memory }: HttpServices,
  contexts: ContextAnswers,
): Handlers<"context" | "decode" | "decodeModel" | "facts"> {
  const decodeModel: Handlers["decodeModel"] = async (call) => {
    const { user_id: userId, label, project, details } = call.query;
    const input = { userId, label, project };
    const decoded = await decodeThroughModel(memory, requesterOf(call, call.caller), input);
    const answer = modelDecodeAnswer(decoded);
    return Answer.json(isTrue(details) ? { ...answer, ...factDetails(decoded.fact) } : answer, {
      headers: revisionHeaders(decoded.fact.revision),
    });
  };
  return {
    context(call) {
      const { user_id: userId, project, include = "both", details } = call.query;
      const requester = requesterOf(call, call.caller);
      return andThen(readContext(memory, requester, { userId, project }, include), (context) =>
        isTrue(details)
          ? contexts.detailedAnswerOf(call, context, { account: requester.account, include, project })
          : contexts.answerOf(call, context, include),
      );
    },

    decode(call) {
      const { user_id: userId, label, project, use_model: useModel, details } = call.query;
      if (isTrue(useModel)) return decodeModel(call);
      return andThen(decodeFact(memory, call.caller.account, { userId, label, project }), (decoded) => {
        const answer = decodeAnswer(decoded);
        const headers = revisionHeaders(decoded.fact.revision);
        return Answer.json(isTrue(details) ? { ...answer, ...factDetails(decoded.fact) } : answer, {
          headers,
        });
      });
    },

    decodeModel,

    async facts(call) {
      const { user_id: userId, project } = call.query;
      const facts = await listFacts(memory, call.caller.account, { userId, project });
      return factsAnswer(userId, facts, project);
    },
  };
}
