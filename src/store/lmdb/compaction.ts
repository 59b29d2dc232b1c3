/**
 * Compaction: no byte of what was forgotten stays in the data files. lmdb keeps old bytes in free pages and in
 * the gaps of used ones, so the live entries are written into a new generation, and the old one is removed.
 * It runs beside any number of readers and writers of any process:
 *
 * 1. the entry `compacting` is set; from then on every write also notes its keys in the journal;
 * 2. all entries are copied, page by page; what changes meanwhile is in the journal;
 * 3. the journal is copied after, until little is left;
 * 4. in one transaction the rest is read and `moved` is set: from here nobody writes into the old generation;
 * 5. the rest is written and flushed; then, with the write lock held once more and only if the move was not
 *    called off meanwhile, the folder names the new generation. Whoever finds `moved` goes there.
 */

import { randomUUID } from "node:crypto";
import { Failure } from "../../base/errors.ts";
import type { CompactReport, Progress } from "../../memory/ports.ts";
import { generationFolder, nameGeneration, removeGeneration } from "./data-folder.ts";
import { DATABASES, type DatabaseName, Environment, type Transaction } from "./environment.ts";
import { FORGOTTEN } from "./fact-writes.ts";
import { COMPACTING, COMPACTION_SILENCE_MS, compactionTime, type Generations, MOVED } from "./generations.ts";
import type { GroupCommit } from "./group-commit.ts";
import { unpackNumber } from "./records.ts";

const PAGE = 2_000;
const REST_MAX = 1_000;
const HEARTBEAT_MS = 5_000;

