/**
 * One lmdb environment (a folder with data.mdb and lock.mdb) and its tables. Keys and values are bytes. Every value
 * carries a CRC-32 of its table, its key and itself, which is checked on every read: a record that fails it is an
 * error, never a value. A commit is on disk when its promise resolves, and every read after that sees it.
 */

import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type Database, type GetOptions, open, type RangeOptions, type RootDatabase } from "lmdb";
import { assert } from "../../base/assert.ts";
import { CRC32_BYTES } from "../../base/bytes.ts";
import { Failure } from "../../base/errors.ts";
import { CommitThread } from "./commit-thread.ts";
import { DATA_FILE, noteSize } from "./data-folder.ts";
import { identityOf } from "./folder-lock.ts";

/** A table's position goes into the checksums of its records: append only, never reorder. */
export const TABLES = [
  "meta",
  "facts",
  "counters",
  "idempotency",
  "keys",
  "key-hashes",
  "accounts",
  "key-requests",
  "history",
  "ends",
  "labels",
  "free-labels",
  "operators",
  "projects",
  "audit",
  "audit-names",
] as const;

export type TableName = (typeof TABLES)[number];

const TABLE_NUMBERS = Object.fromEntries(TABLES.map((name, i) => [name, i + 1])) as Record<TableName, number>;

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** An entry that a commit writes; without a value it is removed. */
export interface Change {
  readonly table: TableName;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

/** Its types leave out the options. */
interface FastTable {
  getBinaryFast(key: Buffer, options: GetOptions): Buffer | undefined;
}

/** What is read of one state. */
export type Reader = {
  peek(table: TableName, key: Buffer): Buffer | undefined;
} & Pick<Environment, "entries" | "keys" | "count">;

/** Changes of any number, as bytes that a thread reads. (long-writes.ts) */
export interface PackedChanges {
  readonly count: number;
  readonly chunks: readonly { readonly bytes: Uint8Array; readonly length: number }[];
  add(change: Change): void;
  /** With whole records. */
  records(): Iterable<Change>;
}

/** A commit that failed. */
export class CommitError extends Error {
  override name = "CommitError";
  /** Whether it is certain that nothing of it is on disk. */
  readonly nothingStored: boolean;

  constructor(cause: unknown, nothingStored: boolean) {
    super("the commit failed", { cause });
    this.nothingStored = nothingStored;
  }
}

/** In lmdb's error for an environment that takes no more commits. */
const PANIC = "MDB_PANIC";
/** The longest key that lmdb takes. */
export const KEY_BYTES_MAX = 1_978;
/** Address space set aside, not memory and not disk. */
const MAP_BYTES = 64 * 2 ** 30;
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;
const OPTIONS = {
  ...BINARY,
  mapSize: MAP_BYTES,
  maxDbs: 32,
  // A commit's promise then resolves when the disk has it. Overlapping the sync with the next commit was not
  // faster (docs/decisions/0008), and left open which commit a promise belongs to.
  overlappingSync: false,
  // The group commit batches already. The library's batching also leaves a promise that nobody awaits: when a
  // commit fails, its rejection would end the process.
  eventTurnBatching: false,
};
/** So many changes are handed to lmdb in a millisecond or two; more are the work of a thread. */
const CHANGES_MAX = 512;
/** The lowest possible key, where a range begins by default: lmdb takes no empty key. */
export const FIRST_KEY = Buffer.of(0);

export class Environment {
  readonly folder: string;
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #tables: Record<TableName, Database<Buffer, Buffer>>;
  readonly #onDamage: () => void;
  readonly #identity: string;
  #thread: CommitThread | undefined;
  readonly #readings = new Set<Promise<unknown>>();
  #isClosed = false;

