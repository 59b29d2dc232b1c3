/**
 * A disk that loses power, worked out from a recording. What was synced is certain: the data of a file after a sync of
 * that file, a name after a sync of its folder. Of everything else each operation may have reached the disk or not, in
 * any combination; a write page by page. This is less than any file system gives, and all that POSIX promises.
 */

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LogRecord } from "./recording.ts";

/** Writes are kept or lost by pieces of this size. */
const PIECE_BYTES = 4_096;
const ROOT = 0;

type Change =
  | { readonly kind: "write"; readonly node: number; readonly offset: number; readonly data: Buffer }
  | { readonly kind: "truncate"; readonly node: number; readonly size: number }
  /** Names that come or go together; without a node the name goes. */
  | { readonly kind: "names"; readonly names: readonly Name[] };

interface Name {
  readonly folder: number;
  readonly name: string;
  readonly node: number | undefined;
}

export interface Operation {
  /** Its number in the recording. */
  readonly at: number;
  readonly change: Change;
  /** The point from which on it is certain. */
  certainFrom: number;
}

/** What became of an operation that is not certain; "zeros": the file got as long as the write made it, without its data. */
export type Fate = "kept" | "lost" | "zeros";

/** The files by their paths below the recorded folder, and the folders. */
export interface Image {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly folders: readonly string[];
}

export class Disk {
  readonly operations: Operation[] = [];
  readonly #home: string;
  /** The names as the process saw them. */
  readonly #folders = new Map<number, Map<string, number>>([[ROOT, new Map()]]);
  /** The node that an inode number stands for now: numbers are used again. */
  readonly #nodes = new Map<string, number>();
  #nodeCount = 1;

  /** @param home the recorded folder, empty when the recording began */
  constructor(home: string, records: readonly LogRecord[]) {
    this.#home = home;
    for (const [at, record] of records.entries()) this.#add(record, at);
  }

  #add(record: LogRecord, at: number): void {
    const put = (change: Change, certainFrom = Number.POSITIVE_INFINITY) =>
      this.operations.push({ at, change, certainFrom });
    switch (record.kind) {
      case "open": {
        const node = this.#find(record.path) ?? this.#make(record.path, record.folder, put);
        this.#nodes.set(record.inode, node);
        break;
      }
      case "mkdir":
        this.#make(record.path, true, put);
        break;
      case "write": {
        const node = this.#nodes.get(record.inode) as number;
        for (const [offset, data] of pieces(record.offset, record.data))
          put({ kind: "write", node, offset, data }, record.synced ? at + 1 : undefined);
        break;
      }
      case "truncate":
        put({ kind: "truncate", node: this.#nodes.get(record.inode) as number, size: record.size });
        break;
      case "sync":
        this.#sync(this.#nodes.get(record.inode) as number, at + 1);
        break;
      case "remove":
        this.#name([{ ...this.#place(record.path), node: undefined }], put);
        break;
      case "link":
        this.#name([{ ...this.#place(record.to), node: this.#find(record.path) }], put);
        break;
      case "rename": {
        const gone = { ...this.#place(record.path), node: undefined };
        this.#name([gone, { ...this.#place(record.to), node: this.#find(record.path) }], put);
        break;
      }
      case "mark":
    }
  }

  #sync(node: number, certainFrom: number): void {
    for (const operation of this.operations) {
      const { change } = operation;
      const touches =
        change.kind === "names" ? change.names.some(({ folder }) => folder === node) : change.node === node;
      if (touches) operation.certainFrom = Math.min(operation.certainFrom, certainFrom);
    }
  }

  #make(path: string, folder: boolean, put: (change: Change) => void): number {
    const node = this.#nodeCount;
    this.#nodeCount += 1;
    if (folder) this.#folders.set(node, new Map());
    this.#name([{ ...this.#place(path), node }], put);
    return node;
  }

  #name(names: readonly Name[], put: (change: Change) => void): void {
    apply(this.#folders, names);
    put({ kind: "names", names });
  }

