/** The calls about an account: its labels, and what a key has used; and how the client sends any call (transport.ts). */

import type {
  AuditAnswer,
  ChannelsAnswer,
  ErasedProjectAnswer,
  LabelAnswer,
  LabelSetAnswer,
  LabelSetName,
  LabelSetsAnswer,
  ProjectAnswer,
  ProjectsAnswer,
  SharedProjectAnswer,
  StatusAnswer,
  StrictAnswer,
  UsageAnswer,
  UsageDaysAnswer,
} from "../contract/answers.ts";
import { checkedAddress, checkedUser, isoMoment, labelFields, variable } from "./checked-options.ts";
import {
  ACCOUNT_WRITER,
  AUDIT,
  CALL,
  CLIENT_OPTIONS,
  checkOptions,
  OWN_TERMS,
  SHARE,
  TAKE,
  TERMS,
  UNSHARE,
} from "./option-kinds.ts";
import type {
  AuditOptions,
  LabelOf,
  LabelTermsChange,
  NewLabelOf,
  OwnLabelTerms,
  ShareOptions,
  SidebandOptions,
  UnshareOptions,
} from "./options.ts";
import { type CallOptions, type Fetch, type SdkCall, Transport } from "./transport.ts";

export const DEFAULT_BASE_URL = "http://127.0.0.1:8787";
export const TIMEOUT_MS = 10_000;
/** Called without an object: browsers refuse fetch with another `this`. */
const globalFetch: Fetch = (url, init) => fetch(url, init);

/** @typeParam Own the account's own labels */
export class AccountCalls<Own extends string = never> {
  protected readonly transport: Transport;
  protected readonly writtenBy: string | undefined;

  constructor(options: SidebandOptions) {
    checkOptions(options, CLIENT_OPTIONS);
    this.transport = new Transport({
      apiKey: options.apiKey ?? variable("SIDEBAND_API_KEY"),
      baseUrl: checkedAddress(options.baseUrl ?? variable("SIDEBAND_API_URL") ?? DEFAULT_BASE_URL),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retries: options.retries ?? 2,
      fetch: options.fetch ?? globalFetch,
    });
    this.writtenBy = options.writtenBy;
  }

  /** What the key has used of its monthly limit. */
  async usage(options: CallOptions = {}): Promise<UsageAnswer> {
    checkOptions(options, CALL);
    return this.get("/usage", {}, options);
  }

  /** Facts written with the key by day, in the last 31 days. */
  async usageByDay(options: CallOptions = {}): Promise<UsageDaysAnswer> {
    checkOptions(options, CALL);
    return this.get("/usage/days", {}, options);
  }

  /** Who has changed labels, projects, keys and limits of the account, or erased something: the newest first, for 400 days. */
  async audit(options: AuditOptions = {}): Promise<AuditAnswer> {
    checkOptions(options, AUDIT);
    const { user, operation, since, until, limit, cursor } = options;
    const moments = { since: isoMoment(since), until: isoMoment(until) };
    return this.get("/audit", { user, operation, ...moments, limit, cursor }, options);
  }

  /** The 40 channels with a description and an example each; with a key, all labels of its account. */
  async channels(options: CallOptions = {}): Promise<ChannelsAnswer> {
    checkOptions(options, CALL);
    return this.get("/channels", {}, options);
  }

  /** Adds a label of the account's own. `label_exists` if it is there with other terms. */
  async addLabel(
    label: NewLabelOf<Own>,
    terms: OwnLabelTerms,
    options: CallOptions & { readonly writtenBy?: string | undefined } = {},
  ): Promise<LabelAnswer> {
    checkOptions(options, ACCOUNT_WRITER);
    checkOptions(terms, OWN_TERMS);
    const { writtenBy = this.writtenBy } = options;
    const body = { label, ...labelFields(terms), written_by: writtenBy };
    // The same label with the same terms again changes nothing.
    return this.call({ ...options, method: "POST", path: "/channels", body, retry: "always" });
  }