  /** @param onDamage called for each read that meets a damaged record */
  constructor(folder: string, onDamage: () => void = () => {}) {
    this.folder = folder;
    this.#onDamage = onDamage;
    this.#root = open<Buffer, Buffer>({ path: folder, ...OPTIONS });
    const tables = TABLES.map((name) => [name, this.#root.openDB<Buffer, Buffer>({ name, ...BINARY })]);
    this.#tables = Object.fromEntries(tables) as Record<TableName, Database<Buffer, Buffer>>;
    for (const file of [DATA_FILE, "lock.mdb"]) chmodSync(join(folder, file), 0o600);
    this.#identity = identityOf(join(folder, DATA_FILE));
    noteSize(folder);
  }

  get(table: TableName, key: Buffer): Buffer | undefined {
    const record = this.#table(table).getBinary(key);
    return record && this.#valueOf(table, key, record);
  }

  /** Like get, without copying: the bytes are valid until the next read of any kind. */
  peek(table: TableName, key: Buffer, options: GetOptions = {}): Buffer | undefined {
    const record = (this.#table(table) as FastTable).getBinaryFast(key, options);
    return record && this.#valueOf(table, key, record);
  }

  /**
   * Reads one state of the tables, in several turns of the event loop. lmdb reuses no page of that state meanwhile, and
   * this is not closed.
   */
  async reading<T>(read: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    const transaction = this.#root.useReadTransaction();
    const reading = read({
      peek: (table, key) => this.peek(table, key, { transaction }),
      entries: (table, range) => this.entries(table, { ...range, transaction }),
      keys: (table, range) => this.keys(table, { ...range, transaction }),
      count: (table, range) => this.count(table, { ...range, transaction }),
    }).finally(() => {
      this.#readings.delete(reading);
      transaction.done();
    });
    this.#readings.add(reading);
    return reading;
  }

  has(table: TableName, key: Buffer): boolean {
    return this.#table(table).doesExist(key);
  }

  entries(table: TableName, range: RangeOptions = {}): Entry[] {
    return this.records(table, range).map(({ key, value }) => ({
      key,
      value: this.#valueOf(table, key, value),
    }));
  }

  keys(table: TableName, range: RangeOptions = {}): Buffer[] {
    return [...this.#table(table).getKeys({ start: FIRST_KEY, ...range })];
  }

  /** How many entries a range has. */
  count(table: TableName, range: RangeOptions): number {
    return this.#table(table).getKeysCount(range);
  }

  /** Like get, but returns the whole record: the checksum is still attached and is not checked. */
  record(table: TableName, key: Buffer): Buffer | undefined {
    return this.#table(table).getBinary(key);
  }

  /** Like entries, but with whole records: the checksums are still attached and are not checked. */
  records(table: TableName, range: RangeOptions = {}): Entry[] {
    return [...this.#table(table).getRange({ start: FIRST_KEY, ...range })];
  }

  /** Writes all of the changes or none; resolves when they are on disk. The caller has checked the keys. */
  commit(changes: Iterable<Change>): Promise<void> {
    const records = Array.from(changes, ({ table, key, value }) => ({
      table,
      key,
      value: value && recordOf(table, key, value),
    }));
    return this.copy(records);
  }

  /** Like commit, for changes of any number. */
  async commitLog(log: PackedChanges, changes: readonly Change[]): Promise<void> {
    for (const change of changes) log.add(change);
    // lmdb cannot read memory that threads share: of its values it gets copies.
    const copied = (change: Change) => ({ ...change, value: change.value && Buffer.from(change.value) });
    if (log.count <= CHANGES_MAX) return this.copy(Array.from(log.records(), copied));
    this.#thread ??= new CommitThread({
      options: { path: this.folder, ...OPTIONS },
      tableOptions: BINARY,
      tables: TABLES,
    });
    const thread = this.#thread;
    return this.#write(() => thread.commit(log.chunks));
  }

  /** Like commit, but copies records of another environment unchanged, damaged ones included. */
  copy(records: Iterable<Change>): Promise<void> {
    const put = () => {
      for (const { table, key, value } of records) {
        if (value === undefined) void this.#table(table).remove(key);
        else void this.#table(table).put(key, value);
      }
    };
    return this.#write(() => this.#root.batch(put));
  }

  async #write(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new CommitError(await causeOf(error), this.#stillWorks());
    } finally {
      this.#root.resetReadTxn();
    }
  }

  /**
   * lmdb writes the pages of a commit first, and last the one page that makes them valid. If that last write fails,
   * the environment takes no more commits, and no reads. So if it still reads, nothing of the failed commit became valid.
   * It is not asked with another commit: after a panic lmdb-js leaves the promise of one unsettled.
   */
  #stillWorks(): boolean {
    try {
      this.#root.resetReadTxn();
      this.#tables.meta.doesExist(FIRST_KEY);
      return true;
    } catch (error) {
      return !(error as Error).message.includes(PANIC);
    }
  }

