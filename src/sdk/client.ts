/**
 * The client of the service: one method for each call, named as the call is, and two helpers for agents that
 * never throw. Needs nothing but fetch: Node, browsers, Deno, Bun and edge runtimes.
 */

import type { AgentMemory } from "../agent-side/agent-memory.ts";
import { memorySection, type SectionParts, withSection } from "../agent-side/memory-section.ts";
import { mergedContexts, mergedFlushes, userIdsOf } from "../agent-side/scope.ts";
import type {
  BatchAnswer,
  ChannelsAnswer,
  ContextAnswer,
  DecodeAnswer,
  EncodeAnswer,
  FactsAnswer,
  FlushAnswer,
  ForgetAnswer,
  ForgetUserAnswer,
  ModelDecodeAnswer,
  ReadAnswer,
  TokenAnswer,
  UsageAnswer,
} from "../contract/answers.ts";
import type { LabelText } from "../contract/channel-labels.ts";
import { DemoClient } from "./demo.ts";
import { variable } from "./environment.ts";
import { type CallOptions, type Fetch, type SdkCall, Transport } from "./transport.ts";

export interface SidebandOptions {
  /** An API key, `sb_live_…`, or a token, `sbt_…`. Not needed for the demo and for `channels`. Default: SIDEBAND_API_KEY. */
  apiKey?: string | undefined;
  /** The address of the service. It may have a path. Default: SIDEBAND_API_URL, else http://127.0.0.1:8787. */
  baseUrl?: string | undefined;
  /** For a whole call, retries included. Default: 10 seconds. */
  timeoutMs?: number | undefined;
  /** How often a failed call is repeated, if that is safe. Default: 2. */
  retries?: number | undefined;
  /** Replaces the global fetch, for tests or proxies. */
  fetch?: Fetch | undefined;
  /** Called when a helper goes on without memory. Default: writes a line to standard error. */
  onWarning?: ((message: string, error: unknown) => void) | undefined;
}

export interface EncodeOptions extends CallOptions {
  /** A write sent twice with the same key counts once, for 24 hours. Default: a random key. */
  idempotencyKey?: string | undefined;
  sessionId?: string | undefined;
}

export interface InjectOptions extends CallOptions {
  /** The facts in plain text, the sealed block, or both. Default: both. */
  include?: SectionParts | undefined;
  /** The project that the user works in: its facts are added to the user's own (docs/agents/README.md). */
  project?: string | undefined;
}

export interface Compaction {
  /** Whether the flush was answered. */
  flushed: boolean;
  /** Whether the service read every fact back from the fresh block exactly. */
  lossless: boolean;
  /** The fresh block; empty if there are no facts or the flush failed. */
  block: string;
  /** The memory section for the next context, as `inject` would add it. */
  section: string;
  overflow: string[];
  error?: unknown;
}

export const DEFAULT_BASE_URL = "http://127.0.0.1:8787";
const TIMEOUT_MS = 10_000;
/** An agent never waits longer than this for its memory. */
const HELPER_TIMEOUT_MS = 2_000;
const CONTEXTS_MAX = 100;

export class Sideband implements AgentMemory {
  /** The public demo: one state for all, without a key. */
  readonly demo: DemoClient;
  readonly #transport: Transport;
  readonly #onWarning: NonNullable<SidebandOptions["onWarning"]>;
  /** The last context of each user with its ETag; the least recently used leaves first. */
  readonly #contexts = new Map<string, { etag: string; answer: ContextAnswer }>();

