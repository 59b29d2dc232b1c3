/**
 * The list of erasures: what a restored backup must forget again. An entry has a moment and keyed hashes of who was erased, or
 * of what was moved (erasure-lines.ts), and no name: whoever has the list cannot find out ids without the master key. It is
 * kept apart from the store and from its backups. An erasure is noted before it is done: done and not noted, a restore would
 * bring the person back. So is a move: what is erased at the new place must go from the old one.
 */

import { createHmac } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { TIME_MS_MAX } from "../base/limits.ts";
import { DEMO_ACCOUNT } from "./demo.ts";
import { type Erasure, erasesAll, lineOf, lineOfMove } from "./erasure-lines.ts";
import type { KeyRing } from "./key-ring.ts";
import { isInside, OWN_PLACE } from "./places.ts";
import type { EarlierFact, MoveChange, Store, WriteRequest } from "./ports.ts";
import type { AuditQuery, PersonName, Place } from "./records.ts";
import { isShared, projectOfPlace, projectOfUser, projectUser } from "./shared-places.ts";
import { StoreLayer } from "./store-layer.ts";

export interface ErasureReport {
  /** Persons and projects that were forgotten again. */
  readonly erased: number;
  /** Noted under a master key that is not here: nobody can tell whom they mean. */
  readonly unreadable: number;
}

/** Hexadecimal digits: enough to tell the values of a place. */
const VALUE_HASH_LENGTH = 16;
const CHANGES_AT_ONCE = 500;
const NOTES_AT_ONCE = 500;

export interface NotedErasuresOptions {
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  /** Resolves when the lines are on disk. */
  readonly add: (lines: string) => Promise<void>;
  /** Has each erasure and each move from before its moment until it is done. */
  readonly underWay?: Set<Promise<unknown>>;
}

export function notedErasures(
  store: Store,
  { keyRing, clock, add, underWay = new Set() }: NotedErasuresOptions,
): Store {
  const layer = new StoreLayer(store);
  const addLines = async (lines: readonly string[], what: string) => {
    await add(`${lines.join("\n")}\n`).catch((cause) => {
      const reason = `the list of erasures cannot be written, so nothing is ${what}: ${(cause as Error).message}`;
      throw new Failure("store_unavailable", `What is ${what} cannot be noted now.`, {
        retryAfterS: 5,
        reason,
      });
    });
  };
  const erasing = new Set<Erasure>();
  const tracked = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };
  const noted = <T>(names: Names, erase: () => Promise<T>): Promise<T> => {
    const marks = keyRing.erasureKeys.map(({ id, key }) => ({ keyId: id, hash: hashOf(key, names) }));
    const erasure = { atMs: clock.now(), marks };
    erasing.add(erasure);
    const work = addLines([lineOf(erasure)], "erased").then(erase);
    return tracked(work.finally(() => erasing.delete(erasure)));
  };
  const noteMove = async (request: WriteRequest, change: MoveChange) => {
    const moves = await movesOf(store, request, change);
    if (moves.length === 0) return;
    const atMs = clock.now();
    // Whichever comes first: what is erased meanwhile counts as erased after the move.
    const again = [...erasing].map((erasure) => lineOf({ ...erasure, atMs }));
    const lines = moves.map(({ from, to, staying }) => {
      const marks = keyRing.erasureKeys.map(({ id: keyId, key }) => ({
        keyId,
        hash: hashOf(key, from),
        to: to.map((names) => hashOf(key, names)),
        staying: staying && new Set(staying.map((value) => hashOfValue(key, request.account, value))),
      }));
      return lineOfMove({ atMs, marks });
    });
    await addLines([...lines, ...again], "moved");
  };
  layer.forgetUser = async (...given) => {
    const [account, userId, place] = given;
    const places = account === DEMO_ACCOUNT ? [] : await store.listPlaces(account, userId);
    const erase = () => store.forgetUser(...given);
    // A stranger's guesses do not fill the list.
    if (places.length > 0 || (place === undefined && (await hasName(store, account, userId))))
      return noted([account, userId, ...(place === undefined ? [] : [place])], erase);
    return erase();
  };
  // Who has only a name in what is shared is noted, too.
  layer.write = async (request) => {
    const [change] = request.changes;
    const write = () => store.write(request);
    if (change?.kind === "disown") return noted([request.account, change.author], write);
    if (change?.kind === "move" && request.account !== DEMO_ACCOUNT)
      return tracked(noteMove(request, change).then(write));
    return write();
  };
  return layer;
}

