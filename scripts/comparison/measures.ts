/**
 * The tables of the comparison with other memories: for each measure what was done, and a row for each memory. A measure that has
 * no result yet has no table.
 */

import type { Results } from "../../bench/compare/results.ts";
import {
  type Cell,
  type Column,
  cellOf,
  count,
  distinct,
  entriesOf,
  least,
  median,
  most,
  range,
  resultsOf,
  share,
  words,
} from "./columns.ts";

import { aboutDialogues, compactedTable, DIALOGUE_COLUMNS, type Dialogues, LEFT } from "./dialogues.ts";

export interface Values {
  readonly values: number;
  readonly equal: number;
  readonly changed: number;
  readonly refused: number;
  readonly lost: number;
  /** Of what is in the memory, what a prompt has. */
  readonly inPrompt?: number;
}

interface Kept {
  readonly sent: number;
  readonly acknowledged: number;
  readonly kept: number;
}

export interface Writers {
  readonly inOne: Kept;
  readonly inMany: Kept;
  readonly addedInOne: Kept;
  readonly addedInMany: Kept;
}

export interface Lost {
  /** Of the two one is there. */
  readonly kills?: number;
  readonly losses?: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly opens?: boolean;
  readonly closed?: number;
  readonly mended?: number;
}

export interface Undo {
  readonly undone: boolean;
  readonly calls: number;
  readonly author: boolean;
}

export interface Erase {
  readonly answered: boolean;
  readonly history: boolean;
  readonly files: boolean;
  readonly filesAfter: boolean;
  readonly backup: boolean;
}

export interface Tokens {
  readonly tools?: number;
  readonly prompt: Readonly<Record<string, number>>;
}

interface Install {
  readonly seconds: number;
  readonly packages: number;
  readonly mb: number;
  readonly debian?: { readonly packages: number; readonly mb: number };
}

interface Round {
  readonly startMs: number;
  readonly write: Percentiles;
  readonly read: Percentiles;
  readonly restMb: number;
}

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

interface Speed {
  /** Of the process that opens a store, without the store. */
  readonly hostMb?: number;
  readonly rounds?: readonly Round[];
}

/** A table of several columns, each from a measure. */
interface Plan {
  readonly title: string;
  readonly about: (results: Results) => string;
  readonly columns: readonly (readonly [measure: string, column: Column<never>])[];
  /** What stands below the table. */
  readonly more?: (results: Results) => string;
  /** A column of what the file says of each memory. */
  readonly ofPeer?: readonly [name: string, field: string];
}

export interface Table {
  readonly title: string;
  readonly about: string;
  readonly head: readonly string[];
  /** By the memory's name in the file of results. */
  readonly rows: ReadonlyMap<string, readonly Cell[]>;
  /** What stands below it: what could not be measured, and why. */
  readonly below: readonly string[];
}

/** All columns of one measure. */
function columns<R>(measure: string, ...list: Column<R>[]): Plan["columns"] {
  return list.map((column) => [measure, column as unknown as Column<never>]);
}

const first = <R>(results: Results, measure: string) =>
  resultsOf<R>(results, measure, ...Object.keys(results.peers))[0];
const found = (is: boolean) => (is ? "there" : "gone");
const yesOrNo = (is: boolean) => (is ? "yes" : "no");
const keptOf = (name: string, of: (result: Writers) => Kept) =>
  share<Writers>(name, (result) => [of(result).kept, of(result).acknowledged])("more");

/** In per cent of all runs together. */
function shareOfAll<R>(better: "more" | "less", part: (result: R) => number, whole: (result: R) => number) {
  const of = (all: readonly R[]) => {
    const [parts, wholes] = [part, whole].map((number) => all.reduce((sum, one) => sum + number(one), 0));
    return (100 * parts) / wholes;
  };
  return {
    name: "of all",
    text: (all: readonly R[]) => `${Math.round(of(all))} %`,
    score: (one: R) => (better === "less" ? of([one]) : -of([one])),
  };
}

