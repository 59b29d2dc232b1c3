/**
 * The lines of the list of erasures, each with a moment, the number of a master key, and keyed hashes of names; the same
 * follows in the line for each other master key of that time:
 *
 *   MOMENT KEY HASH                    a person, a project or a worktree was erased
 *   MOMENT KEY HASH>HASH,…             what was at a place went to another: also into a project that is shared, or out of it
 *   MOMENT KEY HASH>HASH,… -VALUE,…    the same of one place without those inside it, where these values stayed
 *
 * A backup has what was moved at its old place. So what is erased makes every place wanted from which something had come
 * there before; the lines are read backwards for it, and no name is needed. A move and an erasure meet under any key that both
 * were noted with. Version 0.1.0 wrote one key in a line, and a line for each key of a move.
 */

export interface Erasure {
  readonly atMs: number;
  /** The same place under each master key of that time. */
  readonly marks: readonly PlaceMark[];
}

interface PlaceMark {
  /** The master key that its hash is made with. */
  readonly keyId: number;
  readonly hash: string;
  /** Only the place itself, without those inside it, and no label that has one of these values. */
  readonly except?: ReadonlySet<string> | undefined;
}

/** What was at a place has gone elsewhere. */
interface NotedMove {
  readonly atMs: number;
  readonly marks: readonly MoveMark[];
}

interface MoveMark extends Omit<PlaceMark, "except"> {
  /** The other place, and what that is inside of. */
  readonly to: readonly string[];
  /** Values that have stayed, where the place alone was moved. */
  readonly staying?: ReadonlySet<string> | undefined;
}

const LINE = /^(\S{1,30})((?: \d{1,3} [0-9a-f]{64}(?:>[0-9a-f,]+)?(?: -[0-9a-f,]*)?)+)$/;
const MARK = / (\d{1,3}) ([0-9a-f]{64})(?:>([0-9a-f,]+))?(?: -([0-9a-f,]*))?/g;

/** Lines that were noted at once may stand in either order. */
const AT_ONCE_MS = 10_000;
const LATER_MS = 0.001;

/** What is to be erased by the lines of lists, each place once; a last line that was cut off is none. */
export function erasuresIn(...lists: readonly string[]): Erasure[] {
  const wanted = new Map<string, Erasure>();
  /** The names in `wanted` that have a mark. */
  const marked = new Map<string, Set<string>>();
  const want = (erasure: Erasure) => {
    const names = erasure.marks.map(markName);
    const name = names.join();
    const known = wanted.get(name);
    wanted.set(name, known === undefined ? erasure : inBoth(known, erasure));
    for (const mark of names) marked.set(mark, (marked.get(mark) ?? new Set()).add(name));
  };
  // At the same moment the erasure counts as the later one: nothing may come back.
  const order = (entry: Erasure | NotedMove) => Number(!isMove(entry));
  const entries = lists.flatMap(entriesOf).sort((a, b) => a.atMs - b.atMs || order(a) - order(b));
  for (const entry of entries.reverse()) {
    if (!isMove(entry)) {
      want(entry);
      continue;
    }
    const targets = entry.marks.flatMap(({ keyId, to }) => to.map((hash) => markName({ keyId, hash })));
    const erased = new Set(targets.flatMap((target) => [...(marked.get(target) ?? [])]));
    for (const name of erased) want(beforeMove(wanted.get(name)!, entry));
  }
  return [...wanted.values()].reverse();
}

/** The lines of a list that were noted from a moment on. */
export function linesSince(list: string, sinceMs: number): string {
  const lines = list.split("\n").filter((line) => (entryOf(line)?.atMs ?? 0) >= sinceMs);
  return lines.join("\n");
}

export function lineOf({ atMs, marks }: Erasure): string {
  const all = marks.map(({ keyId, hash, except }) => `${keyId} ${hash}${exceptionOf(except)}`);
  return `${new Date(atMs).toISOString()} ${all.join(" ")}`;
}

export function lineOfMove({ atMs, marks }: NotedMove): string {
  const all = marks.map(
    ({ keyId, hash, to, staying }) => `${keyId} ${hash}>${to.join(",")}${exceptionOf(staying)}`,
  );
  return `${new Date(atMs).toISOString()} ${all.join(" ")}`;
}

/** Whether nothing at the place was left, nor inside it. */
export function erasesAll({ marks }: Erasure): boolean {
  return marks.every(({ except }) => except === undefined);
}

function isMove(entry: Erasure | NotedMove): entry is NotedMove {
  return "to" in entry.marks[0]!;
}

/** In the order in which they were noted: a line is later than those above it, also where the clock was set back. */
function entriesOf(list: string): (Erasure | NotedMove)[] {
  let lastMs = 0;
  let isBehind = false;
  return list.split("\n").flatMap((line) => {
    const entry = entryOf(line);
    if (entry === undefined) return [];
    isBehind = entry.atMs < lastMs - (isBehind ? 0 : AT_ONCE_MS);
    const atMs = isBehind ? lastMs + LATER_MS : entry.atMs;
    lastMs = Math.max(lastMs, atMs);
    return { ...entry, atMs };
  });
}

function entryOf(line: string): Erasure | NotedMove | undefined {
  const [, at, rest] = LINE.exec(line) ?? [];
  const atMs = Date.parse(at ?? "");
  if (rest === undefined || Number.isNaN(atMs)) return undefined;
  const marks = [...rest.matchAll(MARK)].map(([, key, hash, to, values]) => {
    const known = { keyId: Number(key), hash: hash! };
    const but = values === undefined ? undefined : new Set(values.split(",").filter(Boolean));
    return to === undefined ? { ...known, except: but } : { ...known, to: to.split(","), staying: but };
  });
  return { atMs, marks } as Erasure | NotedMove;
}

function exceptionOf(values: ReadonlySet<string> | undefined): string {
  return values === undefined ? "" : ` -${[...values].join(",")}`;
}

function markName({ keyId, hash }: Pick<PlaceMark, "keyId" | "hash">): string {
  return `${keyId} ${hash}`;
}

/** Two erasures of one place, with the same marks: it leaves what both leave. */
function inBoth(one: Erasure, other: Erasure): Erasure {
  const isAll = erasesAll(one) || erasesAll(other);
  const marks = one.marks.map(({ keyId, hash, except }, i) => {
    const both = [...(except ?? [])].filter((value) => other.marks[i]?.except?.has(value));
    return { keyId, hash, except: isAll ? undefined : new Set(both) };
  });
  return { ...one, marks };
}

/** The same erasure at the place where it was before a move; what only one of the keys can tell is not left. */
function beforeMove(erased: Erasure, move: NotedMove): Erasure {
  const marks = move.marks.map(({ keyId, hash, staying }) => {
    const except = erased.marks.find((mark) => mark.keyId === keyId)?.except;
    const isAll = erasesAll(erased) && staying === undefined;
    return { keyId, hash, except: isAll ? undefined : new Set([...(except ?? []), ...(staying ?? [])]) };
  });
  return { ...erased, marks };
}
