/**
 * The comparison with other memories as Markdown: the section of docs/BENCHMARKS.md, which the page /benchmarks shows too, and the
 * table of README.md. `npm run docs` writes them, so that every number is the one in the file of results.
 */

import type { Results } from "../../bench/compare/results.ts";
import {
  BETTER,
  type Column,
  cellOf,
  count,
  distinct,
  entriesOf,
  markdownCell,
  range,
  resultsOf,
} from "./columns.ts";
import {
  AUTHOR,
  type Erase,
  goneAfter,
  isSynced,
  KEPT_OF_MANY,
  LOST_IN_ALL,
  type Lost,
  promptOf,
  type Speed,
  STORED,
  type Tokens,
  UNDONE,
  type Undo,
  type Values,
  type Writers,
  writeTime,
} from "./counted.ts";
import { comparisonTables, nameOf, type Table } from "./measures.ts";
import { documentPictures } from "./pictures.ts";

type Row = readonly string[];

export const SECTION = "Beside other memories";

/** The repository's own file of results has all of it already. */
export const RUN_COMMAND =
  "npm ci && npm ci --prefix bench/compare && npm run compare -- --file /tmp/compare.json";

/** What no number of this comparison says. */
export const HELD_BACK =
  "No model takes part, so nothing is said of what a model would extract, find by meaning or answer: there mem0 and its like are at home. What could not be run is listed, with the reason.";

/** The section of docs/BENCHMARKS.md, below its heading. The tables beside the pictures have their numbers. */
export function comparisonSection(results: Results): string {
  const pictures = documentPictures(results);
  const pictureOf = (title: string) =>
    pictures
      .filter(({ table }) => table === title)
      .map(({ id, title: shown }) => `![${shown}](pictures/${id}.svg)`)
      .join("\n\n");
  return [
    `\`${RUN_COMMAND}\` measures it anew. What it found here is in bench/compare/results.json, of which \`npm run docs\` makes this section.`,
    HELD_BACK,
    comparisonSummary(results),
    comparisonMarkdown(results, "###", pictureOf),
  ].join("\n\n");
}