/** The columns that README.md has too. */
export const KEPT_IN_ONE = keptOf("one process: kept", ({ inOne }) => inOne);
export const KEPT_IN_MANY = keptOf("many processes: kept", ({ inMany }) => inMany);
export const LOST = share<Lost>("", ({ lost, acknowledged }) => [lost, acknowledged])("less");
/** Of all runs together. */
export const LOST_IN_ALL = shareOfAll<Lost>(
  "less",
  ({ lost }) => lost,
  ({ acknowledged }) => acknowledged,
);
export const KEPT_OF_MANY = shareOfAll<Writers>(
  "more",
  ({ inMany }) => inMany.kept,
  ({ inMany }) => inMany.acknowledged,
);
export const UNDONE = words<Undo>(
  "wrong value undone",
  ({ undone, calls }) => (undone ? `yes, ${count(calls)} calls` : "no"),
  ({ undone, calls }) => (undone ? calls : Number.POSITIVE_INFINITY),
);
export const AUTHOR = words<Undo>(
  "its writer known",
  ({ author }) => yesOrNo(author),
  ({ author }) => Number(!author),
);
export const TOOLS: Column<Tokens> = {
  name: "tools and instructions",
  text: (all) => {
    const known = all.flatMap(({ tools }) => tools ?? []);
    return known.length === 0 ? "none" : range(known);
  },
  score: ({ tools }) => tools ?? Number.NaN,
};
export const promptOf = (facts: string) => least<Tokens>(`${facts} facts`, ({ prompt }) => prompt[facts]);
export const EQUAL = most<Values>("equal", ({ equal }) => equal);

const gone = (name: string, of: (result: Erase) => boolean) =>
  words<Erase>(
    name,
    (result) => found(of(result)),
    (result) => Number(of(result)),
  );
export const GONE_AFTER = gone("files, after its compaction", ({ filesAfter }) => filesAfter);
export const LEFT_AFTER = words<Erase>("left", ({ filesAfter }) => (filesAfter ? "the value" : "nothing"));

/** The median of all rounds, its ratio to Sideband's, and the spread of that. */
function timed(name: string, unit: string, of: (round: Round) => number): Column<Speed> {
  const all = (speeds: readonly Speed[]) => speeds.flatMap(({ rounds = [] }) => rounds.map(of));
  return {
    name,
    text: (speeds, own) => {
      const numbers = all(speeds);
      if (numbers.length === 0) return "not timed";
      const base = median(all(own));
      const ratio = (number: number) => (number / base).toLocaleString("en", { maximumSignificantDigits: 2 });
      const ends = [Math.min(...numbers), Math.max(...numbers)].map(ratio);
      return `${count(median(numbers))} ${unit}: ${ratio(median(numbers))} (${distinct(ends).join(" to ")})`;
    },
    score: (speed) => median(all([speed])),
  };
}

export const WRITE_TIME: Column<Speed> = {
  name: "write, median",
  text: (speeds) => {
    const times = writesOf(speeds);
    return times.length === 0 ? "not timed" : `${count(Number(median(times).toPrecision(1)))} ms`;
  },
  score: (speed) => median(writesOf([speed])),
};

function writesOf(speeds: readonly Speed[]): number[] {
  return speeds.flatMap(({ rounds = [] }) => rounds.map(({ write }) => write.p50));
}

