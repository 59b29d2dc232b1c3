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

/** The order is the database's number in the journal: append only. */
export const DATABASES = [
  "meta",
  "users",
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
const FLUSH_TIMEOUT_MS = 30_000;

export class Environment {
  readonly folder: string;
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #tables: Record<DatabaseName, Table>;

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
   * Runs `work` in one write transaction, all or none, and resolves when it is on disk. `work` is called with
   * the lock held and must not wait for anything.
   */
  async transact<T>(work: () => T): Promise<T> {
    let result: T;
    try {
      result = (await this.#root.childTransaction(work)) as T;
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
