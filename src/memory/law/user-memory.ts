/**
 * One user's memory while it is locked: what a store has read of it, and what changes make of it. Every change of a fact
 * goes through `set`, `forget` and `endExpired`, whatever asked for it (law.ts). Nothing is read or stored here: a store
 * gives what a change names, and takes the difference.
 */

import { assert } from "../../base/assert.ts";
import type { Sliced } from "../../base/slices.ts";
import type { EarlierFact, FactChange, FactRecord, FormerLabel, FreeTerms } from "../ports.ts";
import type { FreeLabel, Place } from "../records.ts";
import { PROJECT_NUMBERS } from "../shared-places.ts";
import { asExpired, earlierOf, placeOfMoved, withoutGaps } from "./earlier-values.ts";
import type { Author, FactDifference, FactName, FoundFact, FoundUser, PlaceCounts } from "./found-user.ts";

/** One label at one place. It is never changed, only replaced, so that a refused write can be taken back. */
interface FactState extends FactName {
  readonly name: string;
  readonly found: FoundFact;
  readonly present: FactRecord | undefined;
  readonly last: number;
  readonly dropBelow: number;
  readonly added: readonly EarlierFact[];
}

/** What the law works with: one user's memory, or two of them as one (joint-memory.ts). */
export type Memory = Pick<
  UserMemory,
  | "historyMax"
  | "parts"
  | "revision"
  | "revisionAt"
  | "freeLabel"
  | "names"
  | "isKnown"
  | "live"
  | "earlier"
  | "earlierCount"
  | "isEmpty"
  | "set"
  | "forget"
  | "endExpired"
  | "countLive"
  | "attempt"
>;

type Ending = NonNullable<FactChange["ending"]>;

const EVERYTHING = Number.POSITIVE_INFINITY;
const NONE: readonly EarlierFact[] = [];

export class UserMemory {
  /** How many earlier values of each fact are kept. */
  readonly historyMax: number;
  readonly parts: readonly UserMemory[] = [this];
  readonly #isWhole: boolean;
  readonly #isOfProject: boolean;
  readonly #counts: PlaceCounts | undefined;
  #facts: number;
  #heads: number;
  #revision: number;
  readonly #states = new Map<string, FactState>();
  /** The states that an attempt has replaced, in this order. */
  #replaced: FactState[] | undefined;
  #numbers: number;
  readonly #foundLabels: ReadonlyMap<string, FreeLabel>;
  #labels: Map<string, FreeLabel>;

  constructor(found: FoundUser, historyMax: number) {
    const { revision, facts, heads, named, isWhole = false, counts, numbers = 0, labels = [] } = found;
    const { isOfProject = false } = found;
    assert(Number.isSafeInteger(revision) && revision >= 0, "a revision is a whole number");
    this.historyMax = historyMax;
    this.#isWhole = isWhole;
    this.#isOfProject = isOfProject;
    this.#counts = counts;
    this.#revision = revision;
    this.#facts = facts;
    this.#heads = heads;
    this.#numbers = isOfProject ? Math.max(PROJECT_NUMBERS, numbers) : numbers;
    this.#foundLabels = new Map(labels.map((label) => [label.label, label]));
    this.#labels = new Map(this.#foundLabels);
    for (const fact of named) this.add(fact);
  }

  add(found: FoundFact): void {
    const { place, label, present, last } = found;
    assert(present === undefined || present.ordinal === last, "the present value is the last one");
    const name = nameOf(found);
    this.#states.set(name, { place, label, name, found, present, last, dropBelow: 0, added: NONE });
  }

  get revision(): number {
    return this.#revision;
  }

  /** That of the memory which has the place. */
  revisionAt(_place: Place): number {
    return this.#revision;
  }

  get facts(): number {
    return this.#facts;
  }

  get heads(): number {
    return this.#heads;
  }

  /** The last number that a label which the person has made was given. */
  get numbers(): number {
    return this.#numbers;
  }

  /** One of the labels that were asked for, where the person has made it, and it is there. */
  freeLabel(label: string, _place?: Place): FreeLabel | undefined {
    const known = this.#labels.get(label);
    return known === undefined || known.uses === 0 ? undefined : known;
  }

