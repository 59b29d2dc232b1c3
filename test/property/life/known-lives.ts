/** What can be seen of accounts in the model: labels, users, places, facts, their history and what changed, without a change. */

import { LABELS } from "../../../src/base/channel-labels.ts";
import type { NewLabel } from "../../../src/memory/label-terms.ts";
import { isShared } from "../../../src/memory/shared-places.ts";
import { MadeLabels } from "./made-labels.ts";
import { isInside, isStandard, standardTerms } from "./places.ts";
import { planOf } from "./plan.ts";
import { Refused } from "./refused.ts";
import { Replays } from "./replays.ts";
import { keptAt, type Sharings, seenAt, viewedPlaces } from "./sharing.ts";
import { changesOf, type Event, type Life, type Past, type Present, shownLife } from "./values.ts";

export interface Account {
  readonly sharings: Sharings;
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

/** Of a rollback: the scope means what is shared. */
export interface RolledBack extends Person {
  readonly scope?: "project" | undefined;
}

export class KnownLives {
  nowMs: number;
  historyMax: number;
  /** What the clock has said. */
  readonly moments: number[];
  readonly limits: readonly (number | null)[];
  protected readonly accounts: Account[];

  constructor(options: { nowMs: number; historyMax: number; limits: readonly (number | null)[] }) {
    this.nowMs = options.nowMs;
    this.moments = [options.nowMs];
    this.historyMax = options.historyMax;
    this.limits = options.limits;
    this.accounts = options.limits.map(() => ({
      sharings: new Map(),
      labels: new Map(),
      hidden: new Set(),
      users: new Map(),
      made: new MadeLabels(),
      replays: new Replays(),
      used: 0,
    }));
  }

  used(account: number): number {
    return this.accounts[account].used;
  }

  labels(account: number): NewLabel[] {
    return [...this.accounts[account].labels.values()];
  }

  hidden(account: number): string[] {
    return [...this.accounts[account].hidden];
  }

  /** Of a label that the account does not have, those that any other has. */
  termsOf(account: number, label: string): NewLabel {
    return this.accounts[account].labels.get(label) ?? standardTerms(label);
  }

  /** Refuses a label that neither the account has, nor the person, nor the project that is shared. */
  requireLabel(account: number, person: Person, label: string): void {
    const { made } = this.accounts[account];
    if (!this.isListed(account, label) && !this.owners(account, person).some((user) => made.has(user, label)))
      throw new Refused("unknown_label");
  }

  /** The person, and the team. */
  protected owners(account: number, person: Person): string[] {
    return [...new Set(this.places(account, person).map((place) => keptAt(person.user, place)[0]))];
  }

  places(account: number, person: Person): string[] {
    return viewedPlaces(this.accounts[account].sharings, person);
  }

  account(account: number): Account {
    return this.accounts[account];
  }

  protected isListed(account: number, label: string): boolean {
    return isStandard(label) || this.accounts[account].labels.has(label);
  }

  /** The labels that a person has made, with their numbers where they are known, and the places that have them. */
  madeLabels(account: number, user: string): ReturnType<MadeLabels["withUses"]> {
    const { made, users } = this.accounts[account];
    return made.withUses(user, [...(users.get(user)?.values() ?? [])]);
  }

  // Reading

  users(account: number): string[] {
    const users = [...this.accounts[account].users.keys()];
    return users.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  /** The labels at places of a user, with what they have now and had before, as far as it is kept. */
  lives(account: number, user: string): Life[] {
    const lives = [...(this.accounts[account].users.get(user)?.values() ?? [])];
    return lives
      .map((life) => shownLife(life, this.nowMs, this.historyMax))
      .filter(({ present, past }) => present !== undefined || past.length > 0);
  }

  at(account: number, user: string, place: string, label: string): Present | undefined {
    return this.livesAt(account, user, place).find((life) => life.label === label)?.present;
  }

  /** Of one place, which may be a shared one. */
  livesAt(account: number, user: string, place: string): Life[] {
    const [owner, inner] = keptAt(user, place);
    return seenAt(
      place,
      this.lives(account, owner).filter((life) => life.place === inner),
    );
  }

  /** Of all places of a call. */
  viewed(account: number, person: Person): Life[] {
    return this.places(account, person).flatMap((place) => this.livesAt(account, person.user, place));
  }

  /** The facts that count, in the order of their channels. */
  facts(account: number, person: Person): Present[] {
    const places = this.places(account, person);
    const inside = this.viewed(account, person).flatMap(({ present }) => present ?? []);
    const labels = new Set(inside.map(({ label }) => label));
    const inOrder = this.labelsInOrder(account, person).filter((label) => labels.has(label));
    return inOrder.map((label) => {
      const found = inside.filter((fact) => fact.label === label);
      return found.reduce((a, b) => (places.indexOf(a.place) > places.indexOf(b.place) ? a : b));
    });
  }

  /** When the next fact of these places ends, shadowed ones included. */
  nextEndMs(account: number, person: Person): number | null {
    const ends = this.viewed(account, person).flatMap(({ present }) => present?.expiresAtMs ?? []);
    return ends.length === 0 ? null : Math.min(...ends);
  }

  decode(account: number, person: Person, label: string): Present {
    this.requireLabel(account, person, label);
    const found = this.facts(account, person).find((fact) => fact.label === label);
    if (found === undefined) throw new Refused("fact_not_found");
    return found;
  }

  /** The newest first, with its place. */
  history(account: number, person: Person, label: string): (Present | Past)[] {
    this.requireLabel(account, person, label);
    const inner = this.viewed(account, person)
      .filter((life) => life.label === label)
      .reverse();
    const found = inner.find(({ present }) => present !== undefined) ?? inner[0];
    if (found === undefined) throw new Refused("fact_not_found");
    return [...(found.present === undefined ? [] : [found.present]), ...[...found.past].reverse()];
  }

  changes(account: number, person: Person): Event[] {
    const shared = this.places(account, person).filter(isShared);
    const team = shared.flatMap((place) => this.livesAt(account, person.user, place));
    return changesOf([...this.livesInside(account, person), ...team]);
  }

  count(account: number, person: Person): number {
    return this.facts(account, person).length;
  }

  /** What putting a user back to a moment would change. */
  plan(
    account: number,
    person: RolledBack,
    toMs: number,
    unchangedSinceMs?: number,
  ): ReturnType<typeof planOf> {
    return planOf(this.livesInside(account, person), toMs, this.nowMs, unchangedSinceMs);
  }

  /** Those of the person come last, by label. */
  protected labelsInOrder(account: number, person: Person): string[] {
    const { made, labels } = this.accounts[account];
    const all = this.owners(account, person).flatMap((user) => made.of(user).map(({ label }) => label));
    const free = [...new Set(all)].filter((label) => !this.isListed(account, label));
    return [...LABELS, ...labels.keys(), ...free.sort()];
  }

  protected livesInside(account: number, { user, project, scope }: RolledBack): Life[] {
    if (scope !== undefined) return this.livesAt(account, user, this.places(account, { user, project })[1]);
    return this.lives(account, user).filter(({ place }) => project === undefined || isInside(place, project));
  }
}
