/**
 * The client of the service: one method for each call, named as the call is, and two helpers for agents that
 * never throw. Needs nothing but fetch: Node, browsers, Deno, Bun and edge runtimes.
 */

import type { AgentMemory, LabelTerms, WrittenAnswer } from "../agent-side/agent-memory.ts";
import { memorySection, withSection } from "../agent-side/memory-section.ts";
import type {
  BatchAnswer,
  ChangesAnswer,
  ChannelsAnswer,
  ContextAnswer,
  DecodeAnswer,
  FactDetails,
  FactsAnswer,
  FlushAnswer,
  ForgetAnswer,
  ForgetUserAnswer,
  HistoryAnswer,
  LabelAnswer,
  ModelDecodeAnswer,
  ReadAnswer,
  RollbackAnswer,
  UsageAnswer,
  UsersAnswer,
  WriteDetails,
} from "../contract/answers.ts";
import type { LabelText } from "../contract/channel-labels.ts";
import type {
  ContextOptions,
  EncodeOptions,
  FactTerms,
  ForgetOptions,
  InjectOptions,
  PageOptions,
  PlaceOptions,
  RollbackOptions,
  WriterOptions,
} from "./call-options.ts";
import { DemoClient } from "./demo.ts";
import { variable } from "./environment.ts";
import { type CallOptions, type Fetch, type SdkCall, Transport } from "./transport.ts";

export interface SidebandOptions {
  /** An API key, `sb_live_…`. Not needed for the demo and for `channels`. Default: SIDEBAND_API_KEY. */
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
  /** The last contexts with their ETags; the least recently used leaves first. */
  readonly #contexts = new Map<string, KnownContext>();

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

  /** Writes a fact; a fact of the same label is replaced, and can be restored. */
  encode(
    userId: string,
    label: LabelText,
    value: string,
    options: EncodeOptions = {},
  ): Promise<WrittenAnswer> {
    return this.#write("/encode", { user_id: userId, label, value, ...termsOf(options) }, options);
  }

  /** Writes 1 to 40 facts, all or none. */
  encodeBatch(
    userId: string,
    facts: readonly ({ label: LabelText; value: string; ifRevision?: number | undefined } & FactTerms)[],
    options: Omit<WriterOptions, "ifRevision"> = {},
  ): Promise<BatchAnswer> {
    const sent = facts.map(({ label, value, ifRevision, ...terms }) => ({
      label,
      value,
      ...termsOf(terms),
      if_revision: ifRevision,
    }));
    return this.#write("/encode/batch", { user_id: userId, facts: sent }, options);
  }

  /** Adds an item to a fact that is a list (items joined by "; "). An item that is there already is not added again. */
  append(
    userId: string,
    label: LabelText,
    item: string,
    options: EncodeOptions = {},
  ): Promise<WrittenAnswer> {
    return this.#write("/facts/append", { user_id: userId, label, item, ...termsOf(options) }, options);
  }

  /** Removes an item from a list. With the last one the fact is forgotten, and the answer's value is empty. */
  remove(
    userId: string,
    label: LabelText,
    item: string,
    options: WriterOptions & Pick<FactTerms, "scope"> = {},
  ): Promise<Omit<WrittenAnswer, keyof WriteDetails> & Partial<WriteDetails>> {
    const { scope } = options;
    return this.#write("/facts/remove", { user_id: userId, label, item, scope }, options);
  }

