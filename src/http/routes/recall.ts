/** What is read: GET /context, /decode, /decode/model, /facts and /history. And blocks: POST /flush and /read. */

import { andThen } from "../../base/maybe-promise.ts";
import { readContext } from "../../memory/context.ts";
import { type DecodedFact, decodeFact, decodeThroughModel } from "../../memory/decode.ts";
import { listFacts } from "../../memory/facts.ts";
import { flushUser } from "../../memory/flush.ts";
import { factHistory } from "../../memory/history.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import { Answer } from "../request/answer.ts";
import { requesterOf } from "../request/call.ts";
import { isTrue, revisionHeaders } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import {
  decodeAnswer,
  factDetails,
  factsAnswer,
  flushAnswer,
  modelDecodeAnswer,
  readAnswer,
} from "./answer-mapping.ts";
import type { ContextAnswers } from "./context-answers.ts";
import { historyAnswer } from "./life-mapping.ts";

export function recallRoutes({ memory }: HttpServices, contexts: ContextAnswers) {
  const decodeModel: Handlers["decodeModel"] = async (call) => {
    const { user_id: userId, label, project, details } = call.query;
    const input = { userId, label, project };
    const decoded = await decodeThroughModel(memory, requesterOf(call, call.caller), input);
    return decodedAnswer(decoded, modelDecodeAnswer(decoded), details);
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
      return andThen(decodeFact(memory, call.caller.account, { userId, label, project }), (decoded) =>
        decodedAnswer(decoded, decodeAnswer(decoded), details),
      );
    },

    decodeModel,

    async facts(call) {
      const { user_id: userId, project } = call.query;
      const facts = await listFacts(memory, call.caller.account, { userId, project });
      return factsAnswer(userId, facts, project);
    },

    async history(call) {
      const { user_id: userId, label, project } = call.query;
      return historyAnswer(
        userId,
        await factHistory(memory, call.caller.account, { userId, label, project }),
      );
    },

    async flush(call) {
      const { user_id: userId, project, session_id: sessionId } = call.body;
      call.sessionId = sessionId;
      const input = { userId, project, sessionId };
      return flushAnswer(await flushUser(memory, requesterOf(call, call.caller), input));
    },

    async read(call) {
      const { user_id: userId, project, block } = call.body;
      const input = { userId, project, block };
      return readAnswer(userId, await readPresentedBlock(memory, requesterOf(call, call.caller), input));
    },
  } satisfies Partial<Handlers>;
}

function decodedAnswer<T extends object>(
  { fact }: DecodedFact,
  answer: T,
  details: string | undefined,
): Answer<T> {
  const json = isTrue(details) ? { ...answer, ...factDetails(fact) } : answer;
  return Answer.json(json, { headers: revisionHeaders(fact.revision) });
}
