/** The calls about an account: its labels, and what a key has used; and how the client sends any call (transport.ts). */

import type {
  ChannelsAnswer,
  LabelAnswer,
  LabelSetAnswer,
  LabelSetName,
  LabelSetsAnswer,
  StatusAnswer,
  StrictAnswer,
  UsageAnswer,
  UsageDaysAnswer,
} from "../contract/answers.ts";
import { checkedAddress, labelFields, variable } from "./checked-options.ts";
import { ACCOUNT_WRITER, CALL, CLIENT_OPTIONS, checkOptions, OWN_TERMS, TERMS } from "./option-kinds.ts";
import type { LabelOf, LabelTermsChange, NewLabelOf, OwnLabelTerms, SidebandOptions } from "./options.ts";
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

  protected get<T>(path: string, query: NonNullable<SdkCall["query"]>, options: CallOptions): Promise<T> {
    return this.call({ ...options, method: "GET", path, query, retry: "always", isRead: true });
  }

  protected async call<T>(call: SdkCall): Promise<T> {
    return (await this.transport.send(call)).body as T;
  }
}
