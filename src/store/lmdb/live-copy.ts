/**
 * A copy of the live entries into another store while requests go on. Compaction and backup both use it. lmdb keeps
 * the bytes of removed entries in free pages and in gaps of used pages; a copy entry by entry leaves them behind.
 *
 * The entries are read page by page and written to the copy. The keys that commits change meanwhile are noted in
 * memory, and their entries are copied again with the next page, in their present state. `finish`, called between two
 * groups, copies what is left: from then on both stores hold the same.
 */

import { assert } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import type { AtStep } from "../../base/steps.ts";
import type { Progress } from "../../memory/ports.ts";
import { dayOfAnswer, expiryDayOf } from "./entry-keys.ts";
import {
  type Change,
  describeKey,
  type Entry,
  type Environment,
  FIRST_KEY,
  isSound,
  pagesFrom,
  TABLES,
  type TableName,
} from "./environment.ts";
import { FORGOTTEN, isForgetting, packNumber } from "./records.ts";
import { entryName } from "./writer.ts";

/** Reading a page holds the event loop for a few milliseconds. */
const PAGE = 1_000;

export interface CopyReport {
  readonly entries: number;
  /** Records that failed their checksum. They are copied as they are, and fail it in the copy too. */
  readonly damaged: readonly string[];
}

export class LiveCopy {
  readonly #from: Environment;
  readonly #to: Environment;
  readonly #atStep: AtStep;
  readonly #today: number;
  readonly #changed = new Map<string, { table: TableName; key: Buffer }>();
  readonly #damaged: string[] = [];
  #entries = 0;
  /** Something was forgotten during the copy: its bytes may be in the copy. */
  #forgot = false;
  #stopped = false;

  constructor(from: Environment, to: Environment, { atStep, nowMs }: { atStep: AtStep; nowMs: number }) {
    assert(from.folder !== to.folder, "a store is not copied into itself");
    this.#from = from;
    this.#to = to;
    this.#atStep = atStep;
    this.#today = expiryDayOf(nowMs);
  }

  /** Ends `copyAll` with a failure before it reads the next page. */
  stop(): void {
    this.#stopped = true;
  }

  /** Call it with the changes of every commit after the copy has begun. */
  note(changes: readonly Change[]): void {
    for (const { table, key } of changes) {
      if (isForgetting(table, key)) this.#forgot = true;
      else this.#changed.set(entryName(table, key), { table, key });
    }
  }

  async copyAll(progress: Progress = () => {}): Promise<void> {
    this.#atStep("copy: begun");
    const total = TABLES.reduce((sum, table) => sum + this.#from.entryCount(table), 0);
    for (const table of TABLES) {
      for (const page of pagesFrom(FIRST_KEY, PAGE, (range) => this.#nextPage(table, range))) {
        const kept = page.filter(({ key }) => !isForgetting(table, key) && !this.#isOver(table, key));
        for (const { key, value } of kept) {
          if (!isSound(table, key, value)) this.#damaged.push(`${table} ${describeKey(key)}`);
        }
        // Both are read now, with no commit in between: what changed since the last page, then this page.
        await this.#to.copy([...this.#takeChanged(), ...kept.map((entry) => ({ table, ...entry }))]);
        while (this.#changed.size > PAGE) await this.#to.copy(this.#takeChanged());
        this.#atStep("copy: page written");
        this.#entries += kept.length;
        progress(this.#entries, total);
      }
    }
    this.#atStep("copy: complete");
  }

  #nextPage(table: TableName, range: { readonly start: Buffer; readonly limit: number }): Entry[] {
    if (this.#stopped) throw new Failure("store_unavailable", "The store is closed.");
    return this.#from.records(table, range);
  }

  /** What was answered to a request of days ago. */
  #isOver(table: TableName, key: Buffer): boolean {
    const day = table === "history" ? dayOfAnswer(key) : undefined;
    return day !== undefined && day < this.#today;
  }

  /** @param nowMs noted as the time of forgetting if something was forgotten during the copy */
  async finish(nowMs: number): Promise<CopyReport> {
    while (this.#changed.size > 0) await this.#to.copy(this.#takeChanged());
    assert(this.#changed.size === 0, "nothing is committed while a copy is finished");
    if (this.#forgot) {
      await this.#to.commit([{ table: "meta", key: FORGOTTEN, value: packNumber(nowMs) }]);
    }
    return { entries: this.#entries, damaged: this.#damaged };
  }

  /** The records of changed keys, as they are now; no more than a page of them. */
  #takeChanged(): Change[] {
    const changes: Change[] = [];
    for (const [name, { table, key }] of this.#changed) {
      this.#changed.delete(name);
      if (changes.push({ table, key, value: this.#from.record(table, key) }) >= PAGE) break;
    }
    return changes;
  }
}
