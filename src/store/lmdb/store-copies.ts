/**
 * Compaction and backup of the embedded store, one at a time, while requests go on. Both fill a new store with a live
 * copy; a compaction then moves the requests over to it and removes the old one, a backup names it in its own folder.
 * Each asks first whether the disk has room, and before each step that changes names whether the data folder is still
 * this process's: what another process has taken over is left alone.
 */

import { assert } from "../../base/assert.ts";
import type { MonotonicClock, ServiceClock } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { AtStep } from "../../base/steps.ts";
import type { BackupReport, CompactReport, Progress } from "../../memory/ports.ts";
import {
  makeStoreFolder,
  nameStore,
  readStoreName,
  readStoreNote,
  removeStore,
  STORE_BYTES_MIN,
} from "./data-folder.ts";
import { makeFolder } from "./durable-files.ts";
import type { Change, Environment } from "./environment.ts";
import { type FolderLock, tryFolderLock } from "./folder-lock.ts";
import type { GroupCommit } from "./group-commit.ts";
import { type CopyReport, LiveCopy } from "./live-copy.ts";
import { describeOwner } from "./open-folder.ts";

/** A copy takes about what is in use, and a part of it more for what is written meanwhile. */
const COPY_SHARE = 1.25;
const COMPACTIONS = "sideband_compactions_total";
const OUTCOMES = ["ok", "no_room", "failed"] as const;

/** A store and its name in the data folder. */
export interface NamedStore {
  readonly environment: Environment;
  readonly name: string;
}

interface StoreCopiesOptions {
  readonly lock: FolderLock;
  readonly commit: GroupCommit;
  readonly inUse: () => NamedStore;
  /** From now on requests go to this store. */
  readonly moveTo: (store: NamedStore) => void;
  readonly open: (folder: string, name: string) => Environment;
  readonly freeBytes: (folder: string) => number;
  readonly clock: ServiceClock;
  readonly monotonic: MonotonicClock;
  readonly metrics: Metrics;
  readonly atStep: AtStep;
}

/** The disk has not enough room for a copy. */
class NoRoomError extends Failure {}

export class StoreCopies {
  readonly #options: StoreCopiesOptions;
  /** A copy has the format of its store. */
  readonly #format: number;
  #copy: LiveCopy | undefined;
  /** The compaction or backup in progress, with what follows its copy. */
  #working: Promise<unknown> | undefined;

  constructor(options: StoreCopiesOptions) {
    this.#options = options;
    const note = readStoreNote(options.lock.folder);
    assert(note !== undefined, "an open folder names its store");
    this.#format = note.format;
    const { metrics } = options;
    metrics.define({ name: COMPACTIONS, help: "Compactions of the data file by outcome.", type: "counter" });
    for (const outcome of OUTCOMES) metrics.add(COMPACTIONS, `outcome="${outcome}"`, 0);
  }

  get isCopying(): boolean {
    return this.#copy !== undefined;
  }

  /** Call it with the changes of every commit. */
  note(changes: readonly Change[]): void {
    this.#copy?.note(changes);
  }

  async compact(progress?: Progress): Promise<CompactReport> {
    const count = (outcome: (typeof OUTCOMES)[number]) =>
      this.#options.metrics.add(COMPACTIONS, `outcome="${outcome}"`);
    try {
      const report = await this.#alone(() => this.#compact(progress));
      count("ok");
      return report;
    } catch (error) {
      count(error instanceof NoRoomError ? "no_room" : "failed");
      throw error;
    }
  }

