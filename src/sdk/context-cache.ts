/** The last contexts, each with its ETag; the least recently used leaves first. */

import type { DetailedContextAnswer } from "../contract/answers.ts";
import type { SdkAnswer } from "./transport.ts";

interface KnownContext {
  readonly userId: string;
  readonly etag: string;
  readonly answer: DetailedContextAnswer;
}

const CONTEXTS_MAX = 100;

export class ContextCache {
  readonly #contexts = new Map<string, KnownContext>();
  /** The questions under way whose answers may still be kept. */
  readonly #asking = new Set<{ readonly userId: string }>();

  get(form: string): KnownContext | undefined {
    return this.#contexts.get(form);
  }

  /**
   * Asks for a context and keeps the answer, unless the user's contexts were dropped meanwhile: it may be out of date.
   * @param ask sends the question with the ETag of the known answer
   */
  async ask(
    form: string,
    userId: string,
    ask: (etag: string | undefined) => Promise<SdkAnswer>,
  ): Promise<DetailedContextAnswer> {
    const known = this.#contexts.get(form);
    const asking = { userId };
    this.#asking.add(asking);
    try {
      const { status, headers, body } = await ask(known?.etag);
      const keep = (context: KnownContext) => {
        if (this.#asking.has(asking)) this.#set(form, context);
      };
      if (status === 304 && known !== undefined) {
        keep(known);
        return structuredClone(known.answer);
      }
      const etag = headers.get("etag");
      const answer = body as DetailedContextAnswer;
      if (etag === null) this.#contexts.delete(form);
      else keep({ userId, etag, answer: structuredClone(answer) });
      return answer;
    } finally {
      this.#asking.delete(asking);
    }
  }

  /**
   * Drops every context of a user, in all projects and forms, before a call and after it: the call may fail
   * after it has taken effect, and a context that was asked for meanwhile may be out of date.
   */
  async dropAround<T>(userId: string, call: () => Promise<T>): Promise<T> {
    this.#drop(userId);
    try {
      return await call();
    } finally {
      this.#drop(userId);
    }
  }

  #set(form: string, context: KnownContext): void {
    this.#contexts.delete(form);
    this.#contexts.set(form, context);
    for (const oldest of this.#contexts.keys()) {
      if (this.#contexts.size <= CONTEXTS_MAX) break;
      this.#contexts.delete(oldest);
    }
  }

  #drop(userId: string): void {
    for (const [form, context] of this.#contexts) if (context.userId === userId) this.#contexts.delete(form);
    for (const asking of this.#asking) if (asking.userId === userId) this.#asking.delete(asking);
  }
}
