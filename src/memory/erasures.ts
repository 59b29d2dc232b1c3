/**
 * The list of erasures: what a restored backup must forget again. An entry has a moment and a keyed hash of who was erased,
 * and no name: whoever has the list cannot find out ids without the master key. It is kept apart from the store and from its
 * backups. An erasure is noted before it is done: done and not noted, a restore would bring the person back.
 */

import { createHmac } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { DEMO_ACCOUNT } from "./demo.ts";
import type { KeyRing } from "./key-ring.ts";
import type { EarlierFact, Store } from "./ports.ts";
import type { Place } from "./records.ts";
import { projectOfUser } from "./shared-places.ts";
import { StoreLayer } from "./store-layer.ts";

export interface Erasure {
  readonly atMs: number;
  /** The master key that its hash is made with. */
  readonly keyId: number;
  readonly hash: string;
}

export interface ErasureReport {
  /** Persons and projects that were forgotten again. */
  readonly erased: number;
  /** Noted under a master key that is not here: nobody can tell whom they mean. */
  readonly unreadable: number;
}

const LINE = /^(\S+) (\d{1,3}) ([0-9a-f]{64})$/;

/** @param add resolves when the line is on disk */
export function notedErasures(
  store: Store,
  { keyRing, clock, add }: { keyRing: KeyRing; clock: Clock; add: (line: string) => Promise<void> },
): Store {
  const layer = new StoreLayer(store);
  const note = async (account: string, userId: string, place?: Place) => {
    const { id, key } = keyRing.erasureKey;
    const hash = hashOf(key, account, userId, place);
    await add(`${new Date(clock.now()).toISOString()} ${id} ${hash}\n`).catch((cause) => {
      const reason = `the list of erasures cannot be written, so nothing is erased: ${(cause as Error).message}`;
      throw new Failure("store_unavailable", "The erasure cannot be noted now.", { retryAfterS: 5, reason });
    });
  };
  layer.forgetUser = async (...given) => {
    const [account, userId, place] = given;
    const places = account === DEMO_ACCOUNT ? [] : await store.listPlaces(account, userId);
    // A stranger's guesses do not fill the list.
    if (places.length > 0 || (place === undefined && (await hasName(store, account, userId))))
      await note(account, userId, place);
    return store.forgetUser(...given);
  };
  // Who has only a name in what is shared is noted, too.
  layer.write = async (request) => {
    const [change] = request.changes;
    if (change?.kind === "disown") await note(request.account, change.author);
    return store.write(request);
  };
  return layer;
}

/** In what was allowed to an application, or among the members of a project. */
async function hasName(store: Store, account: string, userId: string): Promise<boolean> {
  const projects = await store.readProjects(account);
  if (projects.some(({ members }) => members?.includes(userId))) return true;
  const keys = await store.listKeys(account);
  return keys.some(({ user, grant }) => user === userId && grant !== undefined);
}

/** The entries of a list; a last line that was cut off is none. */
export function erasuresIn(text: string): Erasure[] {
  return text.split("\n").flatMap((line) => {
    const [, at, keyId, hash] = LINE.exec(line) ?? [];
    return at === undefined ? [] : [{ atMs: Date.parse(at), keyId: Number(keyId), hash }];
  });
}

/** Forgets again whom the entries name. */
export async function eraseAgain(
  { store, keyRing, clock }: { store: Store; keyRing: KeyRing; clock: Clock },
  erasures: readonly Erasure[],
): Promise<ErasureReport> {
  const keys = new Map(
    erasures.flatMap(({ keyId }) => keyRing.erasureKeyOf(keyId) ?? []).map((one) => [one.id, one.key]),
  );
  const wanted = new Set(erasures.map(({ hash }) => hash));
  const isWanted = (account: string, userId: string, place?: Place) =>
    [...keys.values()].some((key) => wanted.has(hashOf(key, account, userId, place)));
  const erased = new Set<string>();
  const erase = async (account: string, userId: string, place?: Place) => {
    if (!isWanted(account, userId, place)) return false;
    if (await store.forgetUser(account, userId, place)) erased.add([account, userId, place].join("\0"));
    return true;
  };
  /** Out of what is shared in a project. */
  const eraseNames = async (account: string, userId: string) => {
    const nowMs = clock.now();
    const life = await store.readLife(account, userId, { nowMs });
    const values: readonly Pick<EarlierFact, "author" | "endedBy">[] = [...life!.facts, ...life!.earlier];
    for (const author of new Set(values.flatMap(({ author, endedBy }) => [author, endedBy]))) {
      if (author === undefined || !isWanted(account, author)) continue;
      await store.write({ account, userId, changes: [{ kind: "disown", author }], places: [], nowMs });
      erased.add([account, author, undefined].join("\0"));
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
        places.flatMap((place) => (place === "" ? [] : [place.split("/")[0], place])),
      );
      for (const place of candidates) await erase(account, userId, place);
    }
    // Who shares a project, or has allowed something to an application, may have no fact.
    for (const account of accounts)
      for (const { members } of await store.readProjects(account))
        for (const member of members ?? []) await erase(account, member);
    for (const { account, user, grant } of await store.listKeys())
      if (user !== null && grant !== undefined) await erase(account, user);
  }
  return { erased: erased.size, unreadable: erasures.filter(({ keyId }) => !keys.has(keyId)).length };
}

// Neither accounts, nor user ids, nor places hold U+0000.
function hashOf(key: Uint8Array, account: string, userId: string, place?: Place): string {
  const names = place === undefined ? [account, userId] : [account, userId, place];
  return createHmac("sha256", key).update(names.join("\0")).digest("hex");
}