const PLANS: readonly Plan[] = [
  {
    title: LEFT,
    about: aboutDialogues,
    columns: columns<Dialogues>("dialogues", ...DIALOGUE_COLUMNS),
    more: compactedTable,
  },
  {
    title: "Many writers at once",
    about: (results) => {
      const { addedInOne, inOne } = first<Writers>(results, "writers");
      return `${count(addedInOne.sent)} writers write ${count(inOne.sent / addedInOne.sent)} labels each, first through one process, then each through a process of its own on the same
memory. Then each of them adds an item to one and the same label, in the memory's own way. What was answered as done should be there
afterwards: kept, of what was answered as done.`;
    },
    columns: columns<Writers>(
      "writers",
      KEPT_IN_ONE,
      KEPT_IN_MANY,
      keptOf("added to one label, one process", ({ addedInOne }) => addedInOne),
      keptOf("the same, many processes", ({ addedInMany }) => addedInMany),
    ),
    ofPeer: ["how it adds", "adds"],
  },
  {
    title: "Kills and losses of power",
    about: (results) => {
      const kills = count(first<Lost>(results, "kills")?.kills ?? 0);
      const losses = count(first<Lost>(results, "power")?.losses ?? 0);
      return `A client writes, and everything is killed at a random moment (${kills} times), or loses its power (${losses} times). A kill alone tests no sync, because the
system still writes what it was given. For a loss of power all that a memory does to its files is recorded, and a disk is made that keeps what was synced and, of the
rest, nothing or a random part. Lost, of what was answered as done; with it how often the memory could not be opened again.`;
    },
    columns: [
      ...columns<Lost>("kills", { ...LOST, name: "lost in kills" }),
      ...columns<Lost>(
        "kills",
        words(
          "opens again",
          ({ opens }) => yesOrNo(opens === true),
          ({ opens }) => Number(!opens),
        ),
      ),
      ...columns<Lost>("power", { ...LOST, name: "lost with the power" }),
      ...columns<Lost>("power", {
        name: "did not open",
        text: (all) =>
          distinct(
            all.map(({ closed = 0, losses = 0, mended = 0 }) =>
              [
                `${count(closed)} of ${count(losses)}`,
                ...(mended > 0 ? [`${count(mended)} mended`] : []),
              ].join(", "),
            ),
          ).join("; then "),
        score: ({ closed }) => closed ?? 0,
      }),
    ],
    ofPeer: ["what an answer means, as run here", "durability"],
    more: ({ peers }) =>
      Object.values(peers)
        .filter(({ repair }) => repair !== undefined)
        .map(
          ({ name, repair }) =>
            `What ${name}'s documents say to do where it does not open: \`${repair}\`. What is lost is counted after it.`,
        )
        .join("\n"),
  },
  {
    title: "A wrong value undone",
    about:
      () => `A wrong value has replaced a right one, and nothing was prepared for that: does the right one come back, and is it known who wrote the wrong one?
mcp-memory-keeper can go back to a checkpoint, if somebody made one before; a file in git can go back to a commit.`,
    columns: columns<Undo>("undo", UNDONE, AUTHOR),
  },
  {
    title: "A value erased",
    about:
      () => `A secret was written, replaced and erased by the memory's own call: who looks through its answers and its files, byte by byte, finds it there or
finds it gone. "Older copy" is one of the folder that was made before the erasure. A file that is written anew each time has lost an erased text at once,
and waits for no compaction.`,
    columns: columns<Erase>(
      "erase",
      gone("answers, history", ({ answered, history }) => answered || history),
      gone("files, at once", ({ files }) => files),
      GONE_AFTER,
      gone("older copy", ({ backup }) => backup),
    ),
    ofPeer: ["its compaction", "compaction"],
  },
  {
    title: "Values come back equal",
    about: (results) =>
      `${count(first<Values>(results, "values").values)} values of all scripts, up to 1,024 bytes each, are written and read again. A value that is refused is not
changed behind its writer's back.`,
    columns: columns<Values>(
      "values",
      EQUAL,
      least("changed", ({ changed }) => changed),
      least("refused", ({ refused }) => refused),
      least("lost", ({ lost }) => lost),
    ),
    more: (results) =>
      Object.keys(results.peers)
        .flatMap((id) => {
          const known = resultsOf<Values>(results, "values", id).flatMap(({ inPrompt }) => inPrompt ?? []);
          return known.length === 0
            ? []
            : `A prompt has ${range(known)} of them whole with ${nameOf(results, id)}; the others are read from the file.`;
        })
        .join("\n"),
  },
  {
    title: "Tokens",
    about:
      () => `Tokens (o200k) that a model reads: the tools and instructions of an MCP server, and the text that the memory gives of all it holds. Not all texts
hold all facts: Sideband's section in a prompt has 800 tokens at most (\`SIDEBAND_CONTEXT_TOKENS\`), MEMORY.md is read to its 200th line, and mem0's
memories are values without labels. A store without an MCP server has no tools of its own. Redis and PostgresStore have no text for
a prompt either: theirs is a line \`label: value\` for each fact, as your code would write it.`,
    columns: columns<Tokens>("tokens", TOOLS, ...["5", "40", "256"].map(promptOf)),
  },
  {
    title: "What is installed",
    about: () =>
      "What npm puts into an empty folder, from its cache, without running the scripts of packages; beside it what Debian installs.",
    columns: columns<Install>(
      "install",
      least("seconds", ({ seconds }) => seconds),
      least("packages", ({ packages }) => packages),
      least("MB", ({ mb }) => mb),
      words("Debian's beside", ({ debian }) =>
        debian === undefined ? "none" : `${count(debian.packages)} packages, ${count(debian.mb)} MB`,
      ),
    ),
  },
  {
    title: "Start and memory at rest",
    about: (results) =>
      `${timesOf(results)} The start ends with the first answer; memory is that of all its processes.`,
    columns: columns<Speed>(
      "speed",
      timed("start", "ms", ({ startMs }) => startMs),
      timed("memory at rest", "MB", ({ restMb }) => restMb),
    ),
    more: (results) => {
      const known = resultsOf<Speed>(results, "speed", ...Object.keys(results.peers)).flatMap(
        ({ hostMb }) => hostMb ?? [],
      );
      return known.length === 0
        ? ""
        : `A store is opened in a process of the comparison, which alone has ${range(known)} MB; they are in the numbers above.`;
    },
  },
  {
    title: "Times of one client",
    about: (results) =>
      `${timesOf(results)} Times are worth what the durability beside them is: a write that is not synced has not waited for a disk.`,
    columns: columns<Speed>(
      "speed",
      timed("write, median", "ms", ({ write }) => write.p50),
      timed("write, p99", "ms", ({ write }) => write.p99),
      timed("read, median", "ms", ({ read }) => read.p50),
      timed("read, p99", "ms", ({ read }) => read.p99),
    ),
    ofPeer: ["what an answer means", "durability"],
  },
];

