/** What writes see of the store and change in it, before it is committed. */

import { assert, assertInteger } from "../../base/assert.ts";
import { type Change, type Entry, type Environment, KEY_BYTES_MAX, type TableName } from "./environment.ts";
import { FORGOTTEN, packNumber, unpackNumber } from "./records.ts";

/** Must be synchronous. */
export type Write<T> = (writer: Writer) => T;

/** A change of what others may change meanwhile. False where what it rests on has changed, so that the write is prepared anew. */
export type AtCommit = (writer: Writer) => unknown;

/** A counter has six bytes. */
const COUNT_MAX = 2 ** 48 - 1;

/** What a write sees of the store: what is on disk, and what its group has written so far. */
export class Writer {
  readonly #environment: Environment;
  readonly #changes = new Map<string, Change>();
  /** Most writes of a group change the same few counters: each is stored once, at the end of the group. */
  readonly #counts = new Map<string, { count: number; changed: boolean }>();

  /** How to take back what the present write has changed. */
  #undo: Undo[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  get environment(): Environment {
    return this.#environment;
  }

  get(table: TableName, key: Buffer): Buffer | undefined {
    const change = this.#changes.get(entryName(table, key));
    return change === undefined ? this.environment.get(table, key) : change.value;
  }

  has(table: TableName, key: Buffer): boolean {
    const change = this.#changes.get(entryName(table, key));
    return change === undefined ? this.environment.has(table, key) : change.value !== undefined;
  }

  /** The keys of a range, in order. It looks at every change of the group. */
  keys(table: TableName, range: { start: Buffer; end: Buffer }): Buffer[] {
    return this.#overlay(table, range, this.environment.keys(table, range), (key) => key);
  }

  /** The keys of a range page by page, in order. */
  *keyPages(table: TableName, range: { start: Buffer; end: Buffer }): Generator<Buffer[]> {
    yield this.keys(table, range);
  }

  /** The entries of a range, in the order of their keys. */
  entries(table: TableName, range: { start: Buffer; end: Buffer }): Entry[] {
    const stored = this.environment.entries(table, range);
    return this.#overlay(table, range, stored, (key, value) => ({ key, value }));
  }

  /** What is stored in a range, with the changes of the group. */
  #overlay<T extends Buffer | Entry>(
    table: TableName,
    { start, end }: { start: Buffer; end: Buffer },
    stored: T[],
    made: (key: Buffer, value: Buffer) => T,
  ): T[] {
    // Names are in the order of the bytes of their keys.
    const [first, last] = [entryName(table, start), entryName(table, end)];
    const changed: string[] = [];
    for (const name of this.#changes.keys()) if (name >= first && name < last) changed.push(name);
    if (changed.length === 0) return stored;
    const all = new Map(stored.map((item) => [entryName(table, "key" in item ? item.key : item), item]));
    for (const name of changed) {
      const { key, value } = this.#changes.get(name)!;
      if (value === undefined) all.delete(name);
      else all.set(name, made(key, value));
    }
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  }

  put(table: TableName, key: Buffer, value: Buffer): void {
    assert(value.length > 0, "a stored record is not empty");
    this.#change({ table, key, value });
  }

  remove(table: TableName, key: Buffer): void {
    this.#change({ table, key, value: undefined });
  }

  #change(change: Change): void {
    checkKey(change.key);
    const name = entryName(change.table, change.key);
    this.#undo.push({ map: this.#changes, name, before: this.#changes.get(name) });
    this.#changes.set(name, change);
  }

  count(name: string): number {
    let known = this.#counts.get(name);
    if (known === undefined) {
      known = { count: unpackNumber(this.environment.get("counters", Buffer.from(name))), changed: false };
      this.#counts.set(name, known);
    }
    return known.count;
  }

  setCount(name: string, count: number): void {
    assertInteger(count, 0, COUNT_MAX, "a stored count");
    this.#undo.push({ map: this.#counts, name, before: this.#counts.get(name) });
    this.#counts.set(name, { count, changed: true });
  }

  /** Does what must be done when the write is committed: in a group that is now. */
  atCommit(change: AtCommit): void {
    change(this);
  }

  changes(): Change[] {
    for (const [name, { count, changed }] of this.#counts) {
      if (changed) this.put("counters", Buffer.from(name), packNumber(count));
    }
    return [...this.#changes.values()];
  }

  /** Runs one write of the group. Where it throws, what it has changed so far is taken back. */
  attempt<T>(write: (writer: Writer) => T): T {
    this.#undo = [];
    try {
      return write(this);
    } catch (error) {
      for (const { map, name, before } of this.#undo.reverse()) {
        if (before === undefined) map.delete(name);
        else map.set(name, before);
      }
      throw error;
    }
  }
}

interface Undo {
  // biome-ignore lint/suspicious/noExplicitAny: a value goes back to the map that it came from.
  readonly map: Map<string, any>;
  readonly name: string;
  readonly before: unknown;
}

/** A text that is unique for a table and a key. */
export function entryName(table: TableName, key: Buffer): string {
  return `${table}\0${key.toString("latin1")}`;
}

/** lmdb-js would refuse such a key inside the transaction and still commit the other changes. */
export function checkKey({ length }: Buffer): void {
  assert(length > 0 && length <= KEY_BYTES_MAX, `a key has 1 to ${KEY_BYTES_MAX} bytes`);
}

export function addToCounter(writer: Writer, counter: string, change: number): void {
  if (change !== 0) writer.atCommit((at) => at.setCount(counter, at.count(counter) + change));
}

/** Whoever is new goes on after it. */
export function noteRevision(writer: Writer, revision: number, counter: string): void {
  writer.atCommit((at) => {
    if (revision > at.count(counter)) at.setCount(counter, revision);
  });
}

/** Always written: a copy in progress learns from it that something was forgotten. */
export function noteForgetting(writer: Writer, nowMs: number): void {
  writer.atCommit((at) => at.put("meta", FORGOTTEN, at.get("meta", FORGOTTEN) ?? packNumber(nowMs)));
}
