/**
 * The block with its ETag, or 304 where the caller has it already. The JSON of a context is made once and kept as long
 * as the context itself: it is asked for far more often than it changes.
 */

import { createHash } from "node:crypto";
import { contextAnswer } from "../../contract/answer-mapping.ts";
import type { ContextAnswer } from "../../contract/answers.ts";
import type { UserContext } from "../../memory/context.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { hasEntity } from "../request/preferences.ts";

interface Rendered {
  readonly etag: string;
  readonly answer: Answer<ContextAnswer>;
}

export class ContextAnswers {
  readonly #rendered = new WeakMap<UserContext, Rendered>();

  answerOf(call: Pick<Call, "header">, context: UserContext): Answer<ContextAnswer> {
    let rendered = this.#rendered.get(context);
    if (rendered === undefined) {
      rendered = render(context);
      this.#rendered.set(context, rendered);
    }
    const { etag, answer } = rendered;
    if (!hasEntity(call, etag)) return answer;
    return new Answer(undefined, { status: 304, headers: answer.headers });
  }
}

function render(context: UserContext): Rendered {
  const json = JSON.stringify(contextAnswer(context));
  const etag = `"${createHash("sha256").update(json).digest("base64url").slice(0, 27)}"`;
  const headers = ["etag", etag, "cache-control", "private, no-cache"];
  return { etag, answer: new Answer(json, { type: JSON_TYPE, headers }) };
}
