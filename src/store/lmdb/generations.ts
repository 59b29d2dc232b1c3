/**
 * Follows the data folder from generation to generation. When a store has been compacted, its old generation
 * holds the entry `moved`: readers and writers of every process see it in the transaction that they work in
 * anyway, and go on in the new one. A writer never writes into a generation that has moved.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  DataFolderError,
  ensureWritable,
  FORMAT_VERSION,
  generationFolder,
  nameGeneration,
  readFolder,
  removeGeneration,
  strayGenerations,
} from "./data-folder.ts";
import { Environment } from "./environment.ts";
import { upgrade } from "./upgrade.ts";

export const MOVED = Buffer.from("moved");
export const COMPACTING = Buffer.from("compacting");
const BORN = Buffer.from("born");

/** A compaction that has not said a word for so long is taken for dead. */
export const COMPACTION_SILENCE_MS = 30_000;
/** Requests of this process may still read the old generation in this turn of the event loop. */
const CLOSE_DELAY_MS = 1_000;
const OPEN_ATTEMPTS = 20;

export interface OpenOptions {
  /** Makes the store where the folder has none. */
  readonly create: boolean;
  /** Called while a folder of an older format is rewritten, with the number of users so far. */
  readonly upgraded?: ((users: number) => void) | undefined;
}

export class Generations {
  readonly folder: string;
  #generation: number;
  #environment: Environment;
  readonly #closing = new Set<Promise<void>>();
  #closed = false;
  #fresh = false;
  #snapshot = 0;

  private constructor(folder: string, generation: number, environment: Environment) {
    this.folder = folder;
    this.#generation = generation;
    this.#environment = environment;
  }

  /** Opens the store of a folder; with `create` a folder without one gets it. */
  static async open(folder: string, options: OpenOptions): Promise<Generations> {
    if (options.create) ensureWritable(folder);
    if (readFolder(folder) === undefined) {
      if (!options.create) throw new DataFolderError(`there is no store in ${folder}`);
      // Two processes may come first at once: both prepare generation 1 through the same lmdb lock.
      await prepare(new Environment(generationFolder(folder, 1)));
      if (readFolder(folder) === undefined) nameGeneration(folder, 1);
    }
    const { generation, environment } = openNamed(folder);
    const generations = new Generations(folder, generation, environment);
    await generations.#tidy();
    if (readFolder(folder)!.format < FORMAT_VERSION) {
      await upgrade(environment, options.upgraded);
      // With the write lock, as a compaction does: another process may have come first, and compacted since.
      await environment.transact(() => {
        if (readFolder(folder)!.format < FORMAT_VERSION) nameGeneration(folder, generation);
      });
    }
    return generations;
  }

  /**
   * The environment in use, with a snapshot that is at most a millisecond old and knows every commit of this
   * process. lmdb-js keeps its read transaction about as long anyway: whether the store has moved cannot change
   * within one, so it is looked at once for each.
   */
  get current(): Environment {
    if (!this.#fresh) this.#look();
    return this.#environment;
  }

  /** Another number for each snapshot: what was read from `current` holds as long as it stays. */
  get snapshot(): number {
    if (!this.#fresh) this.#look();
    return this.#snapshot;
  }

  /** To be called after a commit: reads from here on see it. */
  renew(): void {
    this.#fresh = false;
  }

  #look(): void {
    this.#environment.renewSnapshot();
    if (this.#environment.peek("meta", MOVED) !== undefined) this.#follow();
    this.#snapshot += 1;
    this.#fresh = true;
    setTimeout(() => this.renew(), 0);
  }

  get generation(): number {
    return this.#generation;
  }

  /** The environment as it was last known, without looking whether it has moved. */
  get latest(): Environment {
    return this.#environment;
  }

  /** Goes to the generation that the folder names; false where it is the one already in use. */
  #follow(): boolean {
    const named = readFolder(this.folder);
    if (this.#closed || named === undefined || named.generation === this.#generation) return false;
    const old = this.#environment;
    const { generation, environment } = openNamed(this.folder);
    this.#generation = generation;
    this.#environment = environment;
    const closing = new Promise<void>((resolve) => {
      setTimeout(() => old.close().then(resolve, resolve), CLOSE_DELAY_MS).unref();
    });
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
    return true;
  }

  /**
   * For a writer that has found its generation moved: waits until the folder names the next one. A compaction
   * that died in between is called off, under the write lock, and the old generation stays in use.
   */
  async awaitMove(): Promise<void> {
    for (let waitedMs = 0; !this.#follow(); waitedMs += 20) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (waitedMs < COMPACTION_SILENCE_MS) continue;
      await callOff(this.#environment, this.folder, this.#generation);
      return;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.race([Promise.all(this.#closing), new Promise((resolve) => setTimeout(resolve, 50))]);
    await this.#environment.close();
  }

  /** Clears away what a compaction that did not finish has left. */
  async #tidy(): Promise<void> {
    const busy = this.#environment.get("meta", COMPACTING);
    if (busy !== undefined && Date.now() - compactionTime(busy) < COMPACTION_SILENCE_MS) return;
    if (busy !== undefined || this.#environment.get("meta", MOVED) !== undefined) {
      await callOff(this.#environment, this.folder, this.#generation);
    }
    for (const stray of strayGenerations(this.folder, this.#generation)) removeGeneration(this.folder, stray);
  }
}

export function compactionTime(entry: Buffer): number {
  return (JSON.parse(entry.toString()) as { atMs: number }).atMs;
}

async function prepare(environment: Environment): Promise<void> {
  await environment.transact((transaction) => {
    if (transaction.get("meta", BORN) === undefined) {
      transaction.put("meta", BORN, Buffer.from(new Date().toISOString()));
    }
  });
  await environment.close();
}

/** Takes back a move and a compaction, unless the move has been completed meanwhile. */
async function callOff(environment: Environment, folder: string, generation: number): Promise<void> {
  await environment.transact((transaction) => {
    if (readFolder(folder)?.generation !== generation) return;
    for (const entry of [MOVED, COMPACTING]) transaction.remove("meta", entry);
  });
  await environment.table("journal").clearAsync();
}

/** Opens the generation that the folder names, and makes sure that it is still named when open. */
function openNamed(folder: string): { generation: number; environment: Environment } {
  for (let attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
    const named = readFolder(folder);
    if (named === undefined) break;
    const { generation } = named;
    const path = generationFolder(folder, generation);
    if (!existsSync(join(path, "data.mdb"))) continue;
    let environment: Environment;
    try {
      environment = new Environment(path);
    } catch (error) {
      // The next compaction may have removed it in this very moment; then the folder names another one.
      if (readFolder(folder)?.generation === generation) throw error;
      continue;
    }
    const genuine = environment.get("meta", BORN) !== undefined;
    if (genuine && readFolder(folder)?.generation === generation) return { generation, environment };
    // A compaction has just removed it: what was opened is an empty shell.
    void environment.close();
    if (!genuine && readFolder(folder)?.generation !== generation) removeGeneration(folder, generation);
  }
  throw new DataFolderError(`the store in ${folder} is named but not there, or it is damaged`);
}