  /** All facts in plain text, and as many as fit as one block. If nothing has changed, the service answers 304. */
  async context(userId: string, options: ContextOptions = {}): Promise<ContextAnswer> {
    const { project, include, ...call } = options;
    const name = contextName(userId, options);
    const known = this.#contexts.get(name);
    const { status, headers, body } = await this.#transport.send({
      ...call,
      method: "GET",
      path: "/context",
      query: { user_id: userId, project, include },
      retry: "always",
      ...(known === undefined ? {} : { headers: { "if-none-match": known.etag } }),
    });
    const etag = headers.get("etag");
    this.#contexts.delete(name);
    if (status === 304 && known !== undefined) {
      this.#contexts.set(name, known);
      return structuredClone(known.answer);
    }
    const answer = body as ContextAnswer;
    if (etag !== null) this.#contexts.set(name, { userId, etag, answer: structuredClone(answer) });
    for (const oldest of this.#contexts.keys()) {
      if (this.#contexts.size <= CONTEXTS_MAX) break;
      this.#contexts.delete(oldest);
    }
    return answer;
  }

  /** One fact, from the state. `fact_not_found` if there is none. */
  decode(userId: string, label: LabelText, options: PlaceOptions = {}): Promise<DecodeAnswer & FactDetails> {
    const { project, ...call } = options;
    return this.#get("/decode", { user_id: userId, label, project, details: "true" }, call);
  }

  /** One fact, read from the block by the reader and compared with the state. */
  decodeModel(userId: string, label: LabelText, options: PlaceOptions = {}): Promise<ModelDecodeAnswer> {
    const { project, ...call } = options;
    return this.#get("/decode/model", { user_id: userId, label, project }, call);
  }

  /** Builds a new block, reads it back and compares every fact. Call it before a context is compacted. */
  flush(
    userId: string,
    options: PlaceOptions & { sessionId?: string | undefined } = {},
  ): Promise<FlushAnswer> {
    const { sessionId, project, ...rest } = options;
    const body = { user_id: userId, project, session_id: sessionId };
    return this.#call({ ...rest, method: "POST", path: "/flush", body, retry: "always" });
  }

  /** All facts with their revisions and times. */
  facts(userId: string, options: PlaceOptions = {}): Promise<FactsAnswer> {
    const { project, ...call } = options;
    return this.#get("/facts", { user_id: userId, project }, call);
  }

  /** Forgets one fact. `fact_not_found` if there is none. */
  forget(userId: string, label: LabelText, options: ForgetOptions = {}): Promise<ForgetAnswer> {
    const { project, scope, keepHistory, ifRevision, ...call } = options;
    const query = { user_id: userId, label, project, scope, keep_history: keepHistory ? "true" : undefined };
    return this.#delete("/facts", query, call, revisionHeaders(ifRevision));
  }

  /** Forgets a user with everything in all projects; with `project`, that place alone. `not_found` if there is nothing. */
  forgetUser(userId: string, options: PlaceOptions = {}): Promise<ForgetUserAnswer> {
    const { project, ...call } = options;
    return this.#delete("/users", { user_id: userId, project }, call);
  }

  /** Reads a block, even if it is damaged or inside other text. `block_unreadable` if that fails. */
  read(userId: string, block: string, options: PlaceOptions = {}): Promise<ReadAnswer> {
    const { project, ...call } = options;
    const body = { user_id: userId, block, project };
    return this.#call({ ...call, method: "POST", path: "/read", body, retry: "always" });
  }

  /** The values that a fact has and had, the newest first. */
  history(userId: string, label: LabelText, options: PlaceOptions = {}): Promise<HistoryAnswer> {
    const { project, ...call } = options;
    return this.#get("/facts/history", { user_id: userId, label, project }, call);
  }

  /** Writes the value that a revision had again. */
  restore(
    userId: string,
    label: LabelText,
    revision: number,
    options: WriterOptions = {},
  ): Promise<WrittenAnswer> {
    return this.#write("/facts/restore", { user_id: userId, label, revision }, options);
  }

  /** What changed for a user, the newest first. */
  changes(
    userId: string,
    options: PlaceOptions & PageOptions & { since?: string | undefined } = {},
  ): Promise<ChangesAnswer> {
    const { project, since, limit, cursor, ...call } = options;
    const query = { user_id: userId, project, since, limit: limit?.toString(), cursor };
    return this.#get("/users/history", query, call);
  }

  /** Puts a user back to a moment (RFC 3339 with a zone), all or none. */
  rollback(userId: string, to: string, options: RollbackOptions = {}): Promise<RollbackAnswer> {
    const { project, dryRun, partial, writtenBy, ...call } = options;
    const body = { user_id: userId, to, project, dry_run: dryRun, partial, written_by: writtenBy };
    // A second time it finds nothing to change.
    return this.#call({ ...call, method: "POST", path: "/users/rollback", body, retry: "always" });
  }

  /** The users of the account. */
  users(options: PageOptions & { prefix?: string | undefined } = {}): Promise<UsersAnswer> {
    const { prefix, limit, cursor, ...call } = options;
    return this.#get("/users", { prefix, limit: limit?.toString(), cursor }, call);
  }

  /** What the key has used of its monthly limit. */
  usage(options: CallOptions = {}): Promise<UsageAnswer> {
    return this.#get("/usage", {}, options);
  }

  /** The labels of the account with a description and an example each; without a key, the 40 that every account has. */
  channels(options: CallOptions = {}): Promise<ChannelsAnswer> {
    return this.#get("/channels", {}, options);
  }

  /** Adds a label of the account's own. One that is there with the same terms is answered as it is. */
  addLabel(label: string, terms: LabelTerms, options: CallOptions = {}): Promise<LabelAnswer> {
    const body = { label, ...labelFields(terms), scope: terms.scope };
    return this.#call({ ...options, method: "POST", path: "/channels", body, retry: "always" });
  }

  /** Changes a label, for later writes; of a standard one only whether it is hidden. */
  changeLabel(
    label: LabelText,
    change: Partial<Omit<LabelTerms, "scope">>,
    options: CallOptions = {},
  ): Promise<LabelAnswer> {
    const path = `/channels/${encodeURIComponent(label)}`;
    return this.#call({ ...options, method: "PATCH", path, body: labelFields(change), retry: "always" });
  }

  /**
   * A system prompt with the user's memory at its end. Never throws: if memory is slow or away, it uses the last
   * known memory, or none, and calls `onWarning`.
   */
  async inject(systemPrompt: string, userId: string, options: InjectOptions = {}): Promise<string> {
    const known = await this.#knownContext(userId, options);
    return known === undefined
      ? systemPrompt
      : withSection(systemPrompt, memorySection(known, options.include));
  }

  /** The context, or the last known one if memory is slow or away. */
  async #knownContext(userId: string, options: InjectOptions): Promise<ContextAnswer | undefined> {
    try {
      return await this.context(userId, { timeoutMs: HELPER_TIMEOUT_MS, ...options, coolDown: true });
    } catch (error) {
      this.#warn("memory was not refreshed", error);
      return this.#contexts.get(contextName(userId, options))?.answer;
    }
  }

  /**
   * Call it before a context is compacted: it flushes and returns the section for the next context. Never throws:
   * if memory is slow or away, `flushed` is false and the section is the last known one, or empty.
   */
  async beforeCompaction(userId: string, options: InjectOptions = {}): Promise<Compaction> {
    const { include, timeoutMs = HELPER_TIMEOUT_MS, ...rest } = options;
    const call = { ...rest, coolDown: true };
    const untilMs = Date.now() + timeoutMs;
    try {
      const flush = await this.flush(userId, { ...call, timeoutMs });
      const leftMs = Math.max(1, untilMs - Date.now());
      const context = await this.context(userId, { ...call, include, timeoutMs: leftMs });
      const { lossless, fdm_block: block, overflow } = flush;
      // The flush's own block: the one that has just been read back.
      const section = memorySection({ ...context, fdm_block: block }, include);
      return { flushed: true, lossless, block, section, overflow };
    } catch (error) {
      this.#warn("memory was not flushed before compaction", error);
      const known = this.#contexts.get(contextName(userId, options))?.answer;
      const section = known === undefined ? "" : memorySection(known, include);
      return { flushed: false, lossless: false, block: "", section, overflow: [], error };
    }
  }

  #warn(what: string, error: unknown): void {
    this.#onWarning(`sideband: ${what}: ${error instanceof Error ? error.message : String(error)}`, error);
  }

  async #write<T>(path: string, body: object, options: WriterOptions): Promise<T> {
    const { idempotencyKey = randomKey(), project, writtenBy, sessionId, ifRevision } = options;
    const { timeoutMs, signal, retries, coolDown } = options;
    return this.#call({
      timeoutMs,
      signal,
      retries,
      coolDown,
      method: "POST",
      path,
      body: { ...body, project, written_by: writtenBy, session_id: sessionId, details: true },
      headers: { "idempotency-key": idempotencyKey, ...revisionHeaders(ifRevision) },
      retry: "always",
    });
  }

  #get<T>(path: string, query: SdkCall["query"], options: CallOptions): Promise<T> {
    return this.#call({ ...options, method: "GET", path, query, retry: "always" });
  }

  /** A repeated delete would answer `not_found`, so it is sent again only if the first did nothing. */
  async #delete<T>(
    path: string,
    query: { user_id: string } & SdkCall["query"],
    options: CallOptions,
    headers: Record<string, string> = {},
  ): Promise<T> {
    // Before the answer, which may not come: facts that may be forgotten are not injected again.
    for (const [name, { userId }] of this.#contexts)
      if (userId === query.user_id) this.#contexts.delete(name);
    return this.#call({ ...options, method: "DELETE", path, query, headers, retry: "refused" });
  }

  async #call<T>(call: SdkCall): Promise<T> {
    return (await this.#transport.send(call)).body as T;
  }
}

interface KnownContext {
  readonly userId: string;
  readonly etag: string;
  readonly answer: ContextAnswer;
}

function contextName(userId: string, { project, include }: ContextOptions): string {
  return JSON.stringify([userId, project, include]);
}

function termsOf({ scope, ttlS, expiresAt }: FactTerms) {
  return { scope, ttl_s: ttlS, expires_at: expiresAt };
}

function labelFields({ description, example, oneOf, maxBytes, ttlS, hidden }: Partial<LabelTerms>) {
  return { description, example, one_of: oneOf, max_bytes: maxBytes, ttl_s: ttlS, hidden };
}

function revisionHeaders(ifRevision: number | undefined): Record<string, string> {
  if (ifRevision === undefined) return {};
  return ifRevision === 0 ? { "if-none-match": "*" } : { "if-match": `"${ifRevision}"` };
}

/** crypto.randomUUID would be shorter, but browsers have it only on secure pages. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
