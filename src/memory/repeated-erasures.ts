/**
 * Erasing again what the list of erasures names (erasures.ts): in a restored backup before it answers anybody, and in a
 * running service where an operator asks for it. Whoever has facts, shares a project, has allowed something to an application or
 * stands in the audit is looked up by keyed hashes. What of a place goes is decided while its user is locked.
 */

import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { TIME_MS_MAX } from "../base/limits.ts";
import { type Erasure, erasesAll } from "./erasure-lines.ts";
import { hashOfNames, hashOfValue, type LabelValue, type Names } from "./erasures.ts";
import type { KeyRing } from "./key-ring.ts";
import { OWN_PLACE } from "./places.ts";
import type { EarlierFact, Store } from "./ports.ts";
import type { AuditQuery, PersonName, Place } from "./records.ts";
import { projectOfUser } from "./shared-places.ts";

interface ErasureReport {
  /** Persons and projects that were forgotten again. */
  readonly erased: number;
  /** Noted under a master key that is not here: nobody can tell whom they mean. */
  readonly unreadable: number;
}

const NOTES_AT_ONCE = 500;

/** Forgets again whom the entries name. */
export async function eraseAgain(
  { store, keyRing, clock }: { store: Store; keyRing: KeyRing; clock: Clock },
  erasures: readonly Erasure[],
): Promise<ErasureReport> {
  const wanted = new WantedErasures(erasures, keyRing);
  const again = new RepeatedErasures(store, clock, wanted);
  if (!wanted.isUnreadable) {
    const accounts = await again.eraseUsers();
    await again.eraseNamed(accounts);
  }
  return { erased: again.count, unreadable: unreadableOf(erasures, keyRing).length };
}

class RepeatedErasures {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #wanted: WantedErasures;
  readonly #erased = new Set<string>();

  constructor(store: Store, clock: Clock, wanted: WantedErasures) {
    this.#store = store;
    this.#clock = clock;
    this.#wanted = wanted;
  }

  get count(): number {
    return this.#erased.size;
  }

