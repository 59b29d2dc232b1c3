/**
 * The calls of the memory page for one account: with a key, or on the page of `sideband open` with its cookie. There the
 * calls go to addresses below the page's own.
 */

import type {
  ChangesAnswer,
  ChannelsAnswer,
  ContextAnswer,
  FactsAnswer,
  HistoryAnswer,
  LabelAnswer,
  PlaceKind,
  RollbackAnswer,
  StoredFact,
  UsageAnswer,
  UsersAnswer,
  WrittenAnswer,
} from "../../contract/answers.ts";
import { call, type Method, request, type WebCallOptions } from "./request.ts";

export type { HistoryAnswer, PlaceKind, RollbackAnswer, StoredFact, UsageAnswer };
export type UserEntry = UsersAnswer["users"][number];
export type ListedFactChange = ChangesAnswer["changes"][number];
/** A label of the account, as GET /channels lists it with a key. */
export type KnownLabel = LabelAnswer;

/** Whose facts are shown, and where the person works. */
export interface Memory {
  readonly userId: string;
  readonly project: string | undefined;
}

/** A worktree is named by its project and a name of its own, with a slash between. */
export function isWorktree(project: string): boolean {
  return project.includes("/");
}

/** When a fact ends: by neither it lasts, or as long as its label says. */
export interface DraftEnd {
  readonly ttl_s?: number;
  readonly expires_at?: string;
}

export interface FactDraft extends DraftEnd {
  readonly label: string;
  readonly value: string;
  readonly scope?: PlaceKind | undefined;
}

export interface LabelDraft {
  readonly label: string;
  readonly description: string;
  readonly example?: string;
  readonly one_of?: readonly string[];
  readonly max_bytes?: number;
  readonly ttl_s?: number;
  readonly scope?: PlaceKind;
}

/** Who writes, as the history shows it. */
const PAGE_WRITER = "memory page";

export class MemoryApi {
  readonly #key: string | undefined;
  readonly #base: string;

  /** @param base what stands before the paths of the calls */
  constructor({ key, base = "" }: { key?: string; base?: string }) {
    this.#key = key;
    this.#base = base;
  }

  usage(): Promise<UsageAnswer> {
    return this.#call("GET", "/usage");
  }

  users(prefix: string, cursor?: string): Promise<UsersAnswer> {
    return this.#call("GET", "/users", { query: { ...(prefix === "" ? {} : { prefix }), cursor } });
  }

  async labels(): Promise<{ labels: readonly KnownLabel[]; free: number }> {
    const { channels, free = 0 } = await this.#call<ChannelsAnswer>("GET", "/channels");
    return { labels: channels as KnownLabel[], free };
  }

  addLabel(label: LabelDraft): Promise<LabelAnswer> {
    return this.#call("POST", "/channels", { body: { ...label, written_by: PAGE_WRITER } });
  }

  /** A hidden label is offered to no agent; its facts stay. */
  hideLabel(label: string, hidden: boolean): Promise<LabelAnswer> {
    return this.#call("PATCH", `/channels/${encodeURIComponent(label)}`, { body: { hidden } });
  }

  async facts(memory: Memory): Promise<readonly StoredFact[]> {
    return (await this.#call<FactsAnswer>("GET", "/facts", { query: asked(memory) })).facts;
  }

  /** @param expected the revision that the fact must have; 0: there must be none */
  write(memory: Memory, fact: FactDraft, expected: number): Promise<WrittenAnswer> {
    const body = { ...asked(memory), ...fact, written_by: PAGE_WRITER, details: true };
    return this.#call("POST", "/encode", { body, headers: expecting(expected) });
  }

  /** @param revision that the fact must have; undefined for one that is gone already */
  async forget(
    memory: Memory,
    { label, scope, revision }: { label: string; scope?: PlaceKind | undefined; revision?: number },
    keepHistory: boolean,
  ): Promise<void> {
    await this.#call("DELETE", "/facts", {
      query: { ...asked(memory), label, scope, keep_history: String(keepHistory) },
      headers: revision === undefined ? {} : expecting(revision),
    });
  }

  history(memory: Memory, label: string): Promise<HistoryAnswer> {
    return this.#call("GET", "/facts/history", { query: { ...asked(memory), label } });
  }

  restore(memory: Memory, label: string, revision: number): Promise<WrittenAnswer> {
    const body = { ...asked(memory), label, revision, written_by: PAGE_WRITER, details: true };
    return this.#call("POST", "/facts/restore", { body });
  }

  /** Of the whole person, in all projects. */
  changes(
    { userId }: Memory,
    { since, limit, cursor }: { since: string; limit: number; cursor?: string },
  ): Promise<ChangesAnswer> {
    const query = { user_id: userId, since, limit: String(limit), cursor };
    return this.#call("GET", "/users/history", { query });
  }

  /** Of the whole person, in all projects. */
  rollback(
    { userId }: Memory,
    to: string,
    { dryRun = false, partial = false }: { dryRun?: boolean; partial?: boolean },
  ): Promise<RollbackAnswer> {
    const body = { user_id: userId, to, dry_run: dryRun, partial, written_by: PAGE_WRITER };
    return this.#call("POST", "/users/rollback", { body });
  }

  /** How full the block is, and what has no room in it. */
  block(memory: Memory): Promise<ContextAnswer> {
    return this.#call("GET", "/context", { query: { ...asked(memory), include: "block", details: "true" } });
  }

  async eraseAll(memory: Memory): Promise<void> {
    await this.#call("DELETE", "/users", { query: asked(memory) });
  }

  async export({ userId }: Memory): Promise<string> {
    return (
      await request("GET", `${this.#base}/users/export`, this.#with({ query: { user_id: userId } }))
    ).text();
  }

  /** The stream of what happens to a user. */
  events(userId: string, lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = {
      accept: "text/event-stream",
      ...(lastId === undefined ? {} : { "last-event-id": lastId }),
    };
    return request(
      "GET",
      `${this.#base}/users/events`,
      this.#with({ query: { user_id: userId }, headers, signal }),
    );
  }

  async #call<T>(method: Method, path: string, options: WebCallOptions = {}): Promise<T> {
    return (await call<T>(method, this.#base + path, this.#with(options))).data;
  }

  #with(options: WebCallOptions): WebCallOptions {
    return this.#key === undefined ? options : { ...options, key: this.#key };
  }
}

function asked({ userId, project }: Memory): { user_id: string; project?: string } {
  return { user_id: userId, ...(project === undefined ? {} : { project }) };
}

function expecting(revision: number): Record<string, string> {
  return revision === 0 ? { "if-none-match": "*" } : { "if-match": `"${revision}"` };
}
