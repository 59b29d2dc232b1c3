/** The calls of the service: one method for each, named as the call is. The client adds the helpers for agents (sideband.ts). */

import type {
  ChangesAnswer,
  DetailedContextAnswer,
  DetailedDecodeAnswer,
  DetailedModelDecodeAnswer,
  EncodeAnswer,
  FactsAnswer,
  FindAnswer,
  FlushAnswer,
  ForgetAnswer,
  HistoryAnswer,
  MoveProjectAnswer,
  ReadAnswer,
  ReceiptedErasureAnswer,
  RollbackAnswer,
  TokenAnswer,
  UsersAnswer,
  WrittenAnswer,
  WrittenBatchAnswer,
} from "../contract/answers.ts";
import { AccountCalls } from "./account-calls.ts";
import { checkedUser, expectedHeaders, factFields, isoMoment, randomKey } from "./checked-options.ts";
import { ContextCache } from "./context-cache.ts";
import { isSidebandError } from "./errors.ts";
import { followEvents } from "./events.ts";
import {
  BATCH_FACT,
  CALL,
  CHANGES,
  CONTEXT,
  checkOptions,
  ENCODE,
  EVENTS,
  FACTS,
  FIND,
  FLUSH,
  FORGET,
  FORGET_USER,
  HISTORY,
  PERSON,
  REMOVE,
  RENAME,
  RESTORE,
  ROLLBACK,
  TOKEN,
  USERS,
  WRITER,
} from "./option-kinds.ts";
import type {
  ChangesOptions,
  ContextOptions,
  EncodeOptions,
  EventsOptions,
  ExpectedFact,
  FactsOptions,
  FactToEncode,
  FindOptions,
  FlushOptions,
  ForgetOptions,
  ForgetUserOptions,
  HistoryOptions,
  LabelOf,
  Moment,
  NewLabelOf,
  PersonOptions,
  RemoveOptions,
  RenameOptions,
  RestoreOptions,
  RollbackOptions,
  SidebandOptions,
  TokenOptions,
  UserEvent,
  UsersOptions,
  WriterOptions,
} from "./options.ts";
import type { CallOptions, SdkCall } from "./transport.ts";

/** @typeParam Own the account's own labels */
export class ServiceCalls<Own extends string = never> extends AccountCalls<Own> {
  readonly #project: string | undefined;
  readonly #contexts = new ContextCache();

  constructor(options: SidebandOptions = {}) {
    super(options);
    this.#project = options.project;
  }

  /** Writes a fact; a fact of the same label is overwritten, and kept in the history. */
  async encode(
    userId: string,
    label: LabelOf<Own>,
    value: string,
    options: EncodeOptions = {},
  ): Promise<WrittenAnswer> {
    checkOptions(options, ENCODE);
    return this.#write("/encode", userId, options, () => ({ label, value, ...factFields(options) }));
  }

