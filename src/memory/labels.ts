/**
 * From labels, which facts are stored under, to channels, which blocks and answers show, and back. The 40 standard labels are the same in every account; an account's own ones are
 * read from the store, and kept until the store says that a label has changed. An unknown label is refused, with a hint
 * where one label is really near, and never before the store was asked again: another node may have added it. The labels
 * that a person has made are in free-labels.ts.
 */

import { assert } from "../base/assert.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import { LABEL_FORM, scopeOfLabel } from "../base/channel-labels.ts";
import { CHANNELS, findChannel } from "../base/channels.ts";
import { isOtherNumber, isSlip, otherNumbers, slipEdits, slipEditsMax } from "../base/edit-distance.ts";
import { Failure } from "../base/errors.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { KeyStore, LabelStore } from "./ports.ts";
import type { LabelRecord, Place, Scope } from "./records.ts";

/** What a label asks of its values, and where they go; of an own one also when it was added, and by whom. */
export type LabelTerms = Omit<LabelRecord, "createdAtMs" | "scope" | "removed"> & {
  readonly scope: Scope;
  readonly createdAtMs?: number;
};

const STANDARD: readonly LabelTerms[] = CHANNELS.map((channel) => ({
  ...channel,
  oneOf: null,
  maxBytes: null,
  ttlS: null,
  scope: scopeOfLabel(channel.label),
  hidden: false,
}));

/** A label that only a person can have. Its number is not known here: the channel stands for all of them. */
function freeTerms(label: string): LabelTerms {
  const terms = { description: "", example: "", oneOf: null, maxBytes: null, ttlS: null, hidden: false };
  return { ...terms, channel: CHANNEL_COUNT_MAX, label, scope: scopeOfLabel(label) };
}

/** Whether a label is one that only a person can have. */
export function isFree({ channel }: Pick<LabelTerms, "channel">): boolean {
  return channel >= CHANNEL_COUNT_MAX;
}

const CACHE_ENTRIES_MAX = 10_000;
/** A longer text is no label with a slip. */
const HINTED_LENGTH_MAX = 200;
const ADVICE =
  "GET /channels lists those of the account, POST /channels adds one; new_label: true makes one of the person's own.";

const STRICT_ADVICE =
  "The account is strict: GET /channels lists its labels, POST /channels adds one, and no others can be made.";

/** The labels of one account. */
export class AccountLabels {
  /** In channel order: the standard ones, then the account's own. */
  readonly all: readonly LabelTerms[];
  /** How many labels the account may still add. Those that it has removed count: their channels are theirs. */
  readonly free: number;
  /** Labels for the account's own key. */
  readonly reserved: ReadonlySet<string>;
  /** The account's persons make no labels. */
  readonly isStrict: boolean;
  readonly #byLabel: ReadonlyMap<string, LabelTerms>;
  readonly #byChannel: ReadonlyMap<number, LabelTerms>;
  readonly #channels: ReadonlyMap<string, number>;
  #spellings: LabelLookup | undefined;

  constructor(records: readonly LabelRecord[], isStrict = false) {
    this.isStrict = isStrict;
    const changed = new Map(records.map((record) => [record.channel, record]));
    const standard = STANDARD.map((terms) => ({
      ...terms,
      hidden: changed.get(terms.channel)?.hidden ?? terms.hidden,
    }));
    const own = records
      .filter(({ channel }) => channel >= CHANNEL_COUNT)
      .map((record) => ({ ...record, scope: record.scope ?? ("person" as const) }));
    // A standard label is there for everybody but a caller who does not see its group.
    const isThere = ({ channel }: Pick<LabelTerms, "channel">) => changed.get(channel)?.removed !== true;
    this.all = [...standard, ...own].filter(isThere);
    this.free = CHANNEL_COUNT_MAX - CHANNEL_COUNT - own.length;
    const isReserved = ({ writers }: LabelTerms) => writers === "account";
    this.reserved = new Set(this.all.filter(isReserved).map(({ label }) => label));
    this.#byLabel = new Map(this.all.map((terms) => [terms.label, terms]));
    // A block that was made before has labels in it that were removed since.
    this.#byChannel = new Map([...standard, ...own].map((terms) => [terms.channel, terms]));
    this.#channels = new Map([...this.#byChannel].map(([channel, { label }]) => [label, channel]));
  }

  find(label: string): LabelTerms | undefined {
    return this.#byLabel.get(label);
  }

  at(channel: number): LabelTerms | undefined {
    return this.#byChannel.get(channel);
  }

  /** Also of a label that was removed. */
  channelOf(label: string): number | undefined {
    return this.#channels.get(label);
  }

  get spellings(): LabelLookup {
    this.#spellings ??= new LabelLookup(this.all.map(({ label }) => label));
    return this.#spellings;
  }
}