  /** The names that were asked for. */
  get names(): readonly FactName[] {
    return [...this.#states.values()];
  }

  /** Whether there is, or was, a value on a label. */
  isKnown(name: FactName): boolean {
    return this.#stateOf(name).last > 0;
  }

  /** The fact of a place and label, unless it has expired. */
  live(name: FactName, nowMs: number): FactRecord | undefined {
    const { present } = this.#stateOf(name);
    return present !== undefined && isLive(present, nowMs) ? present : undefined;
  }

  /** How many values `earlier` has, of a fact that has not changed; none is read for it. */
  earlierCount(name: FactName, nowMs: number): number {
    const { found, present } = this.#stateOf(name);
    const kept = found.kept ?? found.earlier.length;
    return kept + Number(present !== undefined && !isLive(present, nowMs));
  }

  /** The earlier values of a fact, the oldest first, with an expired one that was not ended yet. */
  earlier(name: FactName, nowMs: number): readonly EarlierFact[] {
    const state = this.#stateOf(name);
    const { present } = state;
    const expired = present !== undefined && !isLive(present, nowMs) ? [asExpired(present)] : [];
    const all = [...this.#earlierIn(state), ...expired];
    return this.historyMax === 0 ? [] : withoutGaps(all, present, expired.length > 0).slice(-this.historyMax);
  }

  /** Whether a label has neither a fact nor a history that is kept. */
  isEmpty(name: FactName, nowMs: number): boolean {
    return this.live(name, nowMs) === undefined && this.earlier(name, nowMs).length === 0;
  }

  /** Writes a value; the fact that was there before. What has expired must have been ended. */
  set(change: FactChange, value: string, author: Author, nowMs: number): FactRecord | undefined {
    const state = this.#stateOf(change);
    const { present: before, place, label, last } = state;
    const { updatedAtMs = nowMs, sinceMs = updatedAtMs, expiresAtMs = null } = change;
    assert(before === undefined || isLive(before, nowMs), "what has expired was ended before");
    const former = change.free === undefined ? undefined : this.#noteLabel(label, change.free);
    const number = this.#labels.get(label)?.number;
    const described = former === undefined ? undefined : { ended: "replaced" as const, former };
    const ending = change.ending === undefined ? described : this.#endingOf(change.ending);
    const isSameValue = before?.value === value;
    const kept = isSameValue ? before.origin : undefined;
    const origin = change.origin === undefined ? kept : (change.origin ?? undefined);
    const pinned = change.pinned ?? before?.pinned === true;
    const isSamePin = (before?.pinned === true) === pinned;
    const isSameTerms = before?.expiresAtMs === expiresAtMs && before.origin === origin && isSamePin;
    const by = isSameValue ? before.author : this.#isOfProject ? author.userId : undefined;
    const isSame = isSameValue && isSameTerms && ending === undefined;
    const isLater = isSameValue && ending === undefined && before.origin === origin && isSamePin;
    const moved =
      isLater && !isSame && expiresAtMs !== null
        ? placeOfMoved(this.#earlierIn(state).at(-1), before)
        : undefined;
    const ordinal = isSame || moved !== undefined ? last : Math.max(last + 1, change.ordinal ?? 1);
    this.#revision += 1;
    const written = {
      place,
      label,
      value,
      revision: change.revision ?? this.#revision,
      updatedAtMs,
      // A clock may have been set back meanwhile.
      sinceMs: isSame ? Math.min(before.sinceMs, updatedAtMs) : sinceMs,
      expiresAtMs,
      ordinal,
      // Who wrote a value stays with it.
      writtenBy: isSameValue ? before.writtenBy : author.writtenBy,
      sessionId: isSameValue ? before.sessionId : author.sessionId,
      ...(origin === undefined ? {} : { origin }),
      ...(pinned ? { pinned } : {}),
      ...(by === undefined ? {} : { author: by }),
    };
    if (before === undefined) {
      this.#facts += 1;
      if (last > 0) this.#heads -= 1;
    }
    const present = number === undefined ? written : { ...written, number };
    const ended =
      before === undefined || isSame
        ? NONE
        : [{ ...earlierOf(before, "replaced", sinceMs), ...ending, ...moved }];
    this.#replace(state, present, ended, ordinal);
    return before;
  }

  /** Forgets a fact, and its history unless it is kept. `found`: there was something to forget. */
  forget(
    change: FactName & { readonly keepHistory?: boolean },
    { userId }: Pick<Author, "userId">,
    nowMs: number,
  ): { readonly before: FactRecord | undefined; readonly found: boolean } {
    const state = this.#stateOf(change);
    const { present: before, last } = state;
    if (change.keepHistory) {
      if (before !== undefined)
        this.#end(state, before, this.#endingOf({ ended: "forgotten", endedBy: userId }), nowMs);
      return { before, found: before !== undefined };
    }
    if (last === 0) return { before: undefined, found: false };
    if (before === undefined) this.#heads -= 1;
    else this.#facts -= 1;
    this.#revision += 1;
    this.#wipe(state);
    return { before, found: true };
  }

  /** Moves a fact that has expired to the history, and returns it. To be called before the fact is changed. */
  endExpired(name: FactName, nowMs: number): FactRecord | undefined {
    const state = this.#stateOf(name);
    const { present } = state;
    if (present === undefined || isLive(present, nowMs)) return undefined;
    assert(present.expiresAtMs !== null, "an expired fact has a moment");
    this.#end(state, present, { ended: "expired" }, present.expiresAtMs);
    return present;
  }

  /** A name goes from all values, present and earlier, with the session; how many had it. */
  *disown(author: string): Sliced<number> {
    let count = 0;
    for (const state of [...this.#states.values()]) {
      yield;
      const { present, last, dropBelow } = state;
      const earlier = this.#earlierIn(state);
      const first = earlier.findIndex((fact) => isNamed(fact, author));
      const isPresent = present?.author === author;
      if (first < 0 && !isPresent) continue;
      count += earlier.filter((fact) => isNamed(fact, author)).length + Number(isPresent);
      const added = first < 0 ? state.added : earlier.slice(first).map((fact) => withoutName(fact, author));
      this.#put(state, { present: present && withoutName(present, author), last, dropBelow, added });
    }
    // The facts keep theirs: they have not changed.
    if (count > 0) this.#revision += 1;
    return count;
  }

  /** How many of the labels that were asked for have a fact in one of the places. */
  countLive(places: readonly Place[], nowMs: number, _labels?: ReadonlySet<string>): number {
    if (places.length === 0) return 0;
    const labels = this.liveLabels(places, nowMs);
    return places.length === 1 ? labels.length : new Set(labels).size;
  }

  /** The labels that were asked for and have a fact in one of the places; of several places, some twice. */
  liveLabels(places: readonly Place[], nowMs: number): readonly string[] {
    const labels: string[] = [];
    for (const { place, label, present } of this.#states.values())
      if (present !== undefined && isLive(present, nowMs) && places.includes(place)) labels.push(label);
    return labels;
  }

  /** The labels that were asked for at all. */
  get askedLabels(): ReadonlySet<string> {
    return new Set([...this.#states.values()].map(({ label }) => label));
  }

  /** Projects and worktrees that had facts when they were found. */
  get places(): number {
    return this.#found().places;
  }

  /** How many facts each place had that has more or fewer now. */
  *countPlaces(): Sliced<{ place: Place; before: number; now: number }[]> {
    const changes = new Map<Place, number>();
    for (const { place, found, present } of this.#states.values()) {
      yield;
      const change = Number(present !== undefined) - Number(found.present !== undefined);
      if (change !== 0) changes.set(place, (changes.get(place) ?? 0) + change);
    }
    return [...changes].map(([place, change]) => {
      const before = this.#found().factsAt(place);
      return { place, before, now: before + change };
    });
  }

  #found(): PlaceCounts {
    assert(this.#counts !== undefined, "the places of a large user were counted");
    return this.#counts;
  }

  /** Does a change whole or, where it throws, not at all. */
  *attempt<T>(change: Sliced<T>): Sliced<T> {
    const before = { revision: this.#revision, facts: this.#facts, heads: this.#heads };
    const [numbers, labels] = [this.#numbers, new Map(this.#labels)];
    const replaced: FactState[] = [];
    this.#replaced = replaced;
    try {
      return yield* change;
    } catch (error) {
      this.#revision = before.revision;
      this.#facts = before.facts;
      this.#heads = before.heads;
      for (const state of replaced.reverse()) this.#states.set(state.name, state);
      this.#numbers = numbers;
      this.#labels = labels;
      throw error;
    }
  }

  /** What has changed since it was found. */
  *differences(): Generator<FactDifference> {
    assert(this.#facts >= 0 && this.#heads >= 0, "facts and histories are counted once each");
    for (const { place, label, found, present, last, dropBelow, added } of this.#states.values()) {
      if (present === found.present && last === found.last && dropBelow + added.length === 0) continue;
      const { present: before, last: lastBefore } = found;
      yield { place, label, before, present, lastBefore, last, dropBelow, added };
    }
  }

  /** Labels of the person's own that were made, changed or are gone since they were found. */
  *labelDifferences(): Generator<{ readonly label: string; readonly present: FreeLabel | undefined }> {
    // Where nothing is left, no label is: one whose facts were lost would still count them.
    const isEmpty = this.#facts + this.#heads === 0;
    for (const [label, present] of this.#labels) {
      // One that is damaged has no uses, and goes.
      const isGone = isEmpty || present.uses === 0;
      if (present === this.#foundLabels.get(label) && !isGone) continue;
      yield { label, present: isGone ? undefined : present };
    }
  }

  /**
   * A label that is not there is made, with the next number. One whose last fact has just ended keeps its number. Returns
   * what the label was, where it was there and has another description now.
   */
  #noteLabel(label: string, { description }: FreeTerms): FormerLabel | undefined {
    const known = this.#labels.get(label);
    const before = this.freeLabel(label);
    if (before !== undefined && (description === undefined || description === before.description))
      return undefined;
    if (known === undefined) this.#numbers += 1;
    const { number, uses } = known ?? { number: this.#numbers, uses: 0 };
    this.#labels.set(label, { label, number, uses, description: description ?? null });
    return before === undefined ? undefined : { label, description: before.description };
  }

  /**
   * Counts the places of a label that the person has made. Where the account had the label meanwhile, some may not have
   * been counted.
   */
  #put(before: FactState, changed: Pick<FactState, "present" | "last" | "dropBelow" | "added">): void {
    this.#replaced?.push(before);
    const change = Number(changed.last > 0) - Number(before.last > 0);
    const known = this.#labels.get(before.label);
    if (change !== 0 && known !== undefined)
      this.#labels.set(before.label, { ...known, uses: Math.max(0, known.uses + change) });
    this.#states.set(before.name, { ...before, ...changed });
  }

  #earlierIn({ found, added, dropBelow }: FactState): readonly EarlierFact[] {
    if (this.historyMax === 0) return NONE;
    const { ordinal: changed = EVERYTHING } = added[0] ?? {};
    const stored = found.earlier.filter(({ ordinal }) => ordinal >= dropBelow && ordinal < changed);
    return [...stored, ...added];
  }

  /** Of a whole user, or place, what was not found is not there. */
  #stateOf({ place, label }: FactName): FactState {
    const name = nameOf({ place, label });
    const state = this.#states.get(name);
    assert(state !== undefined || this.#isWhole, "a change names every fact that it looks at");
    if (state !== undefined) return state;
    const found = { place, label, present: undefined, earlier: [], last: 0 };
    return { place, label, name, found, present: undefined, last: 0, dropBelow: 0, added: NONE };
  }

  /** The fact becomes the last entry of its history. */
  #end(state: FactState, fact: FactRecord, { ended, ...by }: Ending, endedAtMs: number): void {
    assert(fact.ordinal === state.last, "the value that ends is the last one");
    this.#facts -= 1;
    this.#revision += 1;
    if (this.historyMax === 0) {
      this.#wipe(state);
      return;
    }
    this.#heads += 1;
    this.#replace(state, undefined, [{ ...earlierOf(fact, ended, endedAtMs), ...by }], fact.ordinal + 1);
  }

  /** Who has ended a value is kept where it is a shared project's. */
  #endingOf({ endedBy, ...ending }: Ending): Ending {
    return this.#isOfProject && endedBy !== undefined ? { ...ending, endedBy } : ending;
  }

  #wipe(state: FactState): void {
    this.#put(state, { present: undefined, last: 0, dropBelow: EVERYTHING, added: NONE });
  }

  /** @param next the ordinal that the history ends before */
  #replace(state: FactState, present: FactRecord | undefined, ended: readonly EarlierFact[], next: number) {
    const floor = next - this.historyMax;
    const { ordinal: from = EVERYTHING } = ended[0] ?? {};
    const before = state.added.filter(({ ordinal }) => ordinal < from);
    const added = [...before, ...ended].filter(({ ordinal }) => ordinal >= floor);
    const dropBelow = Math.max(state.dropBelow, floor > 1 ? floor : 0);
    this.#put(state, { present, last: present?.ordinal ?? state.last, dropBelow, added });
  }
}

export function nameOf({ place, label }: FactName): string {
  return `${label} ${place}`;
}

/** Whether a user has written a value of a shared project, or has ended it. */
export function isNamed(fact: Pick<EarlierFact, "author" | "endedBy">, name: string): boolean {
  return fact.author === name || fact.endedBy === name;
}

function withoutName<F extends FactRecord | EarlierFact>(fact: F, name: string): F {
  const { author, endedBy, ...rest } = fact as EarlierFact;
  const kept = { ...rest, ...(author && author !== name && { author }) };
  const sessionId = author === name ? null : fact.sessionId;
  return { ...kept, sessionId, ...(endedBy && endedBy !== name && { endedBy }) } as F;
}

export function isLive({ expiresAtMs }: Pick<FactRecord, "expiresAtMs">, nowMs: number): boolean {
  return expiresAtMs === null || expiresAtMs > nowMs;
}