  /** Writes 1 to 40 facts, all or none. */
  async encodeBatch(
    userId: string,
    facts: readonly FactToEncode<Own>[],
    options: WriterOptions = {},
  ): Promise<WrittenBatchAnswer> {
    checkOptions(options, WRITER);
    if (!Array.isArray(facts)) throw new TypeError(`facts is a list, not a ${typeof facts}`);
    return this.#write("/encode/batch", userId, options, () => ({
      facts: facts.map((fact) => {
        checkOptions(fact, BATCH_FACT);
        const { label, value, ifRevision: if_revision } = fact;
        return { label, value, ...factFields(fact), if_revision };
      }),
    }));
  }

  /** Adds an item to a fact that is a list, `a; b`. `invalid_value` with `items` if the list has no room. */
  async append(
    userId: string,
    label: LabelOf<Own>,
    item: string,
    options: EncodeOptions = {},
  ): Promise<WrittenAnswer> {
    checkOptions(options, ENCODE);
    return this.#write("/facts/append", userId, options, () => ({ label, item, ...factFields(options) }));
  }

  /** Removes an item from a list. The last one takes the fact along: the value is empty then, and has no revision. */
  async remove(
    userId: string,
    label: LabelOf<Own>,
    item: string,
    options: RemoveOptions = {},
  ): Promise<EncodeAnswer> {
    checkOptions(options, REMOVE);
    const fields = () => ({ label, item, scope: options.scope });
    return this.#contexts.dropAround(userId, () => this.#write("/facts/remove", userId, options, fields));
  }

  /** All facts in plain text, and as many as fit as one block. If nothing has changed, the service answers 304. */
  async context(userId: string, options: ContextOptions = {}): Promise<DetailedContextAnswer> {
    checkOptions(options, CONTEXT);
    const query = this.#contextQuery(userId, options);
    return this.#contexts.ask(JSON.stringify(query), userId, (etag) =>
      this.transport.send({
        ...options,
        method: "GET",
        path: "/context",
        query,
        retry: "always",
        isRead: true,
        ...(etag === undefined ? {} : { headers: { "if-none-match": etag } }),
      }),
    );
  }

  /** One fact, from the state. `fact_not_found` if there is none. */
  async decode(
    userId: string,
    label: LabelOf<Own>,
    options: PersonOptions = {},
  ): Promise<DetailedDecodeAnswer> {
    checkOptions(options, PERSON);
    return this.get("/decode", { ...this.#person(userId, options), label, details: "true" }, options);
  }

  /** One fact, read from the block by the reader and compared with the state. */
  async decodeModel(
    userId: string,
    label: LabelOf<Own>,
    options: PersonOptions = {},
  ): Promise<DetailedModelDecodeAnswer> {
    checkOptions(options, PERSON);
    return this.get("/decode/model", { ...this.#person(userId, options), label, details: "true" }, options);
  }

  /** Builds a new block, reads it back and compares every fact. Call it before a context is compacted. */
  async flush(userId: string, options: FlushOptions = {}): Promise<FlushAnswer> {
    checkOptions(options, FLUSH);
    const body = { ...this.#person(userId, options), session_id: options.sessionId };
    return this.call({ ...options, method: "POST", path: "/flush", body, retry: "always", isRead: true });
  }

  /** All facts with their revisions and times. */
  async facts(userId: string, options: FactsOptions = {}): Promise<FactsAnswer> {
    checkOptions(options, FACTS);
    const query = { ...this.#person(userId, options), details: "true", groups: options.groups };
    return this.get("/facts", query, options);
  }

  /** Facts by words of their labels, descriptions and values, the best first. Case, accents and a slip do not matter. */
  async find(userId: string, query: string, options: FindOptions = {}): Promise<FindAnswer> {
    checkOptions(options, FIND);
    const { limit, everywhere, groups } = options;
    const asked = { q: query, limit, everywhere: everywhere ? "true" : undefined, groups };
    const found = this.get<FindAnswer>(
      "/facts/find",
      { ...this.#person(userId, options), ...asked },
      options,
    );
    // The program knows it as the query.
    return found.catch((error) => {
      if (!(error instanceof Error && error.message.startsWith("q "))) throw error;
      const message = error.message.replace("q", "query");
      throw Object.assign(error, { message }, isSidebandError(error) ? { param: "query" } : {});
    });
  }

  /** Forgets one fact, with its history unless `keepHistory` is set. `fact_not_found` if there is none. */
  async forget(userId: string, label: LabelOf<Own>, options: ForgetOptions = {}): Promise<ForgetAnswer> {
    checkOptions(options, FORGET);
    const { scope, keepHistory } = options;
    const query = { label, scope, keep_history: keepHistory ? "true" : undefined };
    return this.#delete("/facts", userId, query, options);
  }

  /**
   * Forgets all facts of a user, in a project or everywhere, with a signed receipt. `not_found` if there are none. A client
   * with a project must be told which.
   */
  async forgetUser(userId: string, options: ForgetUserOptions = {}): Promise<ReceiptedErasureAnswer> {
    checkOptions(options, FORGET_USER);
    const { project, everywhere = false } = options;
    // The client's project would erase less than was meant, or everywhere more: neither can be undone.
    if (everywhere ? project !== undefined : project === undefined && this.#project !== undefined)
      throw new TypeError(
        "forgetUser takes project or everywhere, not both, and one of them where the client has a project",
      );
    return this.#delete("/users", userId, { project, details: "true" }, options);
  }

  /** A fact's present and earlier values, the newest first. */
  async history(userId: string, label: LabelOf<Own>, options: HistoryOptions = {}): Promise<HistoryAnswer> {
    checkOptions(options, HISTORY);
    const { scope } = options;
    return this.get("/facts/history", { ...this.#person(userId, options), label, scope }, options);
  }

  /** Writes the value of an earlier revision again. `not_found` if the history does not have it. */
  async restore(
    userId: string,
    label: LabelOf<Own>,
    revision: number,
    options: RestoreOptions = {},
  ): Promise<WrittenAnswer> {
    checkOptions(options, RESTORE);
    return this.#write("/facts/restore", userId, options, () => ({ label, revision, scope: options.scope }));
  }

  /**
   * Moves a fact to another label, with its history. A label that is not there is made. `fact_exists` if the other has a
   * fact.
   */
  async rename(
    userId: string,
    label: LabelOf<Own>,
    to: NewLabelOf<Own> | LabelOf<Own>,
    options: RenameOptions = {},
  ): Promise<WrittenAnswer> {
    checkOptions(options, RENAME);
    const fields = () => ({ label, to, merge: options.merge });
    return this.#contexts.dropAround(userId, () => this.#write("/facts/rename", userId, options, fields));
  }

  /** What changed for a user, the newest first. */
  async changes(userId: string, options: ChangesOptions = {}): Promise<ChangesAnswer> {
    checkOptions(options, CHANGES);
    const { limit, cursor } = options;
    const query = { ...this.#person(userId, options), since: isoMoment(options.since), limit, cursor };
    return this.get("/users/history", query, options);
  }

  /** Puts a user's facts back to a moment, all or none. With `dryRun` it only lists what would change. */
  async rollback(userId: string, to: Moment, options: RollbackOptions = {}): Promise<RollbackAnswer> {
    checkOptions(options, ROLLBACK);
    const { dryRun, partial, scope } = options;
    const unchanged_since = isoMoment(options.unchangedSince);
    const terms = { to: isoMoment(to), dry_run: dryRun, partial, scope, unchanged_since };
    const body = { ...this.#writer(userId, options), ...terms };
    // A late second arrival would take back what was written since.
    const retry = dryRun ? "always" : "refused";
    const send = () =>
      this.call<RollbackAnswer>({ ...options, method: "POST", path: "/users/rollback", body, retry });
    return dryRun ? send() : this.#contexts.dropAround(userId, send);
  }

  /** Moves what a user has in a project, and in its worktrees, to another one, with its history. */
  async moveProject(
    userId: string,
    from: string,
    to: string,
    options: CallOptions = {},
  ): Promise<MoveProjectAnswer> {
    checkOptions(options, CALL);
    const body = { user_id: userId, from, to };
    return this.#contexts.dropAround(userId, () =>
      this.call({ ...options, method: "POST", path: "/users/move", body, retry: "always" }),
    );
  }

  /** The users of the account, page by page. */
  async users(options: UsersOptions = {}): Promise<UsersAnswer> {
    checkOptions(options, USERS);
    const { prefix, limit, cursor } = options;
    return this.get("/users", { prefix, limit, cursor }, options);
  }

  /** Everything that is kept of a user, as lines of JSON, which `sideband import` reads. The time-out is for its beginning. */
  async *exportUser(userId: string, options: CallOptions = {}): AsyncGenerator<string> {
    checkOptions(options, CALL);
    const query = { user_id: checkedUser(userId) };
    const path = "/users/export";
    yield* await this.#lines({ ...options, method: "GET", path, query, stream: "application/x-ndjson" });
  }

  /**
   * What happens to a user, or to all users of the account, from now on or after `lastEventId`, never with a value. A lost
   * connection is opened again, and goes on where it was. A `reset` says that something may be missing. It ends by a
   * `break`, by `signal`, and when the service refuses.
   */
  events(userId?: string, options: EventsOptions = {}): AsyncGenerator<UserEvent> {
    checkOptions(options, EVENTS);
    const { project, groups } = options;
    const query = { user_id: userId === undefined ? userId : checkedUser(userId), project, groups };
    const call = { ...options, method: "GET", path: "/users/events", query, retries: 0 } as const;
    const open = (headers: Record<string, string>) =>
      this.#lines({ ...call, headers, stream: "text/event-stream" });
    return followEvents(open, options);
  }

  /** Reads a block, even if it is damaged or inside other text. `block_unreadable` if that fails. */
  async read(userId: string, block: string, options: PersonOptions = {}): Promise<ReadAnswer> {
    checkOptions(options, PERSON);
    const body = { ...this.#person(userId, options), block };
    return this.call({ ...options, method: "POST", path: "/read", body, retry: "always", isRead: true });
  }

  /** A short-lived token for one user, for a page or a device. */
  async token(userId: string, options: TokenOptions): Promise<TokenAnswer> {
    checkOptions(options, TOKEN);
    const { access, ttlS, groups, write } = options;
    const body = { user_id: checkedUser(userId), access, ttl_s: ttlS, groups, write };
    return this.call({ ...options, method: "POST", path: "/tokens", body, retry: "always" });
  }

  #person(userId: string, { project = this.#project }: PersonOptions) {
    return { user_id: checkedUser(userId), project };
  }

  #writer(userId: string, options: Omit<WriterOptions, "idempotencyKey">) {
    const { writtenBy = this.writtenBy, sessionId } = options;
    return { ...this.#person(userId, options), written_by: writtenBy, session_id: sessionId };
  }

  #contextQuery(userId: string, options: ContextOptions) {
    const { include, maxTokens, groups } = options;
    return { ...this.#person(userId, options), include, details: "true", max_tokens: maxTokens, groups };
  }

  /** The last context that was answered in this form, unless it is too old. */
  protected knownContext(
    userId: string,
    options: ContextOptions,
    ageMsMax: number,
  ): { answer: DetailedContextAnswer; atMs: number } | undefined {
    return this.#contexts.get(JSON.stringify(this.#contextQuery(userId, options)), ageMsMax);
  }

  /** @param fields what is written; made here, so that a wrong one rejects and does not throw */
  async #write<T>(
    path: string,
    userId: string,
    options: WriterOptions & ExpectedFact,
    fields: () => object,
  ): Promise<T> {
    const { idempotencyKey = randomKey() } = options;
    return this.call({
      ...options,
      method: "POST",
      path,
      body: { ...this.#writer(userId, options), ...fields(), details: true },
      headers: { "idempotency-key": idempotencyKey, ...expectedHeaders(options) },
      retry: "always",
    });
  }

  /** A repeated delete would answer `not_found`, so it is sent again only if the first did nothing. */
  async #delete<T>(
    path: string,
    userId: string,
    fields: NonNullable<SdkCall["query"]>,
    options: PersonOptions & ExpectedFact,
  ): Promise<T> {
    const query = { ...this.#person(userId, options), ...fields };
    const headers = expectedHeaders(options);
    // Facts that may be forgotten are not injected again.
    return this.#contexts.dropAround(userId, () =>
      this.call({ ...options, method: "DELETE", path, query, headers, retry: "refused" }),
    );
  }

  async #lines(call: Omit<SdkCall, "retry">): Promise<AsyncGenerator<string>> {
    return this.call({ ...call, retry: "always", isRead: true });
  }
}