function timesOf(results: Results): string {
  const loads = entriesOf(results, "speed", ...Object.keys(results.peers)).map(({ load }) => load);
  return `One client writes and reads, one call after the other and after a warm-up, in several rounds, each on a new memory (a load of ${range(loads)} before). Each cell has the median, then
its ratio to Sideband in the same group with the spread over all rounds.`;
}

/** The tables that have a result, with the memories that have one. */
export function comparisonTables(results: Results): Table[] {
  const ids = Object.keys(results.peers);
  return PLANS.filter((plan) => plan.columns.some(([measure]) => first(results, measure) !== undefined)).map(
    ({ title, about, columns: planned, ofPeer, more }) => {
      const measures = distinct(planned.map(([measure]) => measure));
      const measured = ids.filter((id) =>
        measures.some((measure) => entriesOf(results, measure, id).length > 0),
      );
      const extra = (id: string): Cell[] =>
        ofPeer === undefined
          ? []
          : [{ text: String(results.peers[id][ofPeer[1]] ?? "none"), isBetter: false }];
      const rows = measured.map((id): [string, Cell[]] => [
        id,
        [...planned.map(([measure, column]) => cellOf(results, measure, id, column)), ...extra(id)],
      ]);
      return {
        title,
        about: about(results),
        head: [
          "memory",
          ...planned.map(([, { name }]) => name),
          ...(ofPeer === undefined ? [] : [ofPeer[0]]),
        ],
        rows: new Map(rows),
        below: [...measures.flatMap((measure) => failuresOf(results, measure)), more?.(results) ?? ""],
      };
    },
  );
}

function failuresOf(results: Results, measure: string): string[] {
  return entriesOf(results, measure, ...Object.keys(results.peers)).flatMap(({ peer, run, result }) =>
    "failed" in result
      ? [
          `Could not be measured: ${nameOf(results, peer)}, run ${run}, ${measure}: ${String(result.failed).replace(/[|<\n]/g, " ")}`,
        ]
      : [],
  );
}

export function nameOf({ peers }: Results, id: string): string {
  return String(peers[id].name);
}