/** Headings of the depth that the page or the document has room for. */
export function comparisonMarkdown(
  results: Results,
  depth: "##" | "###",
  pictureOf: (title: string) => string,
): string {
  const parts = comparisonTables(results).flatMap((table) => [
    `${depth} ${table.title}`,
    table.about,
    pictureOf(table.title),
    tableMarkdown(results, table),
    ...table.below,
  ]);
  return [
    ...parts,
    `${depth} What was compared, and what was not`,
    conditions(results),
    markdownTable(peersTable(results)),
    "What could not be run is not in the tables:",
    Object.entries(results.notRun)
      .map(([name, reason]) => `- ${name}: ${reason}.`)
      .join("\n"),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** What the marks mean, and where somebody else is better. */
export function comparisonSummary(results: Results): string {
  const better = betterThanOwn(results);
  return `The rows from "${nameOf(results, "sideband-mcp")}" on are MCP servers over stdio, those from "${nameOf(results, "sideband-service")}" on are stores over HTTP or in a library. ${BETTER} is better
than Sideband in its group. That is so here:

${better.length === 0 ? "- nowhere" : better.map((line) => `- ${line}`).join("\n")}`;
}

function betterThanOwn(results: Results): string[] {
  return comparisonTables(results).flatMap(({ title, head, rows }) => {
    const columns = head.slice(1).flatMap((name, i) => {
      const others = [...rows].filter(([id]) => !id.startsWith("sideband"));
      const better = others.filter(([, cells]) => cells[i].isBetter);
      if (better.length === 0) return [];
      const names = better.map(([id]) => nameOf(results, id)).join(", ");
      return [`${name}: ${better.length === others.length ? "all others" : names}`];
    });
    return columns.length === 0 ? [] : [`${title}. ${columns.join("; ")}`];
  });
}

function conditions({ machine, entries }: Results): string {
  const runs = distinct(entries.map(({ run }) => String(run))).sort();
  const days = distinct(entries.map(({ day }) => day)).sort();
  return `Run ${runs.join(" and ")}, on ${days.join(" and ")}; where two differ, both are shown, or the least and the most. ${machine.processor}, ${machine.cores} cores, ${machine.system}, ${machine.disk ?? "a disk"}, Node ${machine.node}. Other
work ran beside (a load of ${range(entries.map(({ load }) => load))} when a measure began), which changes times and not what is kept or lost.
Each memory is used as its own documents say:`;
}

function peersTable({ peers }: Results) {
  const rows = Object.values(peers).map(({ name, version, group, durability, note }) =>
    [name, version === "none" ? "" : version, group, durability, note ?? ""].map(String),
  );
  return { head: ["memory", "version", "group", "a write, when it is answered", "also"], rows };
}

function tableMarkdown(results: Results, { head, rows }: Table): string {
  return markdownTable({
    head,
    rows: [...rows].map(([id, cells]) => [nameOf(results, id), ...cells.map(markdownCell)]),
  });
}

export function markdownTable({ head, rows }: { readonly head: Row; readonly rows: readonly Row[] }): string {
  const line = (cells: Row) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** The columns of the table in README.md, with the memories of the file that each stands for; Sideband's have to agree. */
export const README_PEERS: Readonly<Record<string, readonly string[]>> = {
  // The first, so that a narrow window shows it.
  Sideband: ["sideband-mcp", "sideband-service"],
  "a file of notes": ["notes-file"],
  Redis: ["redis"],
  "PostgreSQL table, by LangGraph": ["langgraph"],
  "MCP reference server": ["server-memory"],
  "mcp-memory-keeper": ["memory-keeper"],
  "mem0 (model off)": ["mem0"],
};

/** The mark of a row of README.md that is measured. */
const MEASURED = "●";

export const README_HEAD: Row = ["", ...Object.keys(README_PEERS)];

const FILE = "notes-file";
const FILE_WHOLE = "notes-whole";
const SERVER = "server-memory";
/** Beside these your own code runs, which can do more than their calls. */
const WITH_CODE: Row = ["redis", "langgraph"];

/** What can be measured is measured; the other cells say what a memory is made for. */
export function readmeRows(results: Results): Row[] {
  const firstOf = <R>(measure: string) => resultsOf<R>(results, measure, ...Object.keys(results.peers))[0];
  // A row where one of these memories has not had its turn yet would say nothing.
  const isComplete = (measure: string) =>
    Object.values(README_PEERS).every((ids) => entriesOf(results, measure, ...ids).length > 0);
  const measured = <R>(
    measure: string,
    name: (result: R) => string,
    cell: (id: string, cell: (column: Column<R>) => string) => string,
    own?: (all: readonly R[]) => string,
  ): Row[] => {
    if (!isComplete(measure)) return [];
    const cells = Object.values(README_PEERS).map((ids) => {
      if (ids.length > 1 && own !== undefined) return own(resultsOf<R>(results, measure, ...ids));
      const [id] = ids;
      const shown = (column: Column<R>) =>
        ids.length > 1 ? joined(results, measure, ids, column) : boldCell(results, measure, id, column);
      return cell(id, shown);
    });
    return [[`${MEASURED} ${name(firstOf<R>(measure))}`, ...cells]];
  };
  const orElse = (id: string, text: string) =>
    text !== "no" ? text : id === FILE ? "only with git" : WITH_CODE.includes(id) ? "by your code" : text;
  return [
    ARGUMENTS.compaction,
    ARGUMENTS.elsewhere,
    ARGUMENTS.decides,
    ...measured<Values>(
      "values",
      ({ values }) => `of ${count(values)} values, stored and equal`,
      (_, cell) => cell(STORED),
    ),
    ...measured<Writers>(
      "writers",
      ({ addedInOne }) => `writes of ${count(addedInOne.sent)} processes at once that are kept`,
      (id, cell) => {
        const kept = cell(KEPT_OF_MANY);
        if (id === SERVER) return `${kept}: whole file rewritten, no lock`;
        if (id !== FILE) return kept;
        return `${kept} edited, ${boldCell(results, "writers", FILE_WHOLE, KEPT_OF_MANY)} rewritten whole; no lock`;
      },
    ),
    ...measured<Lost>(
      "power",
      () => "answered writes lost by a simulated loss of power",
      (_, cell) => cell(LOST_IN_ALL),
    ),
    ...measured<Speed>(
      "speed",
      () => "one write takes (median; synced, or not)",
      (id, cell) => cell(writeTime(isSynced(results, id))),
      () =>
        (["sideband-service", "sideband-mcp"] as const)
          .map((id) => `${writeTime(true).text(resultsOf<Speed>(results, "speed", id), [])} by ${WAYS[id]}`)
          .join(", "),
    ),
    ...measured<Undo>(
      "undo",
      () => "a wrong value can be undone",
      (id, cell) => orElse(id, cell(UNDONE)),
    ),
    ...measured<Undo>(
      "undo",
      () => "the memory says who wrote it",
      (id, cell) => orElse(id, cell(AUTHOR)),
    ),
    ...measured<Erase>(
      "erase",
      () => "an erased value, once the files are cleaned up",
      (id, cell) => cell(goneAfter(results.peers[id].compaction !== undefined)),
    ),
    ...measured<Tokens>(
      "tokens",
      () => "tokens of 40 facts in a prompt",
      (_, cell) => cell(promptOf("40")),
    ),
    ARGUMENTS.meaning,
    ARGUMENTS.long,
  ];
}

const WAYS = { "sideband-mcp": "MCP", "sideband-service": "HTTP" } as const;

const ARGUMENTS = {
  compaction: [
    "there again after a compaction",
    "yes, by hooks; without hooks, if the agent asks",
    "yes: the host reads it again",
    "by your code",
    "by your code",
    "if the agent asks",
    "if the agent asks",
    "by your code",
  ],
  elsewhere: [
    "in another tool, on another machine",
    "yes; on another machine through a service",
    "by git, or copied by hand",
    "by your code",
    "by your code",
    "one file a machine",
    "one file a machine",
    "yes, through a server",
  ],
  decides: [
    "who decides what is kept",
    "you or the agent, word for word",
    "you or the agent",
    "your code",
    "your code",
    "the agent",
    "the agent",
    "your code, or its model",
  ],
  meaning: [
    "finds by meaning",
    "by label and words; by meaning with an [embedding service](docs/CONFIG.md) of yours",
    "no",
    "if you add vectors",
    "**with an embedder**",
    "no, by words",
    "no, by words and their parts",
    "**with an embedder**",
  ],
  long: [
    "long texts",
    "no: 1,024 bytes a fact",
    "**yes**",
    "**yes**",
    "**yes**",
    "**yes**",
    "**yes**",
    "**yes**",
  ],
};

function boldCell<R>(results: Results, measure: string, id: string, column: Column<R>): string {
  const { text, isBetter } = cellOf(results, measure, id, column);
  return isBetter ? `**${text}**` : text;
}

/** The results of all ways to use one memory together. */
function joined<R>(results: Results, measure: string, ids: Row, { text }: Column<R>): string {
  const all = resultsOf<R>(results, measure, ...ids);
  return all.length === 0 ? "not measured" : text(all, all);
}
