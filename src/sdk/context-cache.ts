/** The last contexts, each with its ETag; the least recently used leaves first. */

import type { DetailedContextAnswer } from "../contract/answers.ts";

interface KnownContext {
  readonly userId: string;
  readonly etag: string;
  readonly answer: DetailedContextAnswer;
}

const CONTEXTS_MAX = 100;

export class ContextCache {
  readonly #contexts = new Map<string, KnownContext>();

  get(form: string): KnownContext | undefined {
    return this.#contexts.get(form);
  }

  set(form: string, context: KnownContext): void {
    this.#contexts.delete(form);
    this.#contexts.set(form, context);
    for (const oldest of this.#contexts.keys()) {
      if (this.#contexts.size <= CONTEXTS_MAX) break;
      this.#contexts.delete(oldest);
    }
  }

  delete(form: string): void {
    this.#contexts.delete(form);
  }

  /** Every context of a user, in all projects and forms. */
  drop(userId: string): void {
    for (const [form, context] of this.#contexts) if (context.userId === userId) this.#contexts.delete(form);
  }
}