export const STANDARD_LABELS = new AccountLabels([]);

export class Labels {
  readonly #store: LabelStore & Pick<KeyStore, "keysVersion">;
  readonly #cache = new BoundedCache<AccountLabels>({ entriesMax: CACHE_ENTRIES_MAX });
  #version: number | undefined;
  /** Told of every label that is added, changed or removed: the service writes it into its log. */
  onChange: (line: object, message: string) => void = () => {};

  constructor(store: LabelStore & Pick<KeyStore, "keysVersion">) {
    this.#store = store;
  }

  /** @param isNow whether another node has changed something is asked now, and not known from moments ago */
  of(account: string, isNow = false): MaybePromise<AccountLabels> {
    return andThen(this.#store.keysVersion(isNow), (version) => {
      if (version !== this.#version) this.#cache.clear();
      this.#version = version;
      return this.#cache.peek(account) ?? this.#read(account);
    });
  }

  /** The terms of one of the account's labels. Throws `unknown_label`. */
  find(account: string, label: string): MaybePromise<LabelTerms> {
    return andThen(this.lookUp(account, label), (terms) => {
      if (terms !== undefined && !isFree(terms)) return terms;
      return andThen(this.of(account), (labels) => {
        throw unknownLabel(nearLabel(label, labels));
      });
    });
  }

  /** The terms of a label: one of the account's, or one that a person may have made; undefined where it cannot be one. */
  lookUp(account: string, label: string): MaybePromise<LabelTerms | undefined> {
    const standard = findChannel(label);
    if (standard !== undefined) return STANDARD[standard.channel];
    return andThen(this.of(account), (known) => {
      const terms = known.find(label);
      if (terms !== undefined) return terms;
      const unlisted = LABEL_FORM.test(label) ? freeTerms(label) : undefined;
      return andThen(this.of(account, true), (labels) => labels.find(label) ?? unlisted);
    });
  }

  /** The channels of the labels of facts, in their order. */
  channelsOf(account: string, facts: readonly Labelled[]): MaybePromise<readonly number[]> {
    if (facts.every(({ label }) => findChannel(label) !== undefined))
      return facts.map(({ label }) => findChannel(label)!.channel);
    return andThen(this.of(account), (known) => {
      const channels = facts.map((fact) => channelIn(known, fact));
      if (!channels.includes(undefined)) return channels as number[];
      // Another node may have added it. Of a free label that is told without its number, the channel is 256.
      return andThen(this.#read(account), (labels) =>
        facts.map((fact) => channelIn(labels, fact) ?? CHANNEL_COUNT_MAX),
      );
    });
  }

  /** Facts in the order of their channels, those of free labels last, by label; each label is there once. */
  inOrder<F extends Labelled>(account: string, facts: readonly F[]): MaybePromise<FactsInOrder<F>> {
    return andThen(this.channelsOf(account, facts), (channels) => {
      // Quicker than sorting.
      const byChannel: (F | undefined)[] = new Array(CHANNEL_COUNT_MAX).fill(undefined);
      const free: OnChannel<{ fact: F }>[] = [];
      for (const [i, fact] of facts.entries()) {
        const channel = channels[i];
        if (channel < CHANNEL_COUNT_MAX) byChannel[channel] = fact;
        else free.push({ fact, channel });
      }
      const ordered: { facts: F[]; channels: number[] } = { facts: [], channels: [] };
      for (const [channel, fact] of byChannel.entries()) {
        if (fact === undefined) continue;
        ordered.facts.push(fact);
        ordered.channels.push(channel);
      }
      for (const { fact, channel } of free.sort((a, b) => byText(a.fact.label, b.fact.label))) {
        ordered.facts.push(fact);
        ordered.channels.push(channel);
      }
      assert(ordered.facts.length === facts.length, "a label is there once");
      return ordered;
    });
  }

  /** Facts with the channels of their labels. */
  withChannels<F extends Labelled>(account: string, facts: readonly F[]): MaybePromise<OnChannel<F>[]> {
    return andThen(this.channelsOf(account, facts), (channels) =>
      facts.map((fact, i) => ({ ...fact, channel: channels[i] })),
    );
  }

  /** The labels of channels, in their order. */
  namesOf(account: string, channels: readonly number[]): MaybePromise<readonly string[]> {
    if (channels.every((channel) => channel < CHANNEL_COUNT))
      return channels.map((channel) => CHANNELS[channel].label);
    return andThen(this.of(account), (known) => {
      if (channels.every((channel) => known.at(channel) !== undefined)) return names(known, channels);
      return andThen(this.#read(account), (labels) => names(labels, channels));
    });
  }

  #read(account: string): MaybePromise<AccountLabels> {
    const version = this.#version;
    return andThen(this.#store.readStrict(account), (isStrict) =>
      andThen(this.#store.readLabels(account), (records) => {
        const isPlain = records.length === 0 && !isStrict;
        const labels = isPlain ? STANDARD_LABELS : new AccountLabels(records, isStrict);
        // Labels that were changed meanwhile may have been read as they were before.
        if (version === this.#version) this.#cache.set(account, labels);
        return labels;
      }),
    );
  }
}

