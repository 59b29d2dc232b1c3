/**
 * One lmdb environment (a folder with data.mdb and lock.mdb) and its databases. Keys and values are bytes.
 *
 * lmdb-js commits asynchronously; with overlapping sync a commit is visible before it is on disk, and `flushed`
 * says when it is. The write lock is shared by all processes that have the folder open; a process that dies
 * while it holds it is noticed by the next one.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { assert } from "../../base/assert.ts";

/** The order is the database's number in the journal: append only. */
export const DATABASES = [
  "meta",
  "users", // empty: the users' records of format 1
  "facts",
  "counters",
  "idempotency",
  "lapses",
  "keys",
  "key-hashes",
  "accounts",
  "key-requests",
  "journal",
] as const;

export type DatabaseName = (typeof DATABASES)[number];
export type Table = Database<Buffer, Buffer>;

/** Address space set aside, not memory and not disk. */
const MAP_BYTES = 64 * 2 ** 30;
const KEY_BYTES_MAX = 1_978;
const FLUSH_TIMEOUT_MS = 30_000;

/** What the work of a transaction sees: all that was committed, and what it has written itself. */
export interface Transaction {
  get(name: DatabaseName, key: Buffer): Buffer | undefined;
  put(name: DatabaseName, key: Buffer, value: Buffer): void;
  remove(name: DatabaseName, key: Buffer): void;
}

/** Counts the commits, so that a commit can be made on condition that there was none since. */
const COMMITS = Buffer.from("commits");
const EMPTY = Buffer.alloc(0);
/** So often another process may be quicker before a commit waits for the write lock. */
const ATTEMPTS = 3;

export class Environment {
  readonly folder: string;
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #tables: Record<DatabaseName, Table>;
  readonly #commits: Table;

  constructor(folder: string) {
    this.folder = folder;
    this.#root = open<Buffer, Buffer>({
      path: folder,
      mapSize: MAP_BYTES,
      maxDbs: 16,
      maxReaders: 512,
      encoding: "binary",
      keyEncoding: "binary",
      // The group commit batches already; and the library's batching leaves a promise behind that nobody
      // awaits: when a commit fails, its rejection would end the process.
      eventTurnBatching: false,
    });
    const tables = DATABASES.map((name) => [
      name,
      this.#root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" }),
    ]);
    this.#tables = Object.fromEntries(tables) as Record<DatabaseName, Table>;
    this.#commits = this.#root.openDB<Buffer, Buffer>({
      name: "commits",
      encoding: "binary",
      keyEncoding: "binary",
      useVersions: true,
    });
  }

  get(name: DatabaseName, key: Buffer): Buffer | undefined {
    return this.#tables[name].getBinary(key);
  }

  /** As get, without copying: the bytes hold until the next read of any kind. */
  peek(name: DatabaseName, key: Buffer): Buffer | undefined {
    return this.#tables[name].getBinaryFast(key);
  }

  /** Reads from here on see all that any process has committed. */
  renewSnapshot(): void {
    this.#root.resetReadTxn();
  }

  table(name: DatabaseName): Table {
    return this.#tables[name];
  }

  /**
   * Runs `work` and commits what it has written, all or none; resolves when it is on disk. `work` runs on a
   * snapshot, without the write lock, and again when another process has committed meanwhile: it must do nothing
   * but read and write through its transaction. lmdb's thread writes and syncs without coming back for it, which
   * is quicker than `transact` by the time that this thread needs to get round to it.
   */
  async commit<T>(work: (transaction: Transaction) => T): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      this.renewSnapshot();
      const before = this.#commits.getEntry(COMMITS)?.version;
      const changes = new Changes(this);
      const result = work(changes);
      if (changes.isEmpty || (await this.#write(changes, before))) return result;
    }
    return this.transact(work);
  }

  /** False where there was a commit since the one with the number `before`: then nothing is written. */
  async #write(changes: Changes, before: number | undefined): Promise<boolean> {
    const write = () => {
      changes.applyTo(this);
      void this.#commits.put(COMMITS, EMPTY, (before ?? 0) + 1);
    };
    const written =
      before === undefined
        ? this.#commits.ifNoExists(COMMITS, write)
        : this.#commits.ifVersion(COMMITS, before, write);
    return this.#onDisk(written);
  }

  /**
   * Runs `work` in one write transaction, all or none, and resolves when it is on disk. `work` is called with
   * the lock held and must not wait for anything.
   */
  transact<T>(work: (transaction: Transaction) => T): Promise<T> {
    return this.#onDisk(
      this.#root.childTransaction(() => {
        const changes = new Changes(this);
        const result = work(changes);
        if (!changes.isEmpty) {
          changes.applyTo(this);
          void this.#commits.put(COMMITS, EMPTY, (this.#commits.getEntry(COMMITS)?.version ?? 0) + 1);
        }
        return result;
      }) as Promise<T>,
    );
  }

  async #onDisk<T>(committed: Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await committed;
    } catch (error) {
      throw await causeOf(error);
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("the disk did not take the data in time")), FLUSH_TIMEOUT_MS);
    });
    try {
      await Promise.race([this.#root.flushed, late]);
    } finally {
      clearTimeout(timer);
    }
    return result;
  }

  /** Writes without waiting for the disk: only for an environment that nobody uses yet. */
  async fill(work: () => void): Promise<void> {
    await this.#root.transaction(work);
  }

  async flushed(): Promise<void> {
    await this.#root.flushed;
  }

  /** A consistent copy of all that is live, while others read and write. */
  async copyTo(folder: string): Promise<void> {
    await this.#root.backup(folder, true);
  }

  entryCount(name: DatabaseName): number {
    const statistics = this.#tables[name].getStats() as { entryCount: number };
    return statistics.entryCount;
  }

  get sizeBytes(): number {
    return statSync(join(this.folder, "data.mdb")).size;
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}

/** What one transaction has written, each key once. */
class Changes implements Transaction {
  readonly #environment: Environment;
  readonly #entries = new Map<string, { name: DatabaseName; key: Buffer; value: Buffer | undefined }>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  get(name: DatabaseName, key: Buffer): Buffer | undefined {
    const changed = this.#entries.get(slotOf(name, key));
    return changed === undefined ? this.#environment.get(name, key) : changed.value;
  }

  put(name: DatabaseName, key: Buffer, value: Buffer): void {
    // lmdb-js would refuse it in the midst of the others, and commit those.
    assert(key.length > 0 && key.length <= KEY_BYTES_MAX, "a key that lmdb takes");
    this.#entries.set(slotOf(name, key), { name, key, value });
  }

  remove(name: DatabaseName, key: Buffer): void {
    this.#entries.set(slotOf(name, key), { name, key, value: undefined });
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  applyTo(environment: Environment): void {
    for (const { name, key, value } of this.#entries.values()) {
      const table = environment.table(name);
      void (value === undefined ? table.remove(key) : table.put(key, value));
    }
  }
}

function slotOf(name: DatabaseName, key: Buffer): string {
  return `${name}\0${key.toString("latin1")}`;
}

/** lmdb-js rejects with a general error that carries the particular one as a promise. */
async function causeOf(error: unknown): Promise<unknown> {
  const commitError = (error as { commitError?: Promise<unknown> } | undefined)?.commitError;
  if (commitError === undefined) return error;
  return Promise.race([
    commitError.then(
      () => error,
      (cause) => cause,
    ),
    new Promise((resolve) => setTimeout(() => resolve(error), 1000)),
  ]);
}
