/**
 * The data folder: `sideband.json` names the format version and the generation that is in use, `store-N/` is
 * the lmdb environment of generation N. Compacting writes generation N + 1 and turns the name over with one
 * rename, so that at every moment exactly one complete store is named.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** 2: a user's record lies with its facts, and commits are counted. */
export const FORMAT_VERSION = 2;
const FORMAT_VERSION_MIN = 1;
const NAME_FILE = "sideband.json";

/** What keeps a data folder from being opened, in words for the operator. */
export class DataFolderError extends Error {
  override name = "DataFolderError";
}

export interface FolderState {
  readonly format: number;
  readonly generation: number;
}

/** The folder's state, or undefined for a folder without a store. */
export function readFolder(folder: string): FolderState | undefined {
  const path = join(folder, NAME_FILE);
  if (!existsSync(path)) return undefined;
  let state: Partial<FolderState>;
  try {
    state = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new DataFolderError(`${path} cannot be read: ${(error as Error).message}`);
  }
  const { format, generation } = state;
  if (typeof format === "number" && format > FORMAT_VERSION) {
    throw new DataFolderError(
      `${folder} has format ${format}, this release knows formats up to ${FORMAT_VERSION}: use a newer release`,
    );
  }
  if (!Number.isInteger(format) || format! < FORMAT_VERSION_MIN || !Number.isInteger(generation)) {
    throw new DataFolderError(`${path} does not name a store`);
  }
  return { format: format!, generation: generation! };
}

/** Names the generation in use, which has the newest format; on disk when it returns. */
export function nameGeneration(folder: string, generation: number): void {
  const path = join(folder, NAME_FILE);
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify({ format: FORMAT_VERSION, generation })}\n`);
  syncPath(draft);
  renameSync(draft, path);
  syncPath(folder);
}

export function generationFolder(folder: string, generation: number): string {
  return join(folder, `store-${generation}`);
}

export function removeGeneration(folder: string, generation: number): void {
  rmSync(generationFolder(folder, generation), { recursive: true, force: true });
}

/** Generations on disk that are not in use: left behind by a compaction that did not finish. */
export function strayGenerations(folder: string, current: number): number[] {
  return readdirSync(folder)
    .map((name) => /^store-(\d+)$/.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .filter((generation) => generation !== current);
}

/** Makes the folder and tries to write into it, so that a start fails early and with the reason. */
export function ensureWritable(folder: string): void {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(probe, "sideband");
    rmSync(probe);
  } catch (error) {
    throw new DataFolderError(`cannot write to the data folder ${folder}: ${(error as Error).message}`);
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
