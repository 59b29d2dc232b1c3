/** The calls of the service: one method for each, named as the call is. The client adds the helpers for agents (sideband.ts). */

import type {
  ChangesAnswer,
  ChannelsAnswer,
  DetailedContextAnswer,
  DetailedDecodeAnswer,
  DetailedModelDecodeAnswer,
  EncodeAnswer,
  FactsAnswer,
  FindAnswer,
  FlushAnswer,
  ForgetAnswer,
  HistoryAnswer,
  LabelAnswer,
  LabelSetAnswer,
  LabelSetName,
  LabelSetsAnswer,
  MoveProjectAnswer,
  ReadAnswer,
  RollbackAnswer,
  StatusAnswer,
  StrictAnswer,
  TokenAnswer,
  UsageAnswer,
  UsageDaysAnswer,
  UsersAnswer,
  WrittenAnswer,
  WrittenBatchAnswer,
} from "../contract/answers.ts";
import {
  checkedAddress,
  checkedUser,
  expectedHeaders,
  factFields,
  isoMoment,
  labelFields,
  randomKey,
  variable,
} from "./checked-options.ts";
import { ContextCache } from "./context-cache.ts";
import { followEvents } from "./events.ts";
import type {
  ChangesOptions,
  ContextOptions,
  EncodeOptions,
  EventsOptions,
  ExpectedFact,
  FactToEncode,
  FindOptions,
  FlushOptions,
  ForgetOptions,
  LabelOf,
  LabelTermsChange,
  Moment,
  NewLabelOf,
  OwnLabelTerms,
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
import { type CallOptions, type Fetch, type SdkCall, Transport } from "./transport.ts";

export const DEFAULT_BASE_URL = "http://127.0.0.1:8787";
export const TIMEOUT_MS = 10_000;
/** Called without an object: browsers refuse fetch with another `this`. */
const globalFetch: Fetch = (url, init) => fetch(url, init);

/** @typeParam Own the account's own labels */
export class ServiceCalls<Own extends string = never> {
  protected readonly transport: Transport;
  readonly #project: string | undefined;
  readonly #writtenBy: string | undefined;
  readonly #contexts = new ContextCache();

  constructor(options: SidebandOptions = {}) {
    this.transport = new Transport({
      apiKey: options.apiKey ?? variable("SIDEBAND_API_KEY"),
      baseUrl: checkedAddress(options.baseUrl ?? variable("SIDEBAND_API_URL") ?? DEFAULT_BASE_URL),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retries: options.retries ?? 2,
      fetch: options.fetch ?? globalFetch,
    });
    this.#project = options.project;
    this.#writtenBy = options.writtenBy;
  }

  /** Writes a fact; a fact of the same label is overwritten, and kept in the history. */
  encode(
    userId: string,
    label: LabelOf<Own>,
    value: string,
    options: EncodeOptions = {},
  ): Promise<WrittenAnswer> {
    return this.#write("/encode", userId, options, () => ({ label, value, ...factFields(options) }));
  }

  /** Writes 1 to 40 facts, all or none. */
  encodeBatch(
    userId: string,
    facts: readonly FactToEncode<Own>[],
    options: WriterOptions = {},
  ): Promise<WrittenBatchAnswer> {
    return this.#write("/encode/batch", userId, options, () => ({
      facts: facts.map((fact) => ({
        label: fact.label,
        value: fact.value,
        ...factFields(fact),
        if_revision: fact.ifRevision,
      })),
    }));
  }

  /** Adds an item to a fact that is a list, `a; b`. `invalid_value` with `items` if the list has no room. */
  append(
    userId: string,
    label: LabelOf<Own>,
    item: string,
    options: EncodeOptions = {},
  ): Promise<WrittenAnswer> {
    return this.#write("/facts/append", userId, options, () => ({ label, item, ...factFields(options) }));
  }

  /** Removes an item from a list. The last one takes the fact along: the value is empty then, and has no revision. */
  remove(
    userId: string,
    label: LabelOf<Own>,
    item: string,
    options: RemoveOptions = {},
  ): Promise<EncodeAnswer> {
    const fields = () => ({ label, item, scope: options.scope });
    return this.#contexts.dropAround(userId, () => this.#write("/facts/remove", userId, options, fields));
  }

  /** All facts in plain text, and as many as fit as one block. If nothing has changed, the service answers 304. */
  async context(userId: string, options: ContextOptions = {}): Promise<DetailedContextAnswer> {
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
    return this.#get("/decode", { ...this.#person(userId, options), label, details: "true" }, options);
  }

  /** One fact, read from the block by the reader and compared with the state. */
  async decodeModel(
    userId: string,
    label: LabelOf<Own>,
    options: PersonOptions = {},
  ): Promise<DetailedModelDecodeAnswer> {
    return this.#get("/decode/model", { ...this.#person(userId, options), label, details: "true" }, options);
  }

  /** Builds a new block, reads it back and compares every fact. Call it before a context is compacted. */
  async flush(userId: string, options: FlushOptions = {}): Promise<FlushAnswer> {
    const body = { ...this.#person(userId, options), session_id: options.sessionId };
    return this.#call({ ...options, method: "POST", path: "/flush", body, retry: "always", isRead: true });
  }

  /** All facts with their revisions and times. */
  async facts(userId: string, options: PersonOptions = {}): Promise<FactsAnswer> {
    return this.#get("/facts", { ...this.#person(userId, options), details: "true" }, options);
  }

  /** Facts by words of their labels, descriptions and values, the best first. Case, accents and a slip do not matter. */
  async find(userId: string, query: string, options: FindOptions = {}): Promise<FindAnswer> {
    const { limit, everywhere } = options;
    const asked = { q: query, limit, everywhere: everywhere ? "true" : undefined };
    return this.#get("/facts/find", { ...this.#person(userId, options), ...asked }, options);
  }

  /** Forgets one fact, with its history unless `keepHistory` is set. `fact_not_found` if there is none. */
  forget(userId: string, label: LabelOf<Own>, options: ForgetOptions = {}): Promise<ForgetAnswer> {
    const { scope, keepHistory } = options;
    const query = { label, scope, keep_history: keepHistory ? "true" : undefined };
    return this.#delete("/facts", userId, query, options);
  }

  /** Forgets all facts of a user, in a project or everywhere. `not_found` if there are none. */
  forgetUser(userId: string, options: PersonOptions = {}): Promise<StatusAnswer> {
    return this.#delete("/users", userId, {}, options);
  }

  /** A fact's present and earlier values, the newest first. */
  async history(userId: string, label: LabelOf<Own>, options: PersonOptions = {}): Promise<HistoryAnswer> {
    return this.#get("/facts/history", { ...this.#person(userId, options), label }, options);
  }

  /** Writes the value of an earlier revision again. `not_found` if the history does not have it. */
  restore(
    userId: string,
    label: LabelOf<Own>,
    revision: number,
    options: RestoreOptions = {},
  ): Promise<WrittenAnswer> {
    return this.#write("/facts/restore", userId, options, () => ({ label, revision }));
  }

  /**
   * Moves a fact to another label, with its history. A label that is not there is made. `fact_exists` if the other has a
   * fact.
   */
  rename(
    userId: string,
    label: LabelOf<Own>,
    to: NewLabelOf<Own> | LabelOf<Own>,
    options: RenameOptions = {},
  ): Promise<WrittenAnswer> {
    const fields = () => ({ label, to, merge: options.merge });
    return this.#contexts.dropAround(userId, () => this.#write("/facts/rename", userId, options, fields));
  }

  /** What changed for a user, the newest first. */
  async changes(userId: string, options: ChangesOptions = {}): Promise<ChangesAnswer> {
    const { limit, cursor } = options;
    const query = { ...this.#person(userId, options), since: isoMoment(options.since), limit, cursor };
    return this.#get("/users/history", query, options);
  }

  /** Puts a user's facts back to a moment, all or none. With `dryRun` it only lists what would change. */
  async rollback(userId: string, to: Moment, options: RollbackOptions = {}): Promise<RollbackAnswer> {
    const { dryRun, partial } = options;
    const body = { ...this.#writer(userId, options), to: isoMoment(to), dry_run: dryRun, partial };
    // A late second arrival would take back what was written since.
    const retry = dryRun ? "always" : "refused";
    const send = () =>
      this.#call<RollbackAnswer>({ ...options, method: "POST", path: "/users/rollback", body, retry });
    return dryRun ? send() : this.#contexts.dropAround(userId, send);
  }

  /** Moves what a user has in a project, and in its worktrees, to another one, with its history. */
  moveProject(
    userId: string,
    from: string,
    to: string,
    options: CallOptions = {},
  ): Promise<MoveProjectAnswer> {
    const body = { user_id: userId, from, to };
    return this.#contexts.dropAround(userId, () =>
      this.#call({ ...options, method: "POST", path: "/users/move", body, retry: "always" }),
    );
  }

  /** The users of the account, page by page. */
  users(options: UsersOptions = {}): Promise<UsersAnswer> {
    const { prefix, limit, cursor } = options;
    return this.#get("/users", { prefix, limit, cursor }, options);
  }

  /** Everything that is kept of a user, as lines of JSON, which `sideband import` reads. The time-out is for its beginning. */
  async *exportUser(userId: string, options: CallOptions = {}): AsyncGenerator<string> {
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
    const query = { user_id: userId === undefined ? userId : checkedUser(userId), project: options.project };
    const call = { ...options, method: "GET", path: "/users/events", query, retries: 0 } as const;
    const open = (headers: Record<string, string>) =>
      this.#lines({ ...call, headers, stream: "text/event-stream" });
    return followEvents(open, options);
  }

  /** Reads a block, even if it is damaged or inside other text. `block_unreadable` if that fails. */
  async read(userId: string, block: string, options: PersonOptions = {}): Promise<ReadAnswer> {
    const body = { ...this.#person(userId, options), block };
    return this.#call({ ...options, method: "POST", path: "/read", body, retry: "always", isRead: true });
  }

  /** What the key has used of its monthly limit. */
  usage(options: CallOptions = {}): Promise<UsageAnswer> {
    return this.#get("/usage", {}, options);
  }

  /** Facts written with the key by day, in the last 31 days. */
  usageDays(options: CallOptions = {}): Promise<UsageDaysAnswer> {
    return this.#get("/usage/days", {}, options);
  }

  /** The 40 channels with a description and an example each; with a key, all labels of its account. */
  channels(options: CallOptions = {}): Promise<ChannelsAnswer> {
    return this.#get("/channels", {}, options);
  }

  /** Adds a label of the account's own. `label_exists` if it is there with other terms. */
  addLabel(
    label: NewLabelOf<Own>,
    terms: OwnLabelTerms,
    options: CallOptions & { readonly writtenBy?: string | undefined } = {},
  ): Promise<LabelAnswer> {
    const { writtenBy = this.#writtenBy } = options;
    const body = { label, ...labelFields(terms), written_by: writtenBy };
    // The same label with the same terms again changes nothing.
    return this.#call({ ...options, method: "POST", path: "/channels", body, retry: "always" });
  }

  /** Changes the terms of a label for later writes; of the 40 only `hidden`. */
  changeLabel(
    label: LabelOf<Own>,
    change: LabelTermsChange,
    options: CallOptions = {},
  ): Promise<LabelAnswer> {
    const path = `/channels/${encodeURIComponent(label)}`;
    return this.#call({ ...options, method: "PATCH", path, body: labelFields(change), retry: "refused" });
  }

  /** Removes a label of the account's own that nothing has. `label_in_use` where a user has a fact or a history with it. */
  removeLabel(label: LabelOf<Own>, options: CallOptions = {}): Promise<StatusAnswer> {
    const path = `/channels/${encodeURIComponent(label)}`;
    return this.#call({ ...options, method: "DELETE", path, retry: "refused" });
  }

  /** Makes the account strict, or no longer so: in a strict one nobody makes labels by writing them. */
  strictLabels(strict: boolean, options: CallOptions = {}): Promise<StrictAnswer> {
    return this.#call({ ...options, method: "PATCH", path: "/channels", body: { strict }, retry: "always" });
  }

  /** The sets of labels for a purpose that an account can add. */
  labelSets(options: CallOptions = {}): Promise<LabelSetsAnswer> {
    return this.#get("/channels/sets", {}, options);
  }

  /** Adds the labels of a set to the account's own. Those that it has are left as they are. */
  addLabelSet(
    set: LabelSetName,
    options: CallOptions & { readonly writtenBy?: string | undefined } = {},
  ): Promise<LabelSetAnswer> {
    const body = { set, written_by: options.writtenBy ?? this.#writtenBy };
    return this.#call({ ...options, method: "POST", path: "/channels/sets", body, retry: "always" });
  }

  /** A short-lived token for one user, for a page or a device. */
  async token(userId: string, options: TokenOptions): Promise<TokenAnswer> {
    const body = { user_id: checkedUser(userId), access: options.access, ttl_s: options.ttlS };
    return this.#call({ ...options, method: "POST", path: "/tokens", body, retry: "always" });
  }

  #person(userId: string, { project = this.#project }: PersonOptions) {
    return { user_id: checkedUser(userId), project };
  }

  #writer(userId: string, options: Omit<WriterOptions, "idempotencyKey">) {
    const { writtenBy = this.#writtenBy, sessionId } = options;
    return { ...this.#person(userId, options), written_by: writtenBy, session_id: sessionId };
  }

  #contextQuery(userId: string, options: ContextOptions) {
    return { ...this.#person(userId, options), include: options.include, details: "true" };
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
    return this.#call({
      ...options,
      method: "POST",
      path,
      body: { ...this.#writer(userId, options), ...fields(), details: true },
      headers: { "idempotency-key": idempotencyKey, ...expectedHeaders(options) },
      retry: "always",
    });
  }

  #get<T>(path: string, query: NonNullable<SdkCall["query"]>, options: CallOptions): Promise<T> {
    return this.#call({ ...options, method: "GET", path, query, retry: "always", isRead: true });
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
      this.#call({ ...options, method: "DELETE", path, query, headers, retry: "refused" }),
    );
  }

  async #lines(call: Omit<SdkCall, "retry">): Promise<AsyncGenerator<string>> {
    return this.#call({ ...call, retry: "always", isRead: true });
  }

  async #call<T>(call: SdkCall): Promise<T> {
    return (await this.transport.send(call)).body as T;
  }
}