  constructor(options: SidebandOptions = {}) {
    this.#transport = new Transport({
      apiKey: options.apiKey ?? variable("SIDEBAND_API_KEY"),
      baseUrl: (options.baseUrl ?? variable("SIDEBAND_API_URL") ?? DEFAULT_BASE_URL).replace(
        /(?<!\/)\/+$/,
        "",
      ),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retries: options.retries ?? 2,
      // Called without an object: browsers refuse fetch with another `this`.
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    });
    this.#onWarning = options.onWarning ?? ((message) => console.error(message));
    this.demo = new DemoClient(this.#transport);
  }

  /** Writes a fact; a fact of the same label is overwritten. */
  encode(
    userId: string,
    label: LabelText,
    value: string,
    options: EncodeOptions = {},
  ): Promise<EncodeAnswer> {
    return this.#write("/encode", { user_id: userId, label, value }, options);
  }

  /** Writes 1 to 40 facts, all or none. */
  encodeBatch(
    userId: string,
    facts: readonly { label: LabelText; value: string }[],
    options: EncodeOptions = {},
  ): Promise<BatchAnswer> {
    return this.#write("/encode/batch", { user_id: userId, facts }, options);
  }

  /** All facts in plain text, and as many as fit as one block. If nothing has changed, the service answers 304. */
  async context(userId: string, options: CallOptions = {}): Promise<ContextAnswer> {
    const known = this.#contexts.get(userId);
    const { status, headers, body } = await this.#transport.send({
      ...options,
      method: "GET",
      path: "/context",
      query: { user_id: userId },
      retry: "always",
      ...(known === undefined ? {} : { headers: { "if-none-match": known.etag } }),
    });
    const etag = headers.get("etag");
    this.#contexts.delete(userId);
    if (status === 304 && known !== undefined) {
      this.#contexts.set(userId, known);
      return structuredClone(known.answer);
    }
    const answer = body as ContextAnswer;
    if (etag !== null) this.#contexts.set(userId, { etag, answer: structuredClone(answer) });
    for (const oldest of this.#contexts.keys()) {
      if (this.#contexts.size <= CONTEXTS_MAX) break;
      this.#contexts.delete(oldest);
    }
    return answer;
  }

  /** One fact, from the state. `fact_not_found` if there is none. */
  decode(userId: string, label: LabelText, options: CallOptions = {}): Promise<DecodeAnswer> {
    return this.#get("/decode", { user_id: userId, label }, options);
  }

  /** One fact, read from the block by the reader and compared with the state. */
  decodeModel(userId: string, label: LabelText, options: CallOptions = {}): Promise<ModelDecodeAnswer> {
    return this.#get("/decode/model", { user_id: userId, label }, options);
  }

  /** Builds a new block, reads it back and compares every fact. Call it before a context is compacted. */
  flush(
    userId: string,
    options: CallOptions & { sessionId?: string | undefined } = {},
  ): Promise<FlushAnswer> {
    const { sessionId, ...rest } = options;
    const body = { user_id: userId, ...(sessionId === undefined ? {} : { session_id: sessionId }) };
    return this.#call({ ...rest, method: "POST", path: "/flush", body, retry: "always" });
  }

  /** All facts with their revisions and times. */
  facts(userId: string, options: CallOptions = {}): Promise<FactsAnswer> {
    return this.#get("/facts", { user_id: userId }, options);
  }

  /** Forgets one fact. `fact_not_found` if there is none. */
  forget(userId: string, label: LabelText, options: CallOptions = {}): Promise<ForgetAnswer> {
    return this.#delete("/facts", { user_id: userId, label }, options);
  }

  /** Forgets all facts of a user. `not_found` if there are none. */
  forgetUser(userId: string, options: CallOptions = {}): Promise<ForgetUserAnswer> {
    return this.#delete("/users", { user_id: userId }, options);
  }

  /** Reads a block, even if it is damaged or inside other text. `block_unreadable` if that fails. */
  read(userId: string, block: string, options: CallOptions = {}): Promise<ReadAnswer> {
    const body = { user_id: userId, block };
    return this.#call({ ...options, method: "POST", path: "/read", body, retry: "always" });
  }

  /** A short-lived token of the key, for a page or a device of this user: 60 seconds to 24 hours. */
  token(
    userId: string,
    options: CallOptions & { access: "read" | "write"; ttlS: number },
  ): Promise<TokenAnswer> {
    const { access, ttlS, ...rest } = options;
    const body = { user_id: userId, access, ttl_s: ttlS };
    return this.#call({ ...rest, method: "POST", path: "/tokens", body, retry: "always" });
  }

  /** What the key has used of its monthly limit. */
  usage(options: CallOptions = {}): Promise<UsageAnswer> {
    return this.#get("/usage", {}, options);
  }

  /** The 40 channels with a description and an example each. */
  channels(options: CallOptions = {}): Promise<ChannelsAnswer> {
    return this.#get("/channels", {}, options);
  }

  /**
   * A system prompt with the user's memory at its end. Never throws: if memory is slow or away, it uses the last
   * known memory, or none, and calls `onWarning`.
   */
  async inject(systemPrompt: string, userId: string, options: InjectOptions = {}): Promise<string> {
    const { include, project, ...call } = options;
    const users = userIdsOf(userId, project);
    const contexts = await Promise.all(
      users.map(async (user) => {
        try {
          return await this.context(user, { timeoutMs: HELPER_TIMEOUT_MS, ...call, coolDown: true });
        } catch (error) {
          this.#warn("memory was not refreshed", error);
          return this.#contexts.get(user)?.answer;
        }
      }),
    );
    return withKnown(contexts, systemPrompt, (known) =>
      withSection(systemPrompt, memorySection(mergedContexts(known, userId), include)),
    );
  }

  /**
   * Call it before a context is compacted: it flushes and returns the section for the next context. Never throws:
   * if memory is slow or away, `flushed` is false and the section is the last known one, or empty.
   */
  async beforeCompaction(userId: string, options: InjectOptions = {}): Promise<Compaction> {
    const { include, project, timeoutMs = HELPER_TIMEOUT_MS, ...rest } = options;
    const call = { ...rest, coolDown: true };
    const untilMs = Date.now() + timeoutMs;
    const users = userIdsOf(userId, project);
    try {
      const flush = mergedFlushes(
        await Promise.all(users.map((user) => this.flush(user, { ...call, timeoutMs }))),
      );
      const leftMs = Math.max(1, untilMs - Date.now());
      const contexts = await Promise.all(
        users.map((user) => this.context(user, { ...call, timeoutMs: leftMs })),
      );
      // The flush's own block: the one that has just been read back.
      const context = { ...mergedContexts(contexts, userId), fdm_block: flush.fdm_block };
      const { lossless, fdm_block: block, overflow } = flush;
      return { flushed: true, lossless, block, section: memorySection(context, include), overflow };
    } catch (error) {
      this.#warn("memory was not flushed before compaction", error);
      const known = users.map((user) => this.#contexts.get(user)?.answer);
      const section = withKnown(known, "", (contexts) =>
        memorySection(mergedContexts(contexts, userId), include),
      );
      return { flushed: false, lossless: false, block: "", section, overflow: [], error };
    }
  }

  #warn(what: string, error: unknown): void {
    this.#onWarning(`sideband: ${what}: ${error instanceof Error ? error.message : String(error)}`, error);
  }

  async #write<T>(path: string, body: object, options: EncodeOptions): Promise<T> {
    const { idempotencyKey = randomKey(), sessionId, ...rest } = options;
    return this.#call({
      ...rest,
      method: "POST",
      path,
      body: { ...body, ...(sessionId === undefined ? {} : { session_id: sessionId }) },
      headers: { "idempotency-key": idempotencyKey },
      retry: "always",
    });
  }

  #get<T>(path: string, query: Record<string, string>, options: CallOptions): Promise<T> {
    return this.#call({ ...options, method: "GET", path, query, retry: "always" });
  }

  /** A repeated delete would answer `not_found`, so it is sent again only if the first did nothing. */
  async #delete<T>(path: string, query: Record<string, string>, options: CallOptions): Promise<T> {
    // Before the answer, which may not come: facts that may be forgotten are not injected again.
    this.#contexts.delete(query.user_id);
    return this.#call({ ...options, method: "DELETE", path, query, retry: "refused" });
  }

  async #call<T>(call: SdkCall): Promise<T> {
    return (await this.#transport.send(call)).body as T;
  }
}

/** What `make` returns for the known contexts; the fallback if none is known. */
function withKnown(
  contexts: readonly (ContextAnswer | undefined)[],
  fallback: string,
  make: (known: ContextAnswer[]) => string,
): string {
  const known = contexts.flatMap((context) => context ?? []);
  return known.length === 0 ? fallback : make(known);
}

/** crypto.randomUUID would be shorter, but browsers have it only on secure pages. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