  /** Whoever has facts or a history; the accounts that there are. */
  async eraseUsers(): Promise<Set<string>> {
    const accounts = new Set((await this.#store.listAccounts()).map(({ account }) => account));
    for await (const { account, userId } of this.#store.walkUsers()) {
      accounts.add(account);
      if (await this.#erase(account, userId)) continue;
      if (projectOfUser(userId) !== undefined) await this.#disown(account, userId);
      const places = await this.#store.listPlaces(account, userId);
      // Of a worktree's place also the project, which may have nothing of its own.
      const candidates = new Set(
        places.flatMap((place) => (place === OWN_PLACE ? [] : [place.split("/")[0]!, place])),
      );
      for (const place of candidates) await this.#erase(account, userId, place);
    }
    return accounts;
  }

  /** Who shares a project, has allowed something to an application, or stands in the audit, may have no fact. */
  async eraseNamed(accounts: ReadonlySet<string>): Promise<void> {
    for (const account of accounts)
      for (const { members } of await this.#store.readProjects(account))
        for (const member of members ?? []) await this.#erase(account, member);
    for (const { account, user, grant } of await this.#store.listKeys())
      if (user !== null && grant !== undefined) await this.#erase(account, user);
    for await (const { account, name } of namesInAudit(this.#store))
      if (await this.#erase(account, name)) this.#note(account, name);
  }

  #note(...names: Names): void {
    this.#erased.add(names.join("\0"));
  }

  /** Whether all of it is erased. */
  async #erase(...names: [account: string, userId: string, place?: Place]): Promise<boolean> {
    const given = names.filter((name) => name !== undefined);
    const found = this.#wanted.of(...given);
    if (found === undefined) return false;
    const isAll = found.some(erasesAll);
    const isFound = isAll
      ? (await this.#store.forgetUser(...names)) !== undefined
      : await this.#clear(found, ...names);
    if (isFound) this.#note(...given);
    return isAll;
  }

  /** At a place, without those inside it; a shared project has one place. */
  async #clear(
    erasures: readonly Erasure[],
    ...[account, userId, place = OWN_PLACE]: [account: string, userId: string, place?: Place]
  ): Promise<boolean> {
    const isKept = (value: LabelValue) =>
      erasures.every((erasure) => this.#wanted.isLeft(erasure, account, value));
    const changes = [{ kind: "clear", place, isKept } as const];
    const nowMs = this.#clock.now();
    const outcome = await this.#store.write({ account, userId, changes, places: [], nowMs });
    assert(outcome.outcome === "stored", "nothing is asked of what is cleared");
    return outcome.changes.some(({ found }) => found);
  }

  /** Takes who is wanted out of what is shared in a project. */
  async #disown(account: string, userId: string): Promise<void> {
    const nowMs = this.#clock.now();
    const life = await this.#store.readLife(account, userId, { nowMs });
    const values: readonly Pick<EarlierFact, "author" | "endedBy">[] = [
      ...(life?.facts ?? []),
      ...(life?.earlier ?? []),
    ];
    for (const author of new Set(values.flatMap(({ author, endedBy }) => [author, endedBy]))) {
      if (author === undefined || this.#wanted.of(account, author) === undefined) continue;
      const changes = [{ kind: "disown", author } as const];
      await this.#store.write({ account, userId, changes, places: [], nowMs });
      this.#note(account, author);
    }
  }
}

/** Each name once. */
async function* namesInAudit(store: Store): AsyncGenerator<PersonName> {
  const seen = new Set<string>();
  for (let before: AuditQuery["before"] = { atMs: TIME_MS_MAX }; ; ) {
    const notes = await store.audit.read({ sinceMs: 0, before, limit: NOTES_AT_ONCE });
    for (const person of notes.flatMap(({ names }) => names)) {
      const name = [person.account, person.name].join("\0");
      if (!seen.has(name)) yield person;
      seen.add(name);
    }
    const last = notes.at(-1);
    if (last === undefined || notes.length < NOTES_AT_ONCE) return;
    before = { atMs: last.entry.atMs, id: last.entry.id };
  }
}

/** What is to be erased, by the hashes of its names under the master keys that are here. */
class WantedErasures {
  readonly #keys: ReadonlyMap<number, Uint8Array>;
  readonly #byHash = new Map<string, Set<Erasure>>();

  constructor(erasures: readonly Erasure[], keyRing: KeyRing) {
    const all = erasures.flatMap(({ marks }) => marks);
    this.#keys = new Map(
      all.flatMap(({ keyId }) => keyRing.erasureKeyOf(keyId) ?? []).map((one) => [one.id, one.key]),
    );
    for (const erasure of erasures)
      for (const { hash } of erasure.marks)
        this.#byHash.set(hash, (this.#byHash.get(hash) ?? new Set()).add(erasure));
  }

  /** Also where there are none. */
  get isUnreadable(): boolean {
    return this.#keys.size === 0;
  }

  /** Undefined where nothing has these names. */
  of(...names: Names): Erasure[] | undefined {
    const found = [...this.#keys.values()].flatMap((key) => [
      ...(this.#byHash.get(hashOfNames(key, names)) ?? []),
    ]);
    return found.length === 0 ? undefined : found;
  }

  /** Whether an erasure leaves a value at its place. */
  isLeft({ marks }: Erasure, account: string, value: LabelValue): boolean {
    return marks.some(({ keyId, except }) => {
      const key = this.#keys.get(keyId);
      return key !== undefined && except?.has(hashOfValue(key, account, value));
    });
  }
}

/** Noted under none of the master keys that are here. */
export function unreadableOf(erasures: readonly Erasure[], keyRing: KeyRing): Erasure[] {
  return erasures.filter(({ marks }) =>
    marks.every(({ keyId }) => keyRing.erasureKeyOf(keyId) === undefined),
  );
}
