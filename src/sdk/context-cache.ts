/**
 * The last contexts, each with its ETag; the least recently used leaves first. While the service is away, one is good for
 * a limited time only, and it goes where the service says that there is nothing, or refuses to say.
 */

import type { DetailedContextAnswer } from "../contract/answers.ts";
import { isOutage, isSidebandError } from "./errors.ts";
import type { SdkAnswer } from "./transport.ts";

interface KnownContext {
  readonly userId: string;
  readonly etag: string;
  readonly answer: DetailedContextAnswer;
  /** When the service last said that it is the present one. */
  readonly atMs: number;
}

const CONTEXTS_MAX = 100;

export class ContextCache {
  readonly #contexts = new Map<string, KnownContext>();
  /** The questions under way whose answers may still be kept. */
  readonly #asking = new Set<{ readonly userId: string }>();

  /** The last answer, if it is not too old to be used in place of a new one. */
  get(form: string, ageMsMax: number): KnownContext | undefined {
    const known = this.#contexts.get(form);
    if (known === undefined || Date.now() - known.atMs <= ageMsMax) return known;
    this.#contexts.delete(form);
    return undefined;
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
        keep({ ...known, atMs: Date.now() });
        return structuredClone(known.answer);
      }
      const etag = headers.get("etag");
      const answer = body as DetailedContextAnswer;
      // The user may have been erased: what is known of other places is not shown again.
      if (answer.channel_count === 0) this.#forget(userId);
      if (etag === null) this.#contexts.delete(form);
      else keep({ userId, etag, answer: structuredClone(answer), atMs: Date.now() });
      return answer;
    } catch (error) {
      if (isSidebandError(error) && !isOutage(error)) this.#forget(userId);
      throw error;
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

  #forget(userId: string): void {
    for (const [form, context] of this.#contexts) if (context.userId === userId) this.#contexts.delete(form);
  }

  #drop(userId: string): void {
    this.#forget(userId);
    for (const asking of this.#asking) if (asking.userId === userId) this.#asking.delete(asking);
  }
}
