/**
 * The block with its ETag, or 304 where the caller has it already. The JSON of a context is made once and kept as long
 * as the context itself: it is asked for far more often than it changes.
 */

import { createHash } from "node:crypto";
import { contextAnswer, detailedContextAnswer } from "../../contract/answer-mapping.ts";
import type { ContextAnswer } from "../../contract/answers.ts";
import type { Include, UserContext } from "../../memory/context.ts";
import { countTokens } from "../../memory/token-count.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { hasEntity } from "../request/preferences.ts";

/** What of a context is asked for. */
interface Wanted {
  readonly include: Include;
  readonly project: string | undefined;
  readonly details: boolean;
}

const EVERYTHING: Wanted = { include: "both", project: undefined, details: false };

interface Rendered {
  readonly etag: string;
  readonly answer: Answer<ContextAnswer>;
}

export class ContextAnswers {
  readonly #rendered = new WeakMap<UserContext, Map<string, Rendered>>();

  answerOf(call: Pick<Call, "header">, context: UserContext, wanted = EVERYTHING): Answer<ContextAnswer> {
    const { etag, answer } = this.#renderedOf(context, wanted);
    if (!hasEntity(call, etag)) return answer;
    return new Answer(undefined, { status: 304, headers: answer.headers });
  }

  #renderedOf(context: UserContext, wanted: Wanted): Rendered {
    // An index alone is read anew for each call: there is nothing to keep.
    if (wanted.include === "index") return render(context, wanted);
    let forms = this.#rendered.get(context);
    if (forms === undefined) {
      forms = new Map();
      this.#rendered.set(context, forms);
    }
    // A context belongs to one place: the project need not be told apart.
    const form = wanted.details ? `${wanted.include} details` : wanted.include;
    let rendered = forms.get(form);
    if (rendered === undefined) {
      rendered = render(context, wanted);
      forms.set(form, rendered);
    }
    return rendered;
  }
}

function render(context: UserContext, { include, project, details }: Wanted): Rendered {
  const answer = details
    ? detailedContextAnswer(context, include, project, countTokens)
    : contextAnswer(context, include);
  const json = JSON.stringify(answer);
  const etag = `"${createHash("sha256").update(json).digest("base64url").slice(0, 27)}"`;
  const headers = ["etag", etag, "cache-control", "private, no-cache"];
  return { etag, answer: new Answer(json, { type: JSON_TYPE, headers }) };
}
