/** What is read: GET /context, /decode, /decode/model, /facts, /facts/find and /facts/history. And blocks: POST /flush and /read. */

import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { andThen } from "../../base/maybe-promise.ts";
import { atOnce, inSlices } from "../../base/slices.ts";
import type { ContextAnswer } from "../../contract/answers.ts";
import { type Include, readContext, type UserContext } from "../../memory/context.ts";
import { type DecodedFact, decodeFact, decodeThroughModel } from "../../memory/decode.ts";
import { type DescribedFact, listFacts } from "../../memory/facts.ts";
import { FOUND_DEFAULT, findUserFacts } from "../../memory/find.ts";
import { flushUser } from "../../memory/flush.ts";
import { factHistory } from "../../memory/history.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import type { TokenCounts } from "../../memory/token-count.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import type { ByteBudget } from "../request/byte-budget.ts";
import { type Call, requesterOf } from "../request/call.ts";
import { jsonParts } from "../request/long-answers.ts";
import { hasEntity, isTrue, revisionHeaders } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import {
  contextAnswer,
  decodeAnswer,
  detailedContextAnswer,
  factDetails,
  factsAnswer,
  flushAnswer,
  modelDecodeAnswer,
  readAnswer,
} from "./answer-mapping.ts";
import { fittedContext, oldMonth } from "./context-budget.ts";
import { findAnswer, historyAnswer } from "./life-mapping.ts";

/** Facts of an answer in one piece: with the longest values they have about ANSWER_BYTES_MAX. */
const FACTS_WHOLE_MAX = 1_600;
/** What is held of a long list before its first part is made. */
const HELD_FIRST = 2 ** 20;

export function recallRoutes(contexts: ContextAnswers, answers: ByteBudget) {
  const decodeModel: Handlers["decodeModel"] = async (call) => {
    const { user_id: userId, label, project, details } = call.query;
    const input = { userId, label, project };
    const decoded = await decodeThroughModel(call.memory, requesterOf(call, call.caller), input);
    return decodedAnswer(decoded, modelDecodeAnswer(decoded), details);
  };
  return {
    context: contextRoute(contexts),

    decode(call) {
      const { user_id: userId, label, project, use_model: useModel, details } = call.query;
      if (isTrue(useModel)) return decodeModel(call);
      return andThen(decodeFact(call.memory, call.caller.account, { userId, label, project }), (decoded) =>
        decodedAnswer(decoded, decodeAnswer(decoded), details),
      );
    },

    decodeModel,

    async facts(call) {
      const { user_id: userId, project, details } = call.query;
      const person = { userId, project };
      const { caller, memory } = call;
      const facts = await listFacts(memory, caller.account, person, { details: isTrue(details) });
      const turn = () => memory.turns.next(caller.account);
      if (facts.length <= FACTS_WHOLE_MAX) return inSlices(factsAnswer(userId, facts, project), turn);
      const hold = (bytes: number) => call.holdAnswer(answers, bytes);
      // Where there is no room at all, that is the answer.
      hold(HELD_FIRST);
      return new Answer(Readable.from(factParts(userId, facts, project, hold)), { type: JSON_TYPE });
    },

    async find(call) {
      const { user_id: userId, q: query, project, limit, everywhere } = call.query;
      const found = await findUserFacts(call.memory, call.caller.account, {
        ...{ userId, query, project },
        limit: Number(limit ?? FOUND_DEFAULT),
        everywhere: isTrue(everywhere),
      });
      return findAnswer(userId, query, found);
    },

    async history(call) {
      const { user_id: userId, label, project, scope } = call.query;
      return historyAnswer(
        userId,
        await factHistory(call.memory, call.caller.account, { userId, label, project, scope }),
      );
    },

    async flush(call) {
      const { user_id: userId, project, session_id: sessionId } = call.body;
      call.sessionId = sessionId;
      const input = { userId, project, sessionId };
      return flushAnswer(await flushUser(call.memory, requesterOf(call, call.caller), input));
    },

    async read(call) {
      const { user_id: userId, project, block } = call.body;
      const input = { userId, project, block };
      return readAnswer(userId, await readPresentedBlock(call.memory, requesterOf(call, call.caller), input));
    },
  } satisfies Partial<Handlers>;
}

