/**
 * The memories of a person and of a project that the person shares, while both are locked, as the law sees them in one
 * write: what is at the shared place is the project's, all else the person's. Each keeps its own counts, revisions and
 * labels.
 */

import type { Sliced } from "../../base/slices.ts";
import type { EarlierFact, FactChange, FactRecord } from "../ports.ts";
import type { FreeLabel, Place } from "../records.ts";
import type { Author, FactName } from "./found-user.ts";
import type { Memory, UserMemory } from "./user-memory.ts";

export class JointMemory implements Memory {
  readonly parts: readonly UserMemory[];
  readonly #own: UserMemory;
  readonly #shared: UserMemory;
  readonly #place: Place;

  /** @param place the shared one; in the project's memory it is the own place */
  constructor(own: UserMemory, shared: UserMemory, place: Place) {
    this.parts = [own, shared];
    this.#own = own;
    this.#shared = shared;
    this.#place = place;
  }

  get historyMax(): number {
    return this.#own.historyMax;
  }

  /** The person's. */
  get revision(): number {
    return this.#own.revision;
  }

  revisionAt(place: Place): number {
    return this.#of(place).revision;
  }

  /** At a place; without one, that of the person, or of the project. */
  freeLabel(label: string, place?: Place): FreeLabel | undefined {
    if (place !== undefined) return this.#of(place).freeLabel(label);
    return this.#own.freeLabel(label) ?? this.#shared.freeLabel(label);
  }

  get names(): readonly FactName[] {
    return [...this.#own.names, ...this.#shared.names.map(({ label }) => ({ place: this.#place, label }))];
  }

  isKnown(name: FactName): boolean {
    return this.#of(name.place).isKnown(this.#inside(name));
  }

  live(name: FactName, nowMs: number): FactRecord | undefined {
    const fact = this.#of(name.place).live(this.#inside(name), nowMs);
    return fact && { ...fact, place: name.place };
  }

  earlier(name: FactName, nowMs: number): readonly EarlierFact[] {
    const { place } = name;
    const earlier = this.#of(place).earlier(this.#inside(name), nowMs);
    return place === this.#place ? earlier.map((fact) => ({ ...fact, place })) : earlier;
  }

  earlierCount(name: FactName, nowMs: number): number {
    return this.#of(name.place).earlierCount(this.#inside(name), nowMs);
  }

  isEmpty(name: FactName, nowMs: number): boolean {
    return this.#of(name.place).isEmpty(this.#inside(name), nowMs);
  }

  set(change: FactChange, value: string, author: Author, nowMs: number): FactRecord | undefined {
    return this.#of(change.place).set(this.#inside(change), value, author, nowMs);
  }

  forget(
    change: FactName & { readonly keepHistory?: boolean },
    author: Pick<Author, "userId">,
    nowMs: number,
  ) {
    return this.#of(change.place).forget(this.#inside(change), author, nowMs);
  }

  endExpired(name: FactName, nowMs: number): FactRecord | undefined {
    const fact = this.#of(name.place).endExpired(this.#inside(name), nowMs);
    return fact && { ...fact, place: name.place };
  }

  countLive(places: readonly Place[], nowMs: number, labels?: ReadonlySet<string>): number {
    const inOwn = places.filter((place) => place !== this.#place);
    const live = new Set([
      ...this.#own.liveLabels(inOwn, nowMs),
      ...(inOwn.length < places.length ? this.#shared.liveLabels([""], nowMs) : []),
    ]);
    let count = 0;
    for (const label of live) if (labels?.has(label) ?? true) count += 1;
    return count;
  }

  *attempt<T>(change: Sliced<T>): Sliced<T> {
    return yield* this.#own.attempt(this.#shared.attempt(change));
  }

  #of(place: Place): UserMemory {
    return place === this.#place ? this.#shared : this.#own;
  }

  #inside<N extends FactName>(name: N): N {
    return name.place === this.#place ? { ...name, place: "" } : name;
  }
}
