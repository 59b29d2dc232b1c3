/**
 * A fact's life in plain maps: what accounts, labels, users, places, facts, their history, counts and time must be after
 * each step. It is written from the contract and from docs/decisions/0022, not from the code, and does everything the
 * slow and simple way. Revisions are the store's own: the model knows their order, and learns the numbers by `learn`.
 */

import { LABELS } from "../../../src/base/channel-labels.ts";
import type { NewLabel } from "../../../src/memory/label-terms.ts";
import { MadeLabels } from "./made-labels.ts";
import { addTerms, changeTerms, isInside, isStandard, placesOf, standardTerms } from "./places.ts";
import { planOf, stepsBack } from "./plan.ts";
import { Refused } from "./refused.ts";
import { type KeptReplay, type KeyedRequest, Replays } from "./replays.ts";
import {
  type Change,
  changesOf,
  type Event,
  endValue,
  keptOf,
  type Life,
  type Past,
  type Present,
  relabel,
  setValue,
  shownLife,
  type WrittenValue,
} from "./values.ts";

interface Account {
  readonly labels: Map<string, NewLabel>;
  readonly hidden: Set<string>;
  /** By user, then by place and label. */
  readonly users: Map<string, Map<string, Life>>;
  made: MadeLabels;
  replays: Replays;
  used: number;
}

export interface Person {
  readonly user: string;
  readonly project?: string | undefined;
}

export interface Author {
  readonly writtenBy?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** The number that a value has in the store. */
interface Learnt {
  readonly value: Present | Past;
  readonly revision: number;
}

export class LifeModel {
  nowMs: number;
  historyMax: number;
  /** What the clock has said. */
  readonly moments: number[];
  readonly limits: readonly (number | null)[];
  readonly #accounts: Account[];
  #revision = 0;
  #writes = 0;