  #valueOf(table: TableName, key: Buffer, record: Buffer): Buffer {
    const value = soundValue(table, key, record);
    if (value !== undefined) return value;
    this.#onDamage();
    throw new Failure("store_corrupt", "A stored record is damaged.", {
      cause: new Error(`the record of ${describeKey(key)} in table ${table} fails its checksum`),
    });
  }

  /**
   * A read that comes while it is being closed is refused here: lmdb-js would leave a timer that throws, and the process
   * would end with that.
   */
  #table(name: TableName): Database<Buffer, Buffer> {
    if (this.#isClosed) throw closed();
    return this.#tables[name];
  }

  entryCount(table: TableName): number {
    return (this.#table(table).getStats() as { entryCount: number }).entryCount;
  }

  /** False if the data file was removed or replaced. */
  get isInPlace(): boolean {
    try {
      return identityOf(join(this.folder, DATA_FILE)) === this.#identity;
    } catch {
      return false;
    }
  }

  /** The size of what is in use, without free pages: about what a copy takes. */
  get liveBytes(): number {
    return TABLES.reduce((bytes, table) => bytes + bytesIn(this.#table(table).getStats()), 0);
  }

  get sizeBytes(): number {
    return statSync(join(this.folder, DATA_FILE)).size;
  }

  /** @param isOwn whether the folder still is this process's, so that the size can be noted */
  async close(isOwn = true): Promise<void> {
    this.#isClosed = true;
    if (isOwn && this.isInPlace) noteSize(this.folder);
    await Promise.allSettled(this.#readings);
    await this.#thread?.end();
    await this.#root.close();
  }
}

function closed(): Failure {
  return new Failure("store_unavailable", "The store is closed.", { retryAfterS: 5 });
}

interface TableStatistics {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

function bytesIn(statistics: unknown): number {
  const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = statistics as TableStatistics;
  return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
}

/** What `read` gives of a range from a key on, page by page. */
export function* pagesFrom<T extends Buffer | Entry>(
  start: Buffer,
  limit: number,
  read: (page: { readonly start: Buffer; readonly limit: number }) => T[],
): Generator<T[]> {
  for (let next = start; ; ) {
    const page = read({ start: next, limit });
    assert(page.length <= limit, "a page has no more entries than were asked for");
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    next = keyAfter("key" in last ? last.key : last);
  }
}

/** The lowest key after another one. */
export function keyAfter(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)]);
}

export function isSound(table: TableName, key: Buffer, record: Buffer): boolean {
  return soundValue(table, key, record) !== undefined;
}

/** The value of a record, unless it fails its checksum. */
function soundValue(table: TableName, key: Buffer, record: Buffer): Buffer | undefined {
  const end = record.length - CRC32_BYTES;
  if (end < 0) return undefined;
  // A view of exactly the value: the buffer of a peek is longer than its `length`.
  const value = record.subarray(0, end);
  return record.readUInt32BE(end) === checksumOf(table, key, value) ? value : undefined;
}

/** A key for people: names in plain text, other bytes escaped. */
export function describeKey(key: Buffer): string {
  return JSON.stringify(key.toString());
}

/** A value with its checksum. */
export function recordOf(table: TableName, key: Buffer, value: Buffer): Buffer {
  const record = Buffer.allocUnsafe(value.length + CRC32_BYTES);
  record.set(value);
  record.writeUInt32BE(checksumOf(table, key, value), value.length);
  return record;
}

/** Every read computes one: Node's own CRC-32 takes about a fifth of the time of base/crc32.ts for a value of 1 KiB. */
function checksumOf(table: TableName, key: Buffer, value: Buffer): number {
  return crc32(value, crc32(key, TABLE_NUMBERS[table]));
}

/** lmdb-js rejects with a general error; its `commitError` is a promise that rejects with the specific one. */
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