/** An account, a user of it, and where only that is meant, a place. */
type Names = readonly string[];

/** By these a value is known again, also where it was written again meanwhile. */
type LabelValue = Pick<EarlierFact, "label" | "sinceMs">;

interface MovedPlace {
  readonly from: Names;
  /** Where it goes to, and what that is inside of: with any of them it is erased. */
  readonly to: readonly Names[];
  readonly staying?: readonly LabelValue[] | undefined;
}

/** The places that a change moves, each for itself; none where nothing is there. */
async function movesOf(
  store: Store,
  { account, userId }: Pick<WriteRequest, "account" | "userId">,
  { from, to, only }: MoveChange,
): Promise<MovedPlace[]> {
  const namesOf = (place: Place): Names => {
    const project = projectOfPlace(place);
    return project === undefined ? [account, userId, place] : [account, projectUser(project)];
  };
  const project = projectOfPlace(from);
  const known = await store.listPlaces(account, project === undefined ? userId : projectUser(project));
  const inside = project === undefined ? known.filter((place) => isInside(place, from)) : [from];
  if (known.length === 0 || inside.length === 0) return [];
  const moved = only === undefined ? new Set([from, ...inside]) : [from];
  const values = only === undefined ? [] : await valuesAt(store, account, userId, from);
  const staying = only && values.filter(({ label }) => !only.isMeant(label));
  return [...moved].map((place) => {
    const target = to + place.slice(from.length);
    if (isShared(target)) return { from: namesOf(place), to: [namesOf(target)], staying };
    const outer = new Set([target, target.split("/")[0]!]);
    // Out of a project that is shared it comes to a person.
    return {
      from: namesOf(place),
      to: [...[...outer].map(namesOf), ...(isShared(place) ? [[account, userId]] : [])],
      staying,
    };
  });
}

/** Present and earlier ones. */
async function valuesAt(store: Store, account: string, userId: string, place: Place): Promise<LabelValue[]> {
  const life = await store.readLife(account, userId, { nowMs: 0, place });
  return [...(life?.facts ?? []), ...(life?.earlier ?? [])];
}

/** In what was allowed to an application, among the members of a project, or in the audit. */
async function hasName(store: Store, account: string, userId: string): Promise<boolean> {
  const projects = await store.readProjects(account);
  if (projects.some(({ members }) => members?.includes(userId))) return true;
  const keys = await store.listKeys(account);
  if (keys.some(({ user, grant }) => user === userId && grant !== undefined)) return true;
  const person = { name: userId, hashes: [] };
  const newest = { account, person, sinceMs: 0, before: { atMs: TIME_MS_MAX }, limit: 1 };
  return (await store.audit.read(newest)).length > 0;
}