  #parts(path: string): string[] {
    return path
      .slice(this.#home.length)
      .split("/")
      .filter((part) => part !== "" && part !== ".");
  }

  #find(path: string): number | undefined {
    let node: number | undefined = ROOT;
    for (const part of this.#parts(path))
      node = node === undefined ? node : this.#folders.get(node)?.get(part);
    return node;
  }

  #place(path: string): { folder: number; name: string } {
    const folder = this.#find(dirname(path));
    if (folder === undefined) throw new Error(`nothing is known of the folder of ${path}`);
    return { folder, name: this.#parts(path).at(-1) as string };
  }

  /** What is on the disk when the power fails at a point: after so many records. */
  imageAt(point: number, fateOf: (operation: Operation) => Fate): Image {
    const folders = new Map<number, Map<string, number>>();
    const contents = new Map<number, Content>();
    for (const operation of this.operations) {
      if (operation.at >= point) break;
      const fate = operation.certainFrom <= point ? "kept" : fateOf(operation);
      const { change } = operation;
      if (fate === "lost") continue;
      if (change.kind === "names") {
        if (fate === "kept") apply(folders, change.names);
        continue;
      }
      const content = contents.get(change.node) ?? new Content();
      contents.set(change.node, content);
      if (change.kind === "truncate") {
        if (fate === "kept") content.resize(change.size);
      } else content.write(change.offset, change.data, fate === "kept");
    }
    return this.#tree(folders, contents);
  }

  #tree(
    names: ReadonlyMap<number, ReadonlyMap<string, number>>,
    contents: ReadonlyMap<number, Content>,
  ): Image {
    const files = new Map<string, Buffer>();
    const folders: string[] = [];
    const visit = (node: number, path: string) => {
      for (const [name, child] of names.get(node) ?? []) {
        const place = path === "" ? name : `${path}/${name}`;
        if (this.#folders.has(child)) {
          folders.push(place);
          visit(child, place);
        } else files.set(place, contents.get(child)?.bytes ?? Buffer.alloc(0));
      }
    };
    visit(ROOT, "");
    return { files, folders };
  }
}

export function digestOf({ files, folders }: Image): string {
  const hash = createHash("sha256").update(JSON.stringify([...folders].sort()));
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([path, bytes.length])).update(bytes);
  return hash.digest("hex");
}

/** Writes an image into an empty folder. */
export function writeImage({ files, folders }: Image, to: string): void {
  for (const path of folders) mkdirSync(join(to, path), { recursive: true });
  for (const [path, bytes] of files) writeFileSync(join(to, path), bytes);
}

function apply(folders: Map<number, Map<string, number>>, names: readonly Name[]): void {
  for (const { folder, name, node } of names) {
    const entries = folders.get(folder) ?? new Map<string, number>();
    folders.set(folder, entries);
    if (node === undefined) entries.delete(name);
    else entries.set(name, node);
  }
}

/** The bytes of a file that grows by many writes. What was never written is zero. */
class Content {
  #room = Buffer.alloc(PIECE_BYTES);
  #size = 0;

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  resize(size: number): void {
    if (size < this.#size) this.#room.fill(0, size, this.#size);
    if (size > this.#room.length) {
      const room = Buffer.alloc(2 * size);
      this.bytes.copy(room);
      this.#room = room;
    }
    this.#size = size;
  }

  /** @param kept false where only the length has reached the disk */
  write(offset: number, data: Buffer, kept: boolean): void {
    this.resize(Math.max(this.#size, offset + data.length));
    if (kept) data.copy(this.#room, offset);
  }
}

function* pieces(offset: number, data: Buffer): Generator<[number, Buffer]> {
  for (let start = 0; start < data.length; ) {
    const end = Math.min(data.length, start + PIECE_BYTES - ((offset + start) % PIECE_BYTES));
    yield [offset + start, data.subarray(start, end)];
    start = end;
  }
}