  constructor(options: { nowMs: number; historyMax: number; limits: readonly (number | null)[] }) {
    this.nowMs = options.nowMs;
    this.moments = [options.nowMs];
    this.historyMax = options.historyMax;
    this.limits = options.limits;
    this.#accounts = options.limits.map(() => ({
      labels: new Map(),
      hidden: new Set(),
      users: new Map(),
      made: new MadeLabels(),
      replays: new Replays(),
      used: 0,
    }));
  }

  passTime(ms: number): void {
    this.nowMs += ms;
    this.moments.push(this.nowMs);
  }

  used(account: number): number {
    return this.#accounts[account].used;
  }

  labels(account: number): NewLabel[] {
    return [...this.#accounts[account].labels.values()];
  }

  hidden(account: number): string[] {
    return [...this.#accounts[account].hidden];
  }

  addLabel(account: number, wanted: NewLabel): { isNew: boolean } {
    return addTerms(this.#accounts[account].labels, wanted);
  }

  changeLabel(account: number, label: string, change: Partial<NewLabel>): void {
    changeTerms(this.#accounts[account], label, change);
  }

  /** Of a label that the account does not have, those that any other has. */
  termsOf(account: number, label: string): NewLabel {
    return this.#accounts[account].labels.get(label) ?? standardTerms(label);
  }

  /** Refuses a label that neither the account nor the person has. */
  requireLabel(account: number, user: string, label: string): void {
    if (!this.#isListed(account, label) && !this.#accounts[account].made.has(user, label))
      throw new Refused("unknown_label");
  }

  #isListed(account: number, label: string): boolean {
    return isStandard(label) || this.#accounts[account].labels.has(label);
  }

  /** The labels that a person has made, with their numbers where they are known, and the places that have them. */
  madeLabels(account: number, user: string): ReturnType<MadeLabels["withUses"]> {
    const { made, users } = this.#accounts[account];
    return made.withUses(user, [...(users.get(user)?.values() ?? [])]);
  }

  learnNumbers(account: number, user: string, numbers: ReadonlyMap<string, number>): void {
    this.#accounts[account].made.learn(user, numbers);
  }

  // Reading

  users(account: number): string[] {
    const users = [...this.#accounts[account].users.keys()];
    return users.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  /** The labels at places of a user, with what they have now and had before, as far as it is kept. */
  lives(account: number, user: string): Life[] {
    const lives = [...(this.#accounts[account].users.get(user)?.values() ?? [])];
    return lives
      .map((life) => shownLife(life, this.nowMs, this.historyMax))
      .filter(({ present, past }) => present !== undefined || past.length > 0);
  }

  at(account: number, user: string, place: string, label: string): Present | undefined {
    return this.lives(account, user).find((life) => life.place === place && life.label === label)?.present;
  }

  /** The facts that count, in the order of their channels. */
  facts(account: number, { user, project }: Person): Present[] {
    const places = placesOf(project);
    const present = this.lives(account, user).flatMap(({ present }) => present ?? []);
    const inside = present.filter(({ place }) => places.includes(place));
    const labels = new Set(inside.map(({ label }) => label));
    const inOrder = this.#labelsInOrder(account, user).filter((label) => labels.has(label));
    return inOrder.map((label) => {
      const found = inside.filter((fact) => fact.label === label);
      return found.reduce((a, b) => (places.indexOf(a.place) > places.indexOf(b.place) ? a : b));
    });
  }

  /** When the next fact of these places ends, shadowed ones included. */
  nextEndMs(account: number, { user, project }: Person): number | null {
    const ends = this.lives(account, user).flatMap(({ place, present }) =>
      present?.expiresAtMs != null && placesOf(project).includes(place) ? [present.expiresAtMs] : [],
    );
    return ends.length === 0 ? null : Math.min(...ends);
  }

  decode(account: number, person: Person, label: string): Present {
    this.requireLabel(account, person.user, label);
    const found = this.facts(account, person).find((fact) => fact.label === label);
    if (found === undefined) throw new Refused("fact_not_found");
    return found;
  }

  /** The newest first, with its place. */
  history(account: number, { user, project }: Person, label: string): (Present | Past)[] {
    this.requireLabel(account, user, label);
    const lives = this.lives(account, user).filter((life) => life.label === label);
    const inner = placesOf(project)
      .reverse()
      .flatMap((place) => lives.filter((life) => life.place === place));
    const found = inner.find(({ present }) => present !== undefined) ?? inner[0];
    if (found === undefined) throw new Refused("fact_not_found");
    return [...(found.present === undefined ? [] : [found.present]), ...[...found.past].reverse()];
  }

  changes(account: number, person: Person): Event[] {
    return changesOf(this.#livesInside(account, person));
  }

  count(account: number, { user, project }: Person): number {
    return this.facts(account, { user, project }).length;
  }

  refuseTaken(account: number, replay: KeyedRequest | undefined): void {
    if (this.#accounts[account].replays.isTaken(replay, this.nowMs))
      throw new Refused("idempotency_mismatch");
  }

  /** The one way in which facts change: all or none. */
  write(
    account: number,
    person: Person,
    changes: readonly Change[],
    options: Author & { counts: boolean; replay?: KeyedRequest | undefined },
  ): { count: number; previous: (Present | undefined)[]; found: number } {
    const { user } = person;
    const { writtenBy = null, sessionId = null, replay, counts } = options;
    const known = this.#accounts[account];
    const counted = counts ? changes.filter(({ value }) => value !== null).length : 0;
    this.#requireRoom(account, counted);
    for (const { place, label, ifRevision } of changes) {
      const { revision = 0 } = this.at(account, user, place, label) ?? {};
      if (ifRevision !== undefined && revision !== ifRevision) throw new Refused("revision_mismatch");
    }
    for (const { place, label } of changes) this.#endExpired(account, user, place, label);
    this.#writes += 1;
    let found = 0;
    const previous = changes.map((change) => {
      const { place, label, value, expiresAtMs = null, keepHistory, origin } = change;
      const life = this.#lifeOf(account, user, place, label);
      const before = life.present;
      if (value !== null) {
        if (!this.#isListed(account, label)) known.made.make(user, label);
        this.#set(life, { value, expiresAtMs, writtenBy, sessionId, origin });
      } else if (keepHistory) {
        if (before !== undefined) {
          found += 1;
          endValue(life, "forgotten", this.nowMs, this.historyMax);
        }
      } else {
        if (before !== undefined || life.past.length > 0) found += 1;
        life.present = undefined;
        life.past = [];
      }
      return before;
    });
    this.#tidy(account);
    known.used += counted;
    const count = this.count(account, person);
    const keepsAll = this.historyMax > 0;
    if (found > 0 && changes.some((change) => change.value === null && !(change.keepHistory && keepsAll)))
      known.replays.forget(user);
    if (replay !== undefined) known.replays.keep(replay, { user, count, nowMs: this.nowMs });
    return { count, previous, found };
  }

  /**
   * The fact on a label at a place goes to another label there, with its past. Where that had values, the past of each stays
   * where it is.
   */
  rename(
    account: number,
    person: Person,
    renaming: Pick<Change, "place" | "label" | "ifRevision"> & { readonly to: string },
    replay: KeyedRequest | undefined,
  ): { count: number } {
    const { user } = person;
    const { place, label, to, ifRevision } = renaming;
    const known = this.#accounts[account];
    if (ifRevision !== undefined && this.at(account, user, place, label)?.revision !== ifRevision)
      throw new Refused("revision_mismatch");
    for (const name of [label, to]) this.#endExpired(account, user, place, name);
    this.#writes += 1;
    const [source, target] = [label, to].map((name) => this.#lifeOf(account, user, place, name));
    if (!this.#isListed(account, to)) known.made.make(user, to);
    if (keptOf(target, this.historyMax).length === 0) {
      this.#relabel(source, target);
      known.replays.forget(user);
    } else {
      this.#set(target, source.present!);
      endValue(source, "forgotten", this.nowMs, this.historyMax);
    }
    this.#tidy(account);
    const count = this.count(account, person);
    if (replay !== undefined) known.replays.keep(replay, { user, count, nowMs: this.nowMs });
    return { count };
  }

  #relabel(source: Life, target: Life): void {
    const { nowMs, historyMax } = this;
    const moved = () => ({ write: this.#writes, revision: ++this.#revision });
    relabel(source, target, { nowMs, historyMax, moved });
  }

  /** Puts facts back to what they were, under the labels that they had: with their past, if nothing is in its way. */
  rollBack(account: number, person: Person, toMs: number, author: Author, unchangedSinceMs?: number): void {
    const { user } = person;
    const { made, replays } = this.#accounts[account];
    const plan = this.plan(account, person, toMs, unchangedSinceMs);
    const { back, moves, writes, counted } = stepsBack(plan, this.lives(account, user));
    this.#requireRoom(account, counted);
    const lifeAt = (at: { place: string; label: string }) => this.#lifeOf(account, user, at.place, at.label);
    // A label that is not there any more is made again, whoever had it then.
    for (const then of back) {
      const { present, past } = lifeAt(then);
      if (present === undefined && past.length === 0 && !isStandard(then.label)) made.make(user, then.label);
    }
    this.#writes += 1;
    for (const move of moves) {
      this.#endExpired(account, user, move.place, move.label);
      this.#relabel(lifeAt(move.life), lifeAt(move));
    }
    this.write(account, person, writes, { ...author, counts: false });
    this.#accounts[account].used += counted;
    if (moves.length > 0) replays.forget(user);
  }

  #requireRoom(account: number, counted: number): void {
    const limit = this.limits[account] ?? Infinity;
    if (counted > 0 && this.used(account) + counted > limit) throw new Refused("monthly_limit_exceeded");
  }

  #set(life: Life, value: WrittenValue): void {
    const { nowMs, historyMax } = this;
    setValue(life, value, { nowMs, historyMax, write: this.#writes, revision: ++this.#revision });
  }

  /** What was answered to the same request before. */
  replayOf(account: number, request: KeyedRequest): KeptReplay | undefined {
    return this.#accounts[account].replays.of(request, this.nowMs);
  }

  forgetUser(account: number, { user, project }: Person) {
    const lives = this.#accounts[account].users.get(user);
    const isAsked = ({ place }: Life) => project === undefined || isInside(place, project);
    const gone = [...(lives?.entries() ?? [])].filter(([, life]) => isAsked(life));
    // Where the last facts have expired, there may be nothing left but answers.
    this.#accounts[account].replays.forget(user);
    if (gone.length === 0) throw new Refused("not_found");
    for (const [name] of gone) lives!.delete(name);
    this.#tidy(account);
    return { labels: gone.length, places: new Set(gone.map(([, { place }]) => place)).size };
  }

  /** What putting a user back to a moment would change. */
  plan(account: number, person: Person, toMs: number, unchangedSinceMs?: number): ReturnType<typeof planOf> {
    return planOf(this.#livesInside(account, person), toMs, this.nowMs, unchangedSinceMs);
  }

  sweep(): void {
    for (const [account, { users }] of this.#accounts.entries())
      for (const [user, lives] of users)
        for (const { place, label } of [...lives.values()]) this.#endExpired(account, user, place, label);
    this.shorten();
  }

  /** A lower limit holds for every history, not only for those of facts that are written again. */
  shorten(): void {
    for (const [account, { users }] of this.#accounts.entries()) {
      for (const lives of users.values())
        for (const life of lives.values()) {
          const last = life.present ? life.present.ordinal - 1 : (life.past.at(-1)?.ordinal ?? 0);
          life.past = life.past.filter(({ ordinal }) => ordinal > last - this.historyMax);
        }
      this.#tidy(account);
    }
  }

  /** The accounts are in another store now: what has expired is history, and what was answered is not known there. */
  move(): void {
    this.sweep();
    for (const [number, account] of this.#accounts.entries()) {
      account.replays = new Replays();
      // What the account has declared meanwhile is declared there, and the others have new numbers.
      account.made = new MadeLabels();
      for (const [user, lives] of account.users)
        for (const { label } of lives.values())
          if (!this.#isListed(number, label)) account.made.make(user, label);
    }
  }

  /** Gives the values the store's numbers, which must be in the same order. */
  learn(account: number, user: string, revisions: readonly Learnt[]): void {
    for (const { value, revision } of revisions) {
      value.revision = revision;
      // One that has expired without anybody having noticed is shown as a copy.
      const { present } = this.#lifeOf(account, user, value.place, value.label);
      if (present?.write === value.write && present.ordinal === value.ordinal) present.revision = revision;
      this.#revision = Math.max(this.#revision, revision);
    }
  }

  copy(): LifeModel {
    const copy = new LifeModel(this);
    copy.#revision = this.#revision;
    copy.#writes = this.#writes;
    copy.moments.splice(0, 1, ...this.moments);
    // A clone is of no class.
    for (const [i, account] of structuredClone(this.#accounts).entries())
      copy.#accounts[i] = {
        ...account,
        replays: new Replays(account.replays.kept),
        made: new MadeLabels(account.made.byUser),
      };
    return copy;
  }

  #isLive({ expiresAtMs }: Present): boolean {
    return expiresAtMs === null || expiresAtMs > this.nowMs;
  }

  /** Those of the person come last, by label. */
  #labelsInOrder(account: number, user: string): string[] {
    const made = this.#accounts[account].made.of(user).map(({ label }) => label);
    const free = made.filter((label) => !this.#isListed(account, label));
    return [...LABELS, ...this.#accounts[account].labels.keys(), ...free.sort()];
  }

  #livesInside(account: number, { user, project }: Person): Life[] {
    return this.lives(account, user).filter(({ place }) => project === undefined || isInside(place, project));
  }

  #lifeOf(account: number, user: string, place: string, label: string): Life {
    const { users } = this.#accounts[account];
    const lives = users.get(user) ?? new Map<string, Life>();
    users.set(user, lives);
    const name = `${label} ${place}`;
    const life = lives.get(name) ?? { place, label, present: undefined, past: [] };
    lives.set(name, life);
    return life;
  }

  #endExpired(account: number, user: string, place: string, label: string): void {
    const life = this.#lifeOf(account, user, place, label);
    if (life.present !== undefined && !this.#isLive(life.present))
      endValue(life, "expired", life.present.expiresAtMs!, this.historyMax);
  }

  /** Where nothing is left of a label or a user, it is not known any more. */
  #tidy(account: number): void {
    const { users } = this.#accounts[account];
    for (const [user, lives] of users) {
      for (const [name, { present, past }] of lives)
        if (present === undefined && past.length === 0) lives.delete(name);
      if (lives.size === 0) users.delete(user);
    }
    this.#accounts[account].made.keep((user) => {
      return new Set([...(users.get(user)?.values() ?? [])].map(({ label }) => label));
    });
  }
}