/** Forgets again whom the entries name. */
export async function eraseAgain(
  { store, keyRing, clock }: { store: Store; keyRing: KeyRing; clock: Clock },
  erasures: readonly Erasure[],
): Promise<ErasureReport> {
  const { keys, wantedOf, isLeft } = wantedBy(erasures, keyRing);
  const erased = new Set<string>();
  /** Whether all of it is erased. */
  const erase = async (...names: [account: string, userId: string, place?: Place]) => {
    const found = wantedOf(...names.filter((name) => name !== undefined));
    if (found === undefined) return false;
    const isAll = found.some(erasesAll);
    const isFound = isAll
      ? (await store.forgetUser(...names)) !== undefined
      : await forgetBut(names, (value) => found.every((erasure) => isLeft(erasure, names[0], value)));
    if (isFound) erased.add(names.join("\0"));
    return isAll;
  };
  /** At a place, without those inside it; a shared project has one place. */
  const forgetBut = async (
    [account, userId, place = OWN_PLACE]: [string, string, Place?],
    hasStayed: (value: LabelValue) => boolean,
  ) => {
    const nowMs = clock.now();
    const values = await valuesAt(store, account, userId, place);
    const staying = new Set(values.filter(hasStayed).map(({ label }) => label));
    const labels = new Set(values.map(({ label }) => label).filter((label) => !staying.has(label)));
    const changes = [...labels].map((label) => ({ place, label, value: null }));
    for (let i = 0; i < changes.length; i += CHANGES_AT_ONCE)
      await store.write({
        account,
        userId,
        changes: changes.slice(i, i + CHANGES_AT_ONCE),
        places: [],
        nowMs,
      });
    return changes.length > 0;
  };
  /** Out of what is shared in a project. */
  const eraseNames = async (account: string, userId: string) => {
    const nowMs = clock.now();
    const life = await store.readLife(account, userId, { nowMs });
    const values: readonly Pick<EarlierFact, "author" | "endedBy">[] = [
      ...(life?.facts ?? []),
      ...(life?.earlier ?? []),
    ];
    for (const author of new Set(values.flatMap(({ author, endedBy }) => [author, endedBy]))) {
      if (author === undefined || wantedOf(account, author) === undefined) continue;
      await store.write({ account, userId, changes: [{ kind: "disown", author }], places: [], nowMs });
      erased.add([account, author].join("\0"));
    }
  };
  if (keys.size > 0) {
    const accounts = new Set((await store.listAccounts()).map(({ account }) => account));
    for await (const { account, userId } of store.walkUsers()) {
      accounts.add(account);
      if (await erase(account, userId)) continue;
      if (projectOfUser(userId) !== undefined) await eraseNames(account, userId);
      const places = await store.listPlaces(account, userId);
      // Of a worktree's place also the project, which may have nothing of its own.
      const candidates = new Set(
        places.flatMap((place) => (place === OWN_PLACE ? [] : [place.split("/")[0]!, place])),
      );
      for (const place of candidates) await erase(account, userId, place);
    }
    // Who shares a project, or has allowed something to an application, may have no fact.
    for (const account of accounts)
      for (const { members } of await store.readProjects(account))
        for (const member of members ?? []) await erase(account, member);
    for (const { account, user, grant } of await store.listKeys())
      if (user !== null && grant !== undefined) await erase(account, user);
    // Or may stand in the audit alone.
    for await (const { account, name } of namesInAudit(store))
      if (await erase(account, name)) erased.add([account, name].join("\0"));
  }
  return { erased: erased.size, unreadable: unreadableOf(erasures, keyRing).length };
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

function wantedBy(erasures: readonly Erasure[], keyRing: KeyRing) {
  const all = erasures.flatMap(({ marks }) => marks);
  const keys = new Map(
    all.flatMap(({ keyId }) => keyRing.erasureKeyOf(keyId) ?? []).map((one) => [one.id, one.key]),
  );
  const wanted = new Map<string, Set<Erasure>>();
  for (const erasure of erasures)
    for (const { hash } of erasure.marks) wanted.set(hash, (wanted.get(hash) ?? new Set()).add(erasure));
  /** Undefined where nothing has these names. */
  const wantedOf = (...names: Names) => {
    const found = [...keys.values()].flatMap((key) => [...(wanted.get(hashOf(key, names)) ?? [])]);
    return found.length === 0 ? undefined : found;
  };
  /** Whether an erasure leaves a value at its place. */
  const isLeft = ({ marks }: Erasure, account: string, value: LabelValue) =>
    marks.some(
      ({ keyId, except }) => keys.has(keyId) && except?.has(hashOfValue(keys.get(keyId)!, account, value)),
    );
  return { keys, wantedOf, isLeft };
}

/** Noted under none of the master keys that are here. */
export function unreadableOf(erasures: readonly Erasure[], keyRing: KeyRing): Erasure[] {
  return erasures.filter(({ marks }) =>
    marks.every(({ keyId }) => keyRing.erasureKeyOf(keyId) === undefined),
  );
}

// Neither accounts, nor user ids, nor places hold U+0000.
function hashOf(key: Uint8Array, names: Names): string {
  return createHmac("sha256", key).update(names.join("\0")).digest("hex");
}

/** Whoever has it: it goes along from one place to another. */
function hashOfValue(key: Uint8Array, account: string, { label, sinceMs }: LabelValue): string {
  return hashOf(key, [account, "", label, `${sinceMs}`]).slice(0, VALUE_HASH_LENGTH);
}
