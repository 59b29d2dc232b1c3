/**
 * What a recorded program has promised at a point of its recording, from the marks that it left, and whether a disk
 * keeps it: everything that was acknowledged is there, and nothing that was never written. A folder that nothing was
 * acknowledged of opens, or is refused with an error for the operator, and stays as it is.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { viewOf } from "../../fixtures/views.ts";

export const ACCOUNT = "acme";

export type Mark =
  /** A value is about to be written; null forgets the user. */
  | { readonly sent: string; readonly user: string; readonly value: string | null }
  /** It was acknowledged. */
  | { readonly stored: string; readonly user: string; readonly value: string | null }
  /** If this folder opens, the user has at least this value: a copy is whole, or it is none. */
  | { readonly whole: string; readonly user: string; readonly value: string }
  /** From now on this data folder opens. */
  | { readonly kept: string }
  /** From now on this data folder holds one store: what an older one held is gone. */
  | { readonly oneStore: string }
  /** From now on this file has this text. */
  | { readonly file: string; readonly text: string };

interface User {
  /** What it may have: the last acknowledged value, then those sent since. */
  values: (string | null)[];
  acknowledged: boolean;
}

interface Folder {
  kept: boolean;
  oneStore: boolean;
  readonly users: Map<string, User>;
  readonly whole: Map<string, string>;
}

export class Promises {
  readonly #folders = new Map<string, Folder>();
  /** The texts that each file may have; undefined for none. */
  readonly #files = new Map<string, (string | undefined)[]>();

  /** @param marks all of the recording; the first `done` of them were made */
  constructor(marks: readonly Mark[], done: number) {
    for (const mark of marks) if ("file" in mark) this.#files.set(mark.file, [undefined]);
    for (const [i, mark] of marks.entries()) {
      if ("file" in mark) this.#addFile(mark.file, mark.text, i < done);
      else this.#addFact(mark, i < done);
    }
  }

  #addFile(file: string, text: string, done: boolean): void {
    const texts = this.#files.get(file) as (string | undefined)[];
    if (done) texts.length = 0;
    texts.push(text);
  }

  #addFact(mark: Exclude<Mark, { file: string }>, done: boolean): void {
    // The first field of a mark names its folder.
    const name = Object.values(mark)[0] as string;
    const folder = this.#folders.get(name) ?? {
      kept: false,
      oneStore: false,
      users: new Map(),
      whole: new Map(),
    };
    this.#folders.set(name, folder);
    if (!done) return;
    if ("kept" in mark) folder.kept = true;
    else if ("oneStore" in mark) folder.oneStore = true;
    else if ("whole" in mark) folder.whole.set(mark.user, mark.value);
    else {
      const user = folder.users.get(mark.user) ?? { values: [null], acknowledged: false };
      folder.users.set(mark.user, user);
      if ("sent" in mark) user.values.push(mark.value);
      else {
        user.values = user.values.slice(user.values.lastIndexOf(mark.value));
        user.acknowledged = true;
      }
    }
  }

  /** Throws where the disk under `home` breaks a promise. */
  async check(home: string): Promise<void> {
    for (const [file, texts] of this.#files) {
      const path = join(home, file);
      const text = existsSync(path) ? readFileSync(path, "utf8") : undefined;
      assert.ok(texts.includes(text), `${file} holds ${JSON.stringify(text)}`);
    }
    for (const [name, folder] of this.#folders) {
      try {
        await checkFolder(join(home, name), folder);
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
      }
    }
  }
}

async function checkFolder(path: string, promised: Folder): Promise<void> {
  if (promised.oneStore) assert.equal(storesIn(path).length, 1, "an old store is back");
  let store = await openOrRefusal(path, false);
  if (store instanceof OperatorError) {
    if (promised.kept) throw store;
    assert.ok(![...promised.users.values()].some(({ acknowledged }) => acknowledged), store.message);
    // A copy that is not whole is no data folder. Where there is nothing at all, a service may begin a new one.
    store = await openOrRefusal(path, true);
    if (store instanceof OperatorError) return;
    for await (const { userId } of store.walkUsers()) assert.fail(`${userId} is in a new store`);
    return store.close();
  }
  try {
    await checkFacts(store, promised);
    await store.write({
      account: ACCOUNT,
      userId: "after",
      nowMs: 0,
      changes: [{ place: "", label: "USER.name", value: "works" }],
      places: [""],
    });
    assert.equal(store.readFact(viewOf("after", ACCOUNT), "USER.name")?.value, "works");
    for await (const damaged of store.findDamage()) assert.fail(`${damaged} is damaged`);
    assert.equal(storesIn(path).length, 1, "one store is left");
  } finally {
    await store.close();
  }
}

function storesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("store-"));
}

async function checkFacts(store: LmdbStore, { users, whole }: Folder): Promise<void> {
  const found = new Map<string, string>();
  for await (const { userId } of store.walkUsers())
    found.set(userId, (await store.readUser(viewOf(userId, ACCOUNT)))?.facts[0]?.value ?? "nothing");
  for (const userId of found.keys()) assert.ok(users.has(userId), `${userId} was never written`);
  for (const [userId, { values }] of users) {
    const value = found.get(userId) ?? null;
    // In a copy, what it held when it was begun is the least.
    const least = whole.get(userId);
    const allowed = least === undefined ? values : values.slice(values.indexOf(least));
    assert.ok(
      allowed.includes(value),
      `${userId} has ${JSON.stringify(value)}, not ${JSON.stringify(allowed)}`,
    );
  }
}

/** Any other error than one for the operator is a fault. */
async function openOrRefusal(folder: string, create: boolean): Promise<LmdbStore | OperatorError> {
  try {
    return await LmdbStore.open({ folder, create, queueMax: 100, metrics: new Metrics() });
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
}
