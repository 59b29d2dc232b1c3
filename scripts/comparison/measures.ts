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
  range,
  resultsOf,
  words,
} from "./columns.ts";
import {
  AUTHOR,
  EQUAL,
  type Erase,
  GONE_AFTER,
  gone,
  type Install,
  KEPT_IN_MANY,
  KEPT_IN_ONE,
  keptOf,
  LOST,
  type Lost,
  promptOf,
  type Speed,
  TOOLS,
  type Tokens,
  timed,
  UNDONE,
  type Undo,
  type Values,
  type Writers,
  yesOrNo,
} from "./counted.ts";
import { aboutDialogues, compactedTable, DIALOGUE_COLUMNS, type Dialogues, LEFT } from "./dialogues.ts";

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
memory, without a pause. An edit of MEMORY.md replaces one string in the file as it is then, and is tried again where another has changed it. Then each of them adds an item to one and the same label, in the memory's own way. What was answered as done should be there
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
mcp-memory-keeper can go back to a checkpoint, if somebody made one before; a file in git can go back to a commit, which names its author. Whoever writes has
signed where the memory has a field for that. The name is looked for in its history and in all that it says of the fact. Code of your own could put a name, or an older value, into
the values of Redis and PostgreSQL.`,
    columns: columns<Undo>("undo", UNDONE, AUTHOR),
    ofPeer: ["how it is signed", "signs"],
  },
  {
    title: "A value erased",
    about:
      () => `A secret was written, replaced and erased by the memory's own call: who looks through its answers and its files, byte by byte, finds it there or
finds it gone. A history is asked for with the id that was known before. "Older copy" is one of the folder that was made before the erasure. A file that is written anew
each time has lost an erased text at once, and waits for no compaction. mem0 and mcp-memory-keeper have no call that cleans up.`,
    columns: columns<Erase>(
      "erase",
      gone("answers, history", ({ answered, history }) => answered || history),
      gone("files, at once", ({ files }) => files),
      GONE_AFTER,
      gone("older copy", ({ backup }) => backup),
    ),
    ofPeer: ["how its files are cleaned up", "compaction"],
  },
  {
    title: "Values come back equal",
    about: (results) =>
      `${count(first<Values>(results, "values").values)} values of all scripts, up to 1,024 bytes each, are written into 10 memories of 1,000 each, and read again. A value that is
refused is not changed behind its writer's back.`,
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
hold all facts, and the cell says how many: Sideband's section in a prompt has 800 tokens at most (\`SIDEBAND_CONTEXT_TOKENS\`) and names the others, MEMORY.md is read to its 200th line,
and mcp-memory-keeper cuts its answer. mem0's memories are values without labels. What is shorter for that is not marked as better. mcp-memory-keeper's documents name a
smaller set of tools (\`TOOL_PROFILE=minimal\`). A store without an MCP server has no tools of its own. Redis and PostgresStore have no text for
a prompt either: theirs is a line \`label: value\` for each fact, as your code would write it.`,
    columns: columns<Tokens>("tokens", TOOLS, ...["5", "40", "256"].map(promptOf)),
  },
  {
    title: "What is installed",
    about: () =>
      `What npm puts into an empty folder, from its cache, without running the scripts of packages; beside it what Debian installs. Sideband is not on npm yet: its package is packed from a
clone that is built already. The way of its README is a clone and \`npm ci\`, which also installs what the tests need and builds; that is the last column.`,
    columns: columns<Install>(
      "install",
      least("seconds", ({ seconds }) => seconds),
      least("packages", ({ packages }) => packages),
      least("MB", ({ mb }) => mb),
      words("Debian's beside", ({ debian }) =>
        debian === undefined ? "none" : `${count(debian.packages)} packages, ${count(debian.mb)} MB`,
      ),
      {
        name: "as a clone",
        text: (all) => {
          const clones = all.flatMap(({ clone }) => clone ?? []);
          if (clones.length === 0) return "none";
          const [seconds, packages, mb] = (["seconds", "packages", "mb"] as const).map((each) =>
            range(clones.map((clone) => clone[each])),
          );
          return `${seconds} s, ${packages} packages, ${mb} MB`;
        },
      },
    ),
  },
  {
    title: "Start and memory at rest",
    about: (results) =>
      `${timesOf(results)} A start ends with the first answer. The first one has an empty folder: Sideband makes its keys in it, PostgreSQL its cluster and its tables. The next one has what that left, and
one fact. What is installed is there before. Memory is that of all its processes.`,
    columns: columns<Speed>(
      "speed",
      timed("first start", "ms", ({ startMs }) => startMs),
      timed("next start", "ms", ({ againMs }) => againMs),
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