interface Labelled {
  readonly label: string;
  /** That of a free label (FactRecord). */
  readonly number?: number | undefined;
}

/** With the channel of its label. */
export type OnChannel<F> = F & { readonly channel: number };

export interface FactsInOrder<F> {
  readonly facts: readonly F[];
  /** That of each. */
  readonly channels: readonly number[];
}

/** A label that the account has, or had, or one with a number; otherwise undefined. */
function channelIn(labels: AccountLabels, { label, number }: Labelled): number | undefined {
  const known = labels.find(label)?.channel;
  if (known !== undefined || number === undefined) return known ?? labels.channelOf(label);
  return CHANNEL_COUNT_MAX + number;
}

type Placed = OnChannel<Labelled & { readonly place: Place }>;

export function byPlaceAndChannel(a: Placed, b: Placed): number {
  return byText(a.place, b.place) || byChannel(a, b);
}

/** Free labels come last, by label. */
export function byChannel(a: OnChannel<Labelled>, b: OnChannel<Labelled>): number {
  const order = Math.min(a.channel, CHANNEL_COUNT_MAX) - Math.min(b.channel, CHANNEL_COUNT_MAX);
  return order || byText(a.label, b.label);
}

function byText(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/** A channel without a label can only be of a block that another account's labels were sealed into. */
function names(labels: AccountLabels, channels: readonly number[]): string[] {
  return channels.map((channel) => labels.at(channel)?.label ?? `CHANNEL.${channel}`);
}

/** @param hint the label that was probably meant */
export function unknownLabel(hint: string | undefined, isStrict = false): Failure {
  const question = hint === undefined ? "" : `Did you mean ${hint}? `;
  return new Failure(
    "unknown_label",
    `There is no such label. ${question}${isStrict ? STRICT_ADVICE : ADVICE}`,
    {
      param: "label",
      ...(hint === undefined ? {} : { hint }),
    },
  );
}

interface Spelling {
  readonly label: string;
  /** Without case and separators. */
  readonly whole: string;
  readonly name: string;
}

/** The spellings of an account's labels: made when the first label is hinted. */
class LabelLookup {
  readonly groups: ReadonlySet<string>;
  readonly names: readonly string[];
  readonly #byName = new Map<string, Spelling[]>();

  constructor(labels: readonly string[]) {
    const groups = new Set<string>();
    for (const label of labels) {
      const [group, name] = label.split(".").map(plain);
      groups.add(group);
      const spelling = { label, whole: group + name, name };
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), spelling]);
    }
    this.groups = groups;
    this.names = [...this.#byName.keys()];
  }

  /** Those with a name. */
  named(name: string): readonly Spelling[] {
    return this.#byName.get(name) ?? [];
  }
}

/**
 * The one label that was probably meant: its name stands alone or after another group, or the label has a slip, or only
 * another case or other separators. A wrong hint makes a model overwrite a real fact. It costs less than a millisecond,
 * whatever the labels are: no group is put before each name.
 */
export function nearLabel(text: string, labels: AccountLabels = STANDARD_LABELS): string | undefined {
  if (text.length > HINTED_LENGTH_MAX) return undefined;
  const wanted = plain(text);
  const { spellings } = labels;
  const { groups, names } = spellings;
  const same = Array.from({ length: wanted.length + 1 }, (_, end) =>
    end === 0 || groups.has(wanted.slice(0, end)) ? spellings.named(wanted.slice(end)) : [],
  ).flat();
  if (same.length > 0) return (same.find(({ whole }) => whole === wanted) ?? oneOf(same))?.label;
  const [, name = ""] = text.toLowerCase().split(".");
  const numbers = otherNumbers(name).flatMap((form) => spellings.named(plain(form)));
  const number = oneOf(numbers.filter(({ label }) => isOtherNumber(text, label)));
  if (number !== undefined) return number.label;
  const edits = slipEdits(wanted, [...groups], names);
  const near = names.filter((name, i) => edits !== undefined && edits[i] <= slipEditsMax(name.length));
  const only = oneOf(near.flatMap((name) => spellings.named(name)));
  // A slip in the name and another group are two faults: what was meant is not sure any more.
  return only !== undefined && isSlip(wanted, only.whole, only.name.length) ? only.label : undefined;
}

export function oneOf<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined;
}

/** Without case and separators. */
export function plain(text: string): string {
  return text.toLowerCase().replace(/[\s._:/-]/g, "");
}
