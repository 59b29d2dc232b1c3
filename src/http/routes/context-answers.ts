/**
 * The block with its ETag, or 304 where the caller has it already. The JSON of a context is made once and kept as long
 * as the context itself: it is asked for far more often than it changes.
 */

import { createHash } from "node:crypto";
import type { ContextAnswer } from "../../contract/answers.ts";
import type { Include, UserContext } from "../../memory/context.ts";
import type { TokenCounts } from "../../memory/token-count.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { hasEntity } from "../request/preferences.ts";
import { contextAnswer, detailedContextAnswer } from "./answer-mapping.ts";

interface Rendered {
  readonly etag: string;
  readonly answer: Answer<ContextAnswer>;
}

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
    { account, include, project }: { account: string; include: Include; project: string | undefined },
  ): Promise<Answer<ContextAnswer>> {
    // A context belongs to one place: the project need not be told apart.
    const form = `${include} details`;
    const known = this.#known(context, form);
    if (known !== undefined) return answered(call, known);
    const { plain_index, fdm_block } = contextAnswer(context, include);
    const [index, block] = await Promise.all(
      [plain_index, fdm_block].map((text) => this.#counts.of(account, text)),
    );
    const answer = detailedContextAnswer(context, include, project, { index, block });
    return answered(call, this.#render(context, form, answer));
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
