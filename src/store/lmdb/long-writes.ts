/**
 * Writes that change a whole user: too many entries to be read and changed in one go. Their user is locked; they are
 * prepared in slices while groups of others are committed, and then stored in one transaction of their own. What others may
 * change meanwhile, such as counters, is left until then.
 */

import { assert, elementAt } from "../../base/assert.ts";
import type { Sliced } from "../../base/slices.ts";
import {
  type Change,
  type Entry,
  type Environment,
  type PackedChanges,
  pagesFrom,
  recordOf,
  TABLES,
  type TableName,
} from "./environment.ts";
import { type AtCommit, checkKey, Writer } from "./writer.ts";

export interface LongWrite<T> {
  /** Whose time on the event loop it takes. */
  readonly account: string;
  /** Whom it locks. */
  readonly users: readonly string[];
  /** Whether it really is: otherwise it goes with the others. */
  readonly isLong: (writer: Writer) => boolean;
  readonly prepare: (writer: Writer) => Sliced<T>;
}

/** Keys that are read in one go. */
const PAGE = 64;
const HEADER_BYTES = 7;
const CHUNK_BYTES = 2 ** 18;

/**
 * Changes as bytes that another thread reads, in order: table 1 · length of the key 2 · length of the record 4 (0: it is
 * removed) · key · record.
 */
export class ChangeLog implements PackedChanges {
  readonly chunks: { readonly bytes: Buffer; length: number }[] = [];
  count = 0;

  add({ table, key, value }: Change): void {
    const record = value && recordOf(table, key, value);
    const length = HEADER_BYTES + key.length + (record?.length ?? 0);
    let chunk = this.chunks.at(-1);
    if (chunk === undefined || chunk.length + length > chunk.bytes.length) {
      chunk = { bytes: Buffer.from(new SharedArrayBuffer(Math.max(CHUNK_BYTES, length))), length: 0 };
      this.chunks.push(chunk);
    }
    const { bytes, length: at } = chunk;
    bytes[at] = TABLES.indexOf(table);
    bytes.writeUInt16LE(key.length, at + 1);
    bytes.writeUInt32LE(record?.length ?? 0, at + 3);
    bytes.set(key, at + HEADER_BYTES);
    if (record !== undefined) bytes.set(record, at + HEADER_BYTES + key.length);
    chunk.length += length;
    this.count += 1;
  }

  get sizeBytes(): number {
    return this.chunks.reduce((sum, { length }) => sum + length, 0);
  }

  /** With whole records. */
  *records(): Generator<Change> {
    for (const { bytes, length } of this.chunks) {
      for (let at = 0; at < length; ) {
        const table = elementAt(TABLES, bytes.readUInt8(at));
        const keyEnd = at + HEADER_BYTES + bytes.readUInt16LE(at + 1);
        const end = keyEnd + bytes.readUInt32LE(at + 3);
        const key = bytes.subarray(at + HEADER_BYTES, keyEnd);
        yield { table, key, value: end === keyEnd ? undefined : bytes.subarray(keyEnd, end) };
        at = end;
      }
    }
  }
}

/** It does not see its own changes: whatever it reads is read before it is changed. */
export class LongWriter extends Writer {
  readonly log = new ChangeLog();
  readonly #current: () => Environment;
  readonly #later: AtCommit[] = [];

  /** @param current asked anew each time, because a compaction replaces it by one with the same entries */
  constructor(current: () => Environment) {
    super(current());
    this.#current = current;
  }

  override get environment(): Environment {
    return this.#current();
  }

  override get(table: TableName, key: Buffer): Buffer | undefined {
    return this.environment.get(table, key);
  }

  override has(table: TableName, key: Buffer): boolean {
    return this.environment.has(table, key);
  }

  override keys(table: TableName, range: { start: Buffer; end: Buffer }): Buffer[] {
    return this.environment.keys(table, range);
  }

  override keyPages(table: TableName, { start, end }: { start: Buffer; end: Buffer }): Generator<Buffer[]> {
    return pagesFrom(start, PAGE, (page) => this.environment.keys(table, { ...page, end }));
  }

  override entries(table: TableName, range: { start: Buffer; end: Buffer }): Entry[] {
    return this.environment.entries(table, range);
  }

  override put(table: TableName, key: Buffer, value: Buffer): void {
    assert(value.length > 0, "a stored record is not empty");
    this.#add({ table, key, value });
  }

  override remove(table: TableName, key: Buffer): void {
    this.#add({ table, key, value: undefined });
  }

  #add(change: Change): void {
    checkKey(change.key);
    this.log.add(change);
  }

  override atCommit(change: AtCommit): void {
    this.#later.push(change);
  }

  /** Makes what was left for the commit. False where it must be prepared anew. */
  conclude(writer: Writer): boolean {
    return this.#later.every((change) => change(writer) !== false);
  }
}
