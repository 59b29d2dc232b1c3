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
import { type Erasure, lineOf, lineOfMove } from "./erasure-lines.ts";
import type { KeyRing } from "./key-ring.ts";
import { isInside } from "./places.ts";
import type { EarlierFact, MoveChange, Store, WriteRequest } from "./ports.ts";
import type { Place } from "./records.ts";
import { isShared, projectOfPlace, projectUser } from "./shared-places.ts";
import { StoreLayer } from "./store-layer.ts";

/** Hexadecimal digits: enough to tell the values of a place. */
const VALUE_HASH_LENGTH = 16;

interface NotedErasuresOptions {
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
    const marks = keyRing.erasureKeys.map(({ id, key }) => ({ keyId: id, hash: hashOfNames(key, names) }));
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
        hash: hashOfNames(key, from),
        to: to.map((names) => hashOfNames(key, names)),
        staying: staying && new Set(staying.map((value) => hashOfValue(key, request.account, value))),
      }));
      return lineOfMove({ atMs, marks });
    });
    await addLines([...lines, ...again], "moved");
  };
  layer.forgetUser = async (...given) => {
    const [account, userId, place] = given;
    const erase = () => store.forgetUser(...given);
    if (account === DEMO_ACCOUNT) return erase();
    const names = [account, userId, ...(place === undefined ? [] : [place])];
    const places = await store.listPlaces(account, userId);
    if (places.length > 0 || (place === undefined && (await hasName(store, account, userId))))
      return noted(names, erase);
    // A stranger's guesses do not fill the list. What was written meanwhile is noted when it is gone.
    const erased = await erase();
    return erased && noted(names, async () => erased);
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
export type Names = readonly string[];

/** By these a value is known again, also where it was written again meanwhile. */
export type LabelValue = Pick<EarlierFact, "label" | "sinceMs">;

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

// Neither accounts, nor user ids, nor places hold U+0000.
export function hashOfNames(key: Uint8Array, names: Names): string {
  return createHmac("sha256", key).update(names.join("\0")).digest("hex");
}

/** Whoever has it: it goes along from one place to another. */
export function hashOfValue(key: Uint8Array, account: string, { label, sinceMs }: LabelValue): string {
  return hashOfNames(key, [account, "", label, `${sinceMs}`]).slice(0, VALUE_HASH_LENGTH);
}
