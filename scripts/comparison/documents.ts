/**
 * The comparison with other memories as Markdown: the section of docs/BENCHMARKS.md, which the page /benchmarks shows too, and the
 * table of README.md. `npm run docs` writes them, so that every number is the one in the file of results.
 */

import type { Results } from "../../bench/compare/results.ts";
import {
  BETTER,
  type Cell,
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
  comparisonTables,
  EQUAL,
  KEPT_OF_MANY,
  LEFT_AFTER,
  LOST_IN_ALL,
  nameOf,
  promptOf,
  type Table,
  UNDONE,
  type Values,
  WRITE_TIME,
  type Writers,
} from "./measures.ts";

import { documentPictures } from "./pictures.ts";

type Row = readonly string[];

export const SECTION = "Beside other memories";

export const RUN_COMMAND = "npm ci && npm ci --prefix bench/compare && npm run compare";

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
    `\`${RUN_COMMAND}\` measures it, and \`npm run docs\` makes this section of its results, bench/compare/results.json.`,
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
      const ids = [...rows].filter(([, cells]) => cells[i].isBetter).map(([id]) => nameOf(results, id));
      return ids.length === 0 ? [] : [`${name}: ${ids.join(", ")}`];
    });
    return columns.length === 0 ? [] : [`${title}. ${columns.join("; ")}`];
  });
}

function conditions({ machine, entries }: Results): string {
  const runs = distinct(entries.map(({ run }) => String(run))).sort();
  const days = distinct(entries.map(({ day }) => day)).sort();
  return `Run ${runs.join(" and ")}, on ${days.join(" and ")}; where two differ, both are shown, or the least and the most. ${machine.processor}, ${machine.cores} cores, ${machine.system}, Node ${machine.node}. Other
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
const README_PEERS: Readonly<Record<string, readonly string[]>> = {
  "a file (CLAUDE.md, MEMORY.md)": ["notes-file"],
  Redis: ["redis"],
  "MCP reference memory server": ["server-memory"],
  mem0: ["mem0"],
  Sideband: ["sideband-mcp", "sideband-service"],
};

/** The mark of a row of README.md that is measured. */
const MEASURED = "●";

export const README_HEAD: Row = ["", ...Object.keys(README_PEERS)];

type Part = readonly [measure: string, column: Column<never>];
const part = <R>(measure: string, column: Column<R>): Part => [measure, column as unknown as Column<never>];

/** What can be measured is measured; the other cells say what a memory is made for. */
export function readmeRows(results: Results): Row[] {
  const firstOf = <R>(measure: string) => resultsOf<R>(results, measure, ...Object.keys(results.peers))[0];
  // A row where one of these memories has not had its turn yet would say nothing.
  const isComplete = ([measure]: Part) =>
    firstOf(measure) !== undefined &&
    Object.values(README_PEERS).every((ids) => entriesOf(results, measure, ...ids).length > 0);
  const measured = <R>(name: (result: R) => string, ...parts: Part[]): Row[] =>
    !parts.every(isComplete)
      ? []
      : [
          [
            `${MEASURED} ${name(firstOf<R>(parts[0][0]))}`,
            ...Object.values(README_PEERS).map((ids) => joined(results, ids, parts)),
          ],
        ];
  return [
    ARGUMENTS.compaction,
    ARGUMENTS.elsewhere,
    ARGUMENTS.decides,
    ...measured<Values>(({ values }) => `equal again, of ${count(values)} values`, part("values", EQUAL)),
    ...measured<Writers>(
      ({ addedInOne }) => `of the writes of ${count(addedInOne.sent)} processes at once, kept`,
      part("writers", KEPT_OF_MANY),
    ),
    ...measured(() => "of its answered writes, lost by `kill -9`", part("kills", LOST_IN_ALL)),
    ...measured(() => "of its answered writes, lost by a loss of power", part("power", LOST_IN_ALL)),
    ...measured(() => "one write takes (median)", part("speed", WRITE_TIME)),
    ...measured(() => "a wrong value can be undone", part("undo", UNDONE)),
    ...measured(() => "the memory says who wrote it", part("undo", AUTHOR)),
    ...measured(() => "what its files have of an erased value, once compacted", part("erase", LEFT_AFTER)),
    ...measured(() => "tokens of 40 facts in a prompt", part("tokens", promptOf("40"))),
    ARGUMENTS.meaning,
    ARGUMENTS.long,
  ];
}

const ARGUMENTS = {
  compaction: [
    "there again after a compaction",
    "yes: the host reads it again",
    "if you write the code",
    "if the agent asks for it",
    "if you write the code",
    "yes, by hooks; without hooks, if the agent asks for it",
  ],
  elsewhere: [
    "the same in another tool, on another machine",
    "by git, or copied by hand",
    "yes, if you write the code",
    "one file for each machine",
    "yes, through a server",
    "yes; on another machine through a service",
  ],
  decides: [
    "who decides what is kept",
    "you, by editing",
    "your code",
    "the agent",
    "a model, or your code without it",
    "you or the agent, word for word",
  ],
  meaning: [
    "finds by meaning",
    "no",
    "if you add vectors",
    "no, by words",
    "**yes**",
    "by label and by words; by meaning only with an [embedding service](docs/CONFIG.md) of yours",
  ],
  long: ["long texts", "**yes**", "**yes**", "**yes**", "**yes**", "no: 1,024 bytes a fact"],
};

function joined(results: Results, ids: Row, parts: readonly Part[]): string {
  const cells = parts.map(([measure, column]): Cell => {
    if (ids.length === 1) return cellOf(results, measure, ids[0], column);
    const all = resultsOf<never>(results, measure, ...ids);
    return { text: all.length === 0 ? "not measured" : column.text(all, all), isBetter: false };
  });
  return cells.map(({ text, isBetter }) => (isBetter ? `**${text}**` : text)).join("; ");
}