  /** Changes the terms of a label for later writes; of the 40 only `hidden`. */
  async changeLabel(
    label: LabelOf<Own>,
    change: LabelTermsChange,
    options: CallOptions = {},
  ): Promise<LabelAnswer> {
    checkOptions(options, CALL);
    checkOptions(change, TERMS);
    const path = `/channels/${encodeURIComponent(label)}`;
    return this.call({ ...options, method: "PATCH", path, body: labelFields(change), retry: "refused" });
  }

  /** Removes a label of the account's own that nothing has. `label_in_use` where a user has a fact or a history with it. */
  async removeLabel(label: LabelOf<Own>, options: CallOptions = {}): Promise<StatusAnswer> {
    checkOptions(options, CALL);
    const path = `/channels/${encodeURIComponent(label)}`;
    return this.call({ ...options, method: "DELETE", path, retry: "refused" });
  }

  /** Makes the account strict, or no longer so: in a strict one nobody makes labels by writing them. */
  async strictLabels(strict: boolean, options: CallOptions = {}): Promise<StrictAnswer> {
    checkOptions(options, CALL);
    return this.call({ ...options, method: "PATCH", path: "/channels", body: { strict }, retry: "always" });
  }

  /** The sets of labels for a purpose that an account can add. */
  async labelSets(options: CallOptions = {}): Promise<LabelSetsAnswer> {
    checkOptions(options, CALL);
    return this.get("/channels/sets", {}, options);
  }

  /** Adds the labels of a set to the account's own. Those that it has are left as they are. */
  async addLabelSet(
    set: LabelSetName,
    options: CallOptions & { readonly writtenBy?: string | undefined } = {},
  ): Promise<LabelSetAnswer> {
    checkOptions(options, ACCOUNT_WRITER);
    const body = { set, written_by: options.writtenBy ?? this.writtenBy };
    return this.call({ ...options, method: "POST", path: "/channels/sets", body, retry: "always" });
  }

  /** The projects of the account that are shared. */
  async projects(options: CallOptions = {}): Promise<ProjectsAnswer> {
    checkOptions(options, CALL);
    return this.get("/projects", {}, options);
  }

  /** A shared project: who shares it, and how many facts. */
  async project(project: string, options: CallOptions = {}): Promise<ProjectAnswer> {
    checkOptions(options, CALL);
    return this.get(projectPath(project), {}, options);
  }

  /** Shares a project, or changes who shares it. Nothing that a person has becomes shared unless `take` says so. */
  async shareProject(project: string, options: ShareOptions = {}): Promise<SharedProjectAnswer> {
    checkOptions(options, SHARE);
    const { members, access, take, dryRun: dry_run } = options;
    if (take !== undefined) checkOptions(take, TAKE);
    const taken = take && { user_id: checkedUser(take.userId), labels: take.labels };
    const body = { shared: true, members, access, take: taken, dry_run };
    // What was taken is not there a second time.
    const retry = take === undefined || dry_run ? "always" : "refused";
    return this.call({ ...options, method: "PUT", path: projectPath(project), body, retry });
  }

  /** Ends the sharing. `project_has_facts` where something is shared, and nobody is named who gets it. */
  async unshareProject(project: string, options: UnshareOptions = {}): Promise<SharedProjectAnswer> {
    checkOptions(options, UNSHARE);
    const body = { shared: false, give_to: options.giveTo };
    return this.call({ ...options, method: "PUT", path: projectPath(project), body, retry: "refused" });
  }

  /** Ends the sharing, and erases what was shared, with its history, for all. */
  async eraseProject(project: string, options: CallOptions = {}): Promise<ErasedProjectAnswer> {
    checkOptions(options, CALL);
    return this.call({ ...options, method: "DELETE", path: projectPath(project), retry: "refused" });
  }

  protected get<T>(path: string, query: NonNullable<SdkCall["query"]>, options: CallOptions): Promise<T> {
    return this.call({ ...options, method: "GET", path, query, retry: "always", isRead: true });
  }

  protected async call<T>(call: SdkCall): Promise<T> {
    return (await this.transport.send(call)).body as T;
  }
}

function projectPath(project: string): string {
  return `/projects/${encodeURIComponent(project)}`;
}