interface Entry {
  readonly name: DatabaseName;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

export function forgottenSince(environment: Environment): number | undefined {
  const bytes = environment.get("meta", FORGOTTEN);
  return bytes && unpackNumber(bytes);
}

export async function compactStore(
  generations: Generations,
  commit: GroupCommit,
  progress: Progress = () => {},
): Promise<CompactReport> {
  const startedMs = Date.now();
  const token = randomUUID();
  const { begun, forgotten } = await begin(commit, token);
  if (!begun) throw new Failure("conflict", "A compaction is already running.");
  const old = generations.current;
  const { folder, generation } = generations;
  const next = generation + 1;
  const beforeBytes = old.sizeBytes;
  const heartbeat = setInterval(() => void beat(commit, token).catch(() => {}), HEARTBEAT_MS);
  try {
    removeGeneration(folder, next);
    const { entries, afterBytes } = await writeGeneration(
      generationFolder(folder, next),
      old,
      commit,
      token,
      progress,
    );
    if (!(await turnOver(old, folder, next, token))) {
      throw new Failure("conflict", "The compaction was called off: it had been silent for too long.");
    }
    removeGeneration(folder, generation);
    return { beforeBytes, afterBytes, entries, durationMs: Date.now() - startedMs };
  } catch (error) {
    // Not through the group commit, which waits for the move that will not come.
    await old.transact((transaction) => release(transaction, token, forgotten)).catch(() => {});
    removeGeneration(folder, next);
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

/** Steps 2 to 5: all that is live in the old generation, complete and on disk. */
async function writeGeneration(
  folder: string,
  old: Environment,
  commit: GroupCommit,
  token: string,
  progress: Progress,
): Promise<{ entries: number; afterBytes: number }> {
  const fresh = new Environment(folder);
  try {
    const entries = await copyAll(old, fresh, progress);
    while ((await catchUp(fresh, commit)) > REST_MAX);
    await apply(fresh, await move(old, token));
    await fresh.flushed();
    return { entries, afterBytes: fresh.sizeBytes };
  } finally {
    await fresh.close();
  }
}

/** Takes the compaction's place; the time of the first forgetting that it will cover. */
function begin(
  commit: GroupCommit,
  token: string,
): Promise<{ begun: boolean; forgotten?: Buffer | undefined }> {
  return commit.run((writer) => {
    const busy = writer.get("meta", COMPACTING);
    if (busy !== undefined && Date.now() - compactionTime(busy) < COMPACTION_SILENCE_MS)
      return { begun: false };
    for (const key of journalKeys(writer.environment)) writer.remove("journal", key);
    writer.put("meta", COMPACTING, claim(token));
    // What is forgotten from here on sets the mark anew, for the next compaction.
    const forgotten = writer.get("meta", FORGOTTEN);
    if (forgotten !== undefined) writer.remove("meta", FORGOTTEN);
    return { begun: true, forgotten };
  });
}

function claim(token: string): Buffer {
  return Buffer.from(JSON.stringify({ token, atMs: Date.now() }));
}

function beat(commit: GroupCommit, token: string): Promise<void> {
  return commit.run((writer) => {
    if (isHeldBy(writer, COMPACTING, token)) writer.put("meta", COMPACTING, claim(token));
  });
}

function isHeldBy(transaction: Transaction, entry: Buffer, token: string): boolean {
  const bytes = transaction.get("meta", entry);
  return bytes !== undefined && (JSON.parse(bytes.toString()) as { token: string }).token === token;
}

async function copyAll(old: Environment, fresh: Environment, progress: Progress): Promise<number> {
  const names = DATABASES.filter((name) => name !== "journal");
  const total = names.reduce((sum, name) => sum + old.entryCount(name), 0);
  let copied = 0;
  for (const name of names) {
    for (let start = Buffer.of(0) as Buffer; ; ) {
      const page = [...old.table(name).getRange({ start, limit: PAGE })];
      await apply(
        fresh,
        page.map(({ key, value }) => ({ name, key, value })),
      );
      copied += page.length;
      progress(copied, total);
      if (page.length < PAGE) break;
      start = Buffer.concat([page[page.length - 1].key, Buffer.of(0)]);
    }
  }
  return copied;
}

async function apply(fresh: Environment, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await fresh.fill(() => {
    for (const { name, key, value } of entries) {
      if (name === "meta" && (key.equals(COMPACTING) || key.equals(MOVED))) continue;
      if (value === undefined) void fresh.table(name).remove(key);
      else void fresh.table(name).put(key, value);
    }
  });
}

/** Copies what the journal holds; how much that was. */
async function catchUp(fresh: Environment, commit: GroupCommit): Promise<number> {
  const entries = await commit.run((writer) =>
    takeJournal(writer, journalKeys(writer.environment, { limit: PAGE })),
  );
  await apply(fresh, entries);
  return entries.length;
}

function journalKeys(environment: Environment, options: { limit?: number } = {}): Buffer[] {
  return [...environment.table("journal").getKeys({ start: Buffer.of(0), ...options })];
}

function takeJournal(transaction: Transaction, notes: readonly Buffer[]): Entry[] {
  return notes.map((note) => {
    const name = DATABASES[note[0]];
    const key = Buffer.from(note.subarray(1));
    transaction.remove("journal", note);
    return { name, key, value: transaction.get(name, key) };
  });
}

function move(old: Environment, token: string): Promise<Entry[]> {
  return old.transact((transaction) => {
    if (!isHeldBy(transaction, COMPACTING, token))
      throw new Failure("conflict", "The compaction was called off.");
    const rest = takeJournal(transaction, journalKeys(old));
    transaction.put("meta", MOVED, claim(token));
    return rest;
  });
}

function turnOver(old: Environment, folder: string, next: number, token: string): Promise<boolean> {
  return old.transact((transaction) => {
    if (!isHeldBy(transaction, MOVED, token)) return false;
    nameGeneration(folder, next);
    return true;
  });
}

function release(transaction: Transaction, token: string, forgotten: Buffer | undefined): void {
  for (const entry of [COMPACTING, MOVED]) {
    if (isHeldBy(transaction, entry, token)) transaction.remove("meta", entry);
  }
  if (forgotten !== undefined) transaction.put("meta", FORGOTTEN, forgotten);
}
