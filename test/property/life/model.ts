/**
 * A fact's life in plain maps: what accounts, labels, users, places, facts, their history, counts and time must be after
 * each step. It is written from the contract and from docs/decisions/0022, not from the code, and does everything the
 * slow and simple way. Revisions are the store's own: the model knows their order, and learns the numbers by `learn`.
 */

import type { NewLabel } from "../../../src/memory/label-terms.ts";
import { projectUser } from "../../../src/memory/shared-places.ts";
import { type Author, KnownLives, type Person, type RolledBack } from "./known-lives.ts";
import { MadeLabels } from "./made-labels.ts";
import { addTerms, changeTerms, isInside, isStandard } from "./places.ts";
import { stepsBack } from "./plan.ts";
import { Refused } from "./refused.ts";
import { type KeptReplay, type KeyedRequest, Replays } from "./replays.ts";
import { authorAt, disown, keptAt, nameEnder } from "./sharing.ts";
import {
  type Change,
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

/** The number that a value has in the store. */
interface Learnt {
  readonly value: Present | Past;
  readonly revision: number;
}

export class LifeModel extends KnownLives {
  #revision = 0;
  #writes = 0;

  passTime(ms: number): void {
    this.nowMs += ms;
    this.moments.push(this.nowMs);
  }

  /** For what goes to another place. */
  moving(account: number) {
    const { nowMs, historyMax } = this;
    return {
      write: ++this.#writes,
      nowMs,
      historyMax,
      isListed: (label: string) => this.isListed(account, label),
    };
  }

  forgetAnswers(account: number, users: readonly string[]): void {
    this.accounts[account].replays.forget(users);
    this.#tidy(account);
  }

  addLabel(account: number, wanted: NewLabel): { isNew: boolean } {
    return addTerms(this.accounts[account].labels, wanted);
  }

  changeLabel(account: number, label: string, change: Partial<NewLabel>): void {
    changeTerms(this.accounts[account], label, change);
  }

  learnNumbers(account: number, user: string, numbers: ReadonlyMap<string, number>): void {
    this.accounts[account].made.learn(user, numbers);
  }

  refuseTaken(account: number, replay: KeyedRequest | undefined): void {
    if (this.accounts[account].replays.isTaken(replay, this.nowMs)) throw new Refused("idempotency_mismatch");
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
    const known = this.accounts[account];
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
        this.#make(account, user, { place, label });
        this.#set(life, { value, expiresAtMs, writtenBy, sessionId, origin, author: authorAt(user, place) });
      } else if (keepHistory) {
        if (before !== undefined) {
          found += 1;
          endValue(life, "forgotten", this.nowMs, this.historyMax);
          nameEnder(life, authorAt(user, place));
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
      known.replays.forget(this.owners(account, person));
    const users = [...new Set(changes.map(({ place }) => keptAt(user, place)[0]))];
    if (replay !== undefined) known.replays.keep(replay, { users, count, nowMs: this.nowMs });
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
    const known = this.accounts[account];
    if (ifRevision !== undefined && this.at(account, user, place, label)?.revision !== ifRevision)
      throw new Refused("revision_mismatch");
    for (const name of [label, to]) this.#endExpired(account, user, place, name);
    this.#writes += 1;
    const [source, target] = [label, to].map((name) => this.#lifeOf(account, user, place, name));
    this.#make(account, user, { place, label: to });
    if (keptOf(target, this.historyMax).length === 0) {
      this.#relabel(source, target, authorAt(user, place));
      known.replays.forget(this.owners(account, person));
    } else {
      this.#set(target, source.present!);
      endValue(source, "forgotten", this.nowMs, this.historyMax);
      nameEnder(source, authorAt(user, place));
    }
    this.#tidy(account);
    const count = this.count(account, person);
    const users = [keptAt(user, place)[0]];
    if (replay !== undefined) known.replays.keep(replay, { users, count, nowMs: this.nowMs });
    return { count };
  }

  #make(account: number, user: string, { place, label }: { place: string; label: string }): void {
    if (!this.isListed(account, label)) this.accounts[account].made.make(keptAt(user, place)[0], label);
  }

  #relabel(source: Life, target: Life, endedBy: string | undefined): void {
    const { nowMs, historyMax } = this;
    const moved = () => ({ write: this.#writes, revision: ++this.#revision });
    relabel(source, target, { nowMs, historyMax, moved });
    nameEnder(target, endedBy);
  }

  /** Puts facts back to what they were, under the labels that they had: with their past, if nothing is in its way. */
  rollBack(
    account: number,
    person: RolledBack,
    toMs: number,
    author: Author,
    unchangedSinceMs?: number,
  ): void {
    const { user, scope } = person;
    const { made, replays } = this.accounts[account];
    const plan = this.plan(account, person, toMs, unchangedSinceMs);
    const all = scope === undefined ? this.lives(account, user) : this.livesInside(account, person);
    const { back, moves, writes, counted } = stepsBack(plan, all);
    this.#requireRoom(account, counted);
    const lifeAt = (at: { place: string; label: string }) => this.#lifeOf(account, user, at.place, at.label);
    // A label that is not there any more is made again, whoever had it then.
    for (const then of back) {
      const { present, past } = lifeAt(then);
      const [owner] = keptAt(user, then.place);
      if (present === undefined && past.length === 0 && !isStandard(then.label)) made.make(owner, then.label);
    }
    this.#writes += 1;
    for (const move of moves) {
      this.#endExpired(account, user, move.place, move.label);
      this.#relabel(lifeAt(move.life), lifeAt(move), authorAt(user, move.place));
    }
    this.write(account, person, writes, { ...author, counts: false });
    this.accounts[account].used += counted;
    if (moves.length > 0) replays.forget(this.owners(account, person));
  }

  #requireRoom(account: number, counted: number): void {
    const limit = this.limits[account] ?? Infinity;
    if (counted > 0 && this.used(account) + counted > limit) throw new Refused("monthly_limit_exceeded");
  }

  #set(life: Life, value: WrittenValue): void {
    const { nowMs, historyMax } = this;
    setValue(life, value, { nowMs, historyMax, write: this.#writes, revision: ++this.#revision });
  }

  /** What was answered to the same request before; without its facts where the person does not share them any more. */
  replayOf(account: number, person: Person, request: KeyedRequest): KeptReplay | undefined {
    const kept = this.accounts[account].replays.of(request, this.nowMs);
    const owners = this.owners(account, person);
    return kept?.users.every((user) => owners.includes(user)) ? kept : kept && { ...kept, facts: undefined };
  }

  forgetUser(account: number, { user, project }: Person) {
    const lives = this.accounts[account].users.get(user);
    const isAsked = ({ place }: Life) => project === undefined || isInside(place, project);
    const gone = [...(lives?.entries() ?? [])].filter(([, life]) => isAsked(life));
    // Where the last facts have expired, there may be nothing left but answers.
    this.accounts[account].replays.forget([user]);
    const left = project === undefined ? this.#disown(account, user) + this.#leave(account, user) : 0;
    if (gone.length + left === 0) throw new Refused("not_found");
    for (const [name] of gone) lives!.delete(name);
    this.#tidy(account);
    return { labels: gone.length, places: new Set(gone.map(([, { place }]) => place)).size };
  }

  /** At a place alone; the labels that went. */
  clear(account: number, { user, project = "" }: Person, kept: readonly string[]): string[] {
    const lives = [...(this.accounts[account].users.get(user)?.values() ?? [])];
    const cleared = lives.filter((life) => {
      if (life.place !== project) return false;
      const { present, past } = shownLife(life, this.nowMs, this.historyMax);
      return ![...past, ...(present === undefined ? [] : [present])].some(({ value }) =>
        kept.includes(value),
      );
    });
    for (const life of cleared) {
      life.present = undefined;
      life.past = [];
    }
    if (cleared.length > 0) this.accounts[account].replays.forget([user]);
    this.#tidy(account);
    return cleared.map(({ label }) => label).sort();
  }

  /** The name goes from what is shared; how many values had it. */
  #disown(account: number, user: string): number {
    const { sharings, users } = this.accounts[account];
    const teams = [...sharings.keys()].map((project) => users.get(projectUser(project))?.values() ?? []);
    return teams.reduce((count, lives) => count + disown(lives, user), 0);
  }

  /** The name goes from the members of projects; how many had it. */
  #leave(account: number, user: string): number {
    const { sharings } = this.accounts[account];
    const left = [...sharings].filter(([, members]) => members?.includes(user));
    for (const [project, members] of left)
      sharings.set(
        project,
        members!.filter((member) => member !== user),
      );
    return left.length;
  }

  sweep(): void {
    for (const [account, { users }] of this.accounts.entries())
      for (const [user, lives] of users)
        for (const { place, label } of [...lives.values()]) this.#endExpired(account, user, place, label);
    this.shorten();
  }

  /** A lower limit holds for every history, not only for those of facts that are written again. */
  shorten(): void {
    for (const [account, { users }] of this.accounts.entries()) {
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
    for (const [number, account] of this.accounts.entries()) {
      account.replays = new Replays();
      // What the account has declared meanwhile is declared there, and the others have new numbers.
      account.made = new MadeLabels();
      for (const [user, lives] of account.users)
        for (const { label } of lives.values())
          if (!this.isListed(number, label)) account.made.make(user, label);
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

  #isLive({ expiresAtMs }: Present): boolean {
    return expiresAtMs === null || expiresAtMs > this.nowMs;
  }

  /** The place may be a shared one. */
  #lifeOf(account: number, ofUser: string, at: string, label: string): Life {
    const { users } = this.accounts[account];
    const [user, place] = keptAt(ofUser, at);
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
    const { users } = this.accounts[account];
    for (const [user, lives] of users) {
      for (const [name, { present, past }] of lives)
        if (present === undefined && past.length === 0) lives.delete(name);
      if (lives.size === 0) users.delete(user);
    }
    this.accounts[account].made.keep((user) => {
      return new Set([...(users.get(user)?.values() ?? [])].map(({ label }) => label));
    });
  }
}