function factParts(
  userId: string,
  all: readonly DescribedFact[],
  project: string | undefined,
  hold: (bytes: number) => void,
): AsyncGenerator<string> {
  const answerOf = (some: readonly DescribedFact[]) => atOnce(factsAnswer(userId, some, project));
  const part = (start: number, end: number) => answerOf(all.slice(start, end)).facts;
  const { facts: _, ...rest } = answerOf([]);
  const list = { name: "facts", length: all.length, part };
  return jsonParts({ ...rest, channel_count: all.length }, [list], hold);
}

function contextRoute(contexts: ContextAnswers): Handlers["context"] {
  return (call) => {
    const { memory } = call;
    const { user_id: userId, project, include = "both", details, max_tokens: maxTokens } = call.query;
    const requester = requesterOf(call, call.caller);
    const { account } = requester;
    return andThen(readContext(memory, requester, { userId, project }, include), (context) => {
      const form = { account, include, project, nowMs: memory.clock.now() };
      const answered = (fitted: UserContext) =>
        isTrue(details)
          ? contexts.detailedAnswerOf(call, fitted, form)
          : contexts.answerOf(call, fitted, include);
      if (maxTokens === undefined) return answered(context);
      return fittedContext(memory, context, { ...form, maxTokens: Number(maxTokens) }).then(answered);
    });
  };
}

function decodedAnswer<T extends object>(
  decoded: DecodedFact,
  answer: T,
  details: string | undefined,
): Answer<T> {
  const json = isTrue(details) ? { ...answer, ...factDetails(decoded) } : answer;
  return Answer.json(json, { headers: revisionHeaders(decoded.fact.revision) });
}

interface Rendered {
  readonly etag: string;
  readonly answer: Answer<ContextAnswer>;
}

/**
 * The block with its ETag, or 304 where the caller has it already. The JSON of a context is made once and kept as long
 * as the context itself: it is asked for far more often than it changes.
 */
export class ContextAnswers {
  readonly #rendered = new WeakMap<UserContext, Map<string, Rendered>>();
  readonly #counts: TokenCounts;

  constructor(counts: TokenCounts) {
    this.#counts = counts;
  }

  answerOf(
    call: Pick<Call, "header">,
    context: UserContext,
    include: Include = "both",
  ): Answer<ContextAnswer> {
    const known = this.#known(context, include);
    return answered(call, known ?? this.#render(context, include, contextAnswer(context, include)));
  }

  /** With what it costs a prompt of the account. */
  async detailedAnswerOf(
    call: Pick<Call, "header">,
    context: UserContext,
    form: { account: string; include: Include; project: string | undefined; nowMs: number },
  ): Promise<Answer<ContextAnswer>> {
    const { account, include, nowMs } = form;
    // A context belongs to one place: the project need not be told apart. Its facts only grow old.
    const oldCount = context.facts.filter((fact) => oldMonth(fact, nowMs) !== undefined).length;
    const name = `${include} details ${oldCount}`;
    const known = this.#known(context, name);
    if (known !== undefined) return answered(call, known);
    const { plain_index, fdm_block } = contextAnswer(context, include);
    const [index, block] = await Promise.all(
      [plain_index, fdm_block].map((text) => this.#counts.of(account, text)),
    );
    const answer = detailedContextAnswer(context, form, { index, block });
    return answered(call, this.#render(context, name, answer));
  }

  #known(context: UserContext, form: string): Rendered | undefined {
    return this.#rendered.get(context)?.get(form);
  }

  #render(context: UserContext, form: string, answer: ContextAnswer): Rendered {
    const json = JSON.stringify(answer);
    const etag = `"${createHash("sha256").update(json).digest("base64url").slice(0, 27)}"`;
    const headers = ["etag", etag, "cache-control", "private, no-cache"];
    const rendered = { etag, answer: new Answer<ContextAnswer>(json, { type: JSON_TYPE, headers }) };
    // The context of an index is read anew for each call, and what is kept for it goes with it.
    const forms = this.#rendered.get(context) ?? new Map<string, Rendered>();
    this.#rendered.set(context, forms.set(form, rendered));
    return rendered;
  }
}

function answered(call: Pick<Call, "header">, { etag, answer }: Rendered): Answer<ContextAnswer> {
  if (!hasEntity(call, etag)) return answer;
  return new Answer(undefined, { status: 304, headers: answer.headers });
}