  async #compact(progress: Progress | undefined): Promise<CompactReport> {
    const { atStep, inUse, lock, monotonic, moveTo } = this.#options;
    lock.requireHeld();
    const startedMs = monotonic.now();
    const old = inUse();
    const beforeBytes = old.environment.sizeBytes;
    const { entries } = await this.#copyInto(lock, progress, async (fresh) => {
      atStep("compaction: caught up");
      try {
        nameStore(lock, fresh.name, this.#format);
      } finally {
        // Also if the disk failed after the name was replaced: writes must go to the store that the next start opens.
        if (readStoreName(lock.folder) === fresh.name) moveTo(fresh);
      }
      atStep("compaction: moved over");
    });
    assert(inUse().environment !== old.environment, "the store in use is not removed");
    await discard(lock, old);
    atStep("compaction: old store removed");
    const afterBytes = inUse().environment.sizeBytes;
    return { beforeBytes, afterBytes, entries, durationMs: Math.round(monotonic.now() - startedMs) };
  }

  /** @param beforeNaming adds what else belongs in the folder; until the store is named, the folder is no backup */
  async backUp(folder: string, beforeNaming: () => void, progress?: Progress): Promise<BackupReport> {
    this.#options.lock.requireHeld();
    makeFolder(folder);
    const target = tryFolderLock(folder);
    if (target === undefined) throw new Failure("conflict", `${folder} is in use ${describeOwner(folder)}`);
    try {
      return await this.#alone(() => this.#backUp(target, beforeNaming, progress));
    } finally {
      target.release();
    }
  }

  async #backUp(
    target: FolderLock,
    beforeNaming: () => void,
    progress: Progress | undefined,
  ): Promise<BackupReport> {
    const { atStep, lock } = this.#options;
    let copy: NamedStore | undefined;
    const report = await this.#copyInto(target, progress, async (fresh) => {
      copy = fresh;
      atStep("backup: caught up");
    });
    await copy?.environment.close();
    beforeNaming();
    atStep("backup: master key copied");
    // Also the master key that was copied is that of the folder's owner.
    lock.requireHeld();
    if (copy !== undefined) nameStore(target, copy.name, this.#format);
    atStep("backup: named");
    return report;
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working !== undefined)
      throw new Failure("conflict", "A compaction or a backup is already running.");
    const working = work();
    this.#working = working.catch(() => {});
    return working.finally(() => {
      this.#working = undefined;
    });
  }

  /** Fills a new store in a folder with all live entries, and calls `complete` between two groups. */
  async #copyInto(
    lock: FolderLock,
    progress: Progress | undefined,
    complete: (fresh: NamedStore) => Promise<void>,
  ): Promise<CopyReport> {
    const { atStep, clock, commit, freeBytes, inUse, open } = this.#options;
    assert(this.#copy === undefined, "one copy is made at a time");
    const { environment } = inUse();
    requireFreeSpace(environment.liveBytes, freeBytes(lock.folder));
    const name = makeStoreFolder(lock);
    const fresh = { environment: open(lock.folder, name), name };
    const copy = new LiveCopy(environment, fresh.environment, { atStep, nowMs: clock.settledMs() });
    this.#copy = copy;
    let report: CopyReport = { entries: 0, damaged: [] };
    try {
      await copy.copyAll(progress);
      await commit.between(async () => {
        report = await copy.finish(clock.now());
        await complete(fresh);
      });
      return report;
    } catch (error) {
      if (inUse().environment !== fresh.environment) await discard(lock, fresh);
      throw error;
    } finally {
      this.#copy = undefined;
    }
  }

  /** A copy in progress is given up and removed. Call it before the group commit is closed. */
  stop(): void {
    this.#copy?.stop();
  }

  /** Resolves when nothing is in progress. */
  async ended(): Promise<void> {
    await this.#working;
  }
}

/** Closes and removes a store that this process has made or opened itself. In a folder that it has lost it stays. */
async function discard(lock: FolderLock, { environment, name }: NamedStore): Promise<void> {
  await environment.close(false);
  if (lock.isHeld() && environment.isInPlace) removeStore(lock, name);
}

/** A copy that fills the disk would stop the writes of this store, and of others. */
function requireFreeSpace(liveBytes: number, freeBytes: number): void {
  const bytesMin = Math.ceil(liveBytes * COPY_SHARE) + STORE_BYTES_MIN;
  if (freeBytes >= bytesMin) return;
  const inMib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  throw new NoRoomError(
    "store_unavailable",
    `a copy of the store takes up to ${inMib(bytesMin)} MiB, and its disk has ${inMib(freeBytes)} MiB free: make room`,
  );
}
