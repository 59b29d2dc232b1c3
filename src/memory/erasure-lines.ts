/**
 * The lines of the list of erasures, each with a moment, the number of a master key, and keyed hashes of names:
 *
 *   MOMENT KEY HASH                    a person, a project or a worktree was erased
 *   MOMENT KEY HASH>HASH,…             what was at a place went to another: also into a project that is shared, or out of it
 *   MOMENT KEY HASH>HASH,… -VALUE,…    the same of one place without those inside it, where these values stayed
 *
 * A backup has what was moved at its old place. So what is erased makes every place wanted from which something had come
 * there before; the lines are read backwards for it, and no name is needed.
 */

export interface Erasure {
  readonly atMs: number;
  /** The master key that its hash is made with. */
  readonly keyId: number;
  readonly hash: string;
  /** Only the place itself, without those inside it, and no label that has one of these values. */
  readonly except?: ReadonlySet<string> | undefined;
}

/** What was at a place has gone elsewhere. */
interface NotedMove extends Omit<Erasure, "except"> {
  /** The other place, and what that is inside of. */
  readonly to: readonly string[];
  /** Values that have stayed, where the place alone was moved. */
  readonly staying?: ReadonlySet<string> | undefined;
}

const LINE = /^(\S{1,30}) (\d{1,3}) ([0-9a-f]{64})(?:>([0-9a-f,]+))?(?: -([0-9a-f,]*))?$/;

/** What is to be erased by the lines of a list from a moment on, each place once; a last line that was cut off is none. */
export function erasuresIn(text: string, sinceMs = 0): Erasure[] {
  const lines = text.split("\n").flatMap((line) => entryOf(line) ?? []);
  const wanted = new Map<string, Erasure>();
  const want = (erasure: Erasure) => {
    const name = hashNameOf(erasure);
    const known = wanted.get(name);
    wanted.set(name, known === undefined ? erasure : { ...erasure, except: inBoth(known, erasure) });
  };
  // At the same moment the erasure counts as the later one: nothing may come back.
  const order = ({ to }: Partial<NotedMove>) => Number(to === undefined);
  const entries = lines
    .filter(({ atMs }) => atMs >= sinceMs)
    .sort((a, b) => a.atMs - b.atMs || order(a) - order(b));
  for (const entry of entries.reverse()) {
    if (!("to" in entry)) {
      want(entry);
      continue;
    }
    const { keyId, hash, to, staying } = entry;
    for (const target of to) {
      const erased = wanted.get(hashNameOf({ keyId, hash: target }));
      if (erased !== undefined) want({ ...erased, hash, except: inEither(erased.except, staying) });
    }
  }
  return [...wanted.values()].reverse();
}

export function lineOf({ atMs, keyId, hash, except }: Erasure): string {
  return `${new Date(atMs).toISOString()} ${keyId} ${hash}${exceptionOf(except)}`;
}

export function lineOfMove({ atMs, keyId, hash, to, staying }: NotedMove): string {
  return `${new Date(atMs).toISOString()} ${keyId} ${hash}>${to.join(",")}${exceptionOf(staying)}`;
}

function entryOf(line: string): Erasure | NotedMove | undefined {
  const [, at, key, hash, to, values] = LINE.exec(line) ?? [];
  if (at === undefined || hash === undefined) return undefined;
  const known = { atMs: Date.parse(at), keyId: Number(key), hash };
  const but = values === undefined ? undefined : new Set(values.split(",").filter(Boolean));
  return to === undefined ? { ...known, except: but } : { ...known, to: to.split(","), staying: but };
}

function exceptionOf(values: ReadonlySet<string> | undefined): string {
  return values === undefined ? "" : ` -${[...values].join(",")}`;
}

function hashNameOf({ keyId, hash }: Pick<Erasure, "keyId" | "hash">): string {
  return `${keyId} ${hash}`;
}

/** What two erasures of one place both leave. */
function inBoth(
  { except: a }: Pick<Erasure, "except">,
  { except: b }: Pick<Erasure, "except">,
): Erasure["except"] {
  if (a === undefined || b === undefined) return undefined;
  return new Set([...a].filter((value) => b.has(value)));
}

function inEither(a: Erasure["except"], b: Erasure["except"]): Erasure["except"] {
  if (a === undefined || b === undefined) return a ?? b;
  return new Set([...a, ...b]);
}
