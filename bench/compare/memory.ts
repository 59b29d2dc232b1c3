/**
 * What the comparison asks of every peer: a few calls on one memory, in the way that the peer's own documents say. What a
 * peer has no call for is left out, and the measures say so.
 */

import type { Place } from "./place.ts";

/** The name by which the agents of the comparison are known, where a memory asks for one. */
export const WRITER = "agent-seven";

export interface Memory {
  /** Stores a value under a label, or replaces the one there. Throws where it is refused. */
  write(label: string, value: string): Promise<void>;
  read(label: string): Promise<string | undefined>;
  /** Takes the label away for good. */
  erase(label: string): Promise<void>;
  /** Adds one item to what a label holds, in the peer's own way. */
  add(label: string, item: string): Promise<void>;
  /** Whether what an agent is given at its start has this value, where that is less than the memory. */
  shows?(label: string, value: string): Promise<boolean>;
  /** All values by label, where the peer reads all of them for each. */
  all?(): Promise<Readonly<Record<string, string>>>;
  /** The text that an agent is given at its start. */
  index(): Promise<string>;
  /** The earlier values of a label, where the peer has them. */
  history?(label: string): Promise<string>;
  /** Says who writes from now on, where the memory has a field for that and does not know by itself. */
  sign?(): Promise<void>;
  /** All that the memory says of a label, where that is more than its value. */
  record?(label: string): Promise<string>;
  /** Puts back what a label held before the last write. */
  undo?(label: string): Promise<void>;
  /** The calls of the memory that were made until now, where it can undo. */
  calls?(): Promise<number>;
  /** What makes the peer give up space. */
  compact?(): Promise<void>;
  /** The tools and instructions that a model reads, as one text. */
  tools?(): Promise<string>;
  /** The same with the fewest tools that the documents name. */
  fewTools?(): Promise<string>;
  close(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  readonly group: "MCP over stdio" | "store";
  /** What npm installs for it; empty where there is nothing to install. */
  readonly packages: readonly string[];
  /** What Debian installs for it beside. */
  readonly debian?: readonly string[];
  /** What a write has done when it is answered, as the peer is run here. */
  readonly durability: string;
  /** How add() adds, in words. */
  readonly adds: string;
  /** Writes of different labels may be sent at once: the others keep few of them (see the measure of writers). */
  readonly takesMany?: true;
  /** How a memory that keeps it learns who writes. */
  readonly signs?: string;
  /** How its server is told to have the fewest tools. */
  readonly fewTools?: string;
  /** What compact() is, in words. */
  readonly compaction?: string;
  /** What mend() is, in words. */
  readonly repair?: string;
  /** Lays out what is installed, where that is more than packages: no start counts it. */
  prepare?(place: Place): Promise<void>;
  /** What its documents say to do where it does not open after a loss of power. */
  mend?(place: Place): Promise<void>;
  /** What else a reader has to know. */
  readonly note?: string;
  /** Times would be those of a stand-in. */
  readonly untimed?: string;
  version(): string;
  /** Starts the server that all clients share, if the peer has one. */
  start?(place: Place): Promise<void>;
  /** A client, or a server of its own on the same folder. A store is opened in a process of its own (library-process.ts). */
  open(place: Place): Promise<Memory>;
}

const AT_ONCE = 16;

/** Does something for each, for a few at once. */
export async function forEach<T>(items: Iterable<T>, act: (item: T) => Promise<void>, atOnce = AT_ONCE) {
  const left = items[Symbol.iterator]();
  const take = async () => {
    for (let next = left.next(); next.done !== true; next = left.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, take));
}

/** The values of some labels. */
export async function valuesOf(memory: Memory, labels: Iterable<string>) {
  const all = await memory.all?.();
  const found = new Map<string, string | undefined>();
  await forEach(labels, async (label) => {
    found.set(label, all === undefined ? await memory.read(label).catch(() => undefined) : all[label]);
  });
  return found;
}

/** For those that have no way of their own to add: read, add, write. */
export async function addByWriting(memory: Pick<Memory, "read" | "write">, label: string, item: string) {
  const before = await memory.read(label);
  await memory.write(label, before === undefined ? item : `${before}; ${item}`);
}
