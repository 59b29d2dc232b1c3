/**
 * The tables of what is left of the facts of a conversation after compactions, from the file of results (npm run compare, measure
 * "dialogues"). Where there are several runs, a mean is that of all, and the spread goes from the lowest to the highest.
 */

import { readFileSync } from "node:fs";

interface Spread {
  readonly mean: number;
  readonly p5: number;
  readonly p95: number;
}
type Numbers = Readonly<Record<string, Spread>>;

interface DialogueResult {
  readonly index: Numbers;
  readonly refused: Readonly<Record<string, number>>;
  /** Of Sideband's service alone. */
  readonly servedBlock?: Numbers;
  /** By way, strategy and number of compactions. */
  readonly compacted?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Numbers>>>>>>;
}

interface Results {
  readonly peers: Readonly<Record<string, { readonly name: string }>>;
  readonly entries: readonly {
    readonly measure: string;
    readonly peer: string;
    readonly result: DialogueResult;
  }[];
}

const { peers, entries }: Results = JSON.parse(
  readFileSync(new URL("../bench/compare/results.json", import.meta.url), "utf8"),
);

const SERVICE = "sideband-service";
const SHOWN = ["1", "3", "10"];

function resultsOf(peer: string): DialogueResult[] {
  return entries
    .filter((entry) => entry.measure === "dialogues" && entry.peer === peer)
    .map(({ result }) => result);
}

export const COMPACTION_HEAD = [
  "compacted by",
  "times",
  "the text alone: exact",
  "stale",
  "a block, put in once: exact",
  "a block with every answer: exact",
];

/** A row for each way to compact, and each number of times. */
export function compactionRows(): string[][] {
  const results = resultsOf(SERVICE).flatMap(({ compacted }) => (compacted === undefined ? [] : [compacted]));
  const strategies = Object.keys(results[0]?.nothing ?? {});
  return strategies.flatMap((strategy) =>
    SHOWN.map((times) => {
      const share = (way: string, name: string) =>
        percent(results.map((result) => result[way]![strategy]![times]![name]!));
      return [
        strategy,
        times,
        share("nothing", "exact"),
        share("nothing", "stale"),
        share("block once", "exact"),
        share("block with every answer", "exact"),
      ];
    }),
  );
}

export const KEPT_HEAD = [
  "what is given again",
  "exact",
  "stale",
  "taken back, but there",
  "writes refused",
  "tokens",
];

/** A row for each memory that was measured, and one for the block that Sideband's service gives. */
export function keptRows(): string[][] {
  const measured = Object.entries(peers).filter(([id]) => resultsOf(id).length > 0);
  const served = resultsOf(SERVICE).flatMap(({ servedBlock }) =>
    servedBlock === undefined ? [] : [servedBlock],
  );
  return [
    ...measured.map(([id, { name }]) =>
      keptRow(
        name,
        resultsOf(id).map(({ index }) => index),
        refusals(id),
      ),
    ),
    keptRow("Sideband (service), the block", served, refusals(SERVICE)),
  ];
}

/** Of all runs together. */
function refusals(id: string): string {
  const counts = resultsOf(id).flatMap(({ refused }) => Object.values(refused));
  return String(counts.reduce((sum, count) => sum + count, 0));
}

function keptRow(name: string, numbers: readonly Numbers[], refused: string): string[] {
  const all = (key: string) => numbers.map((each) => each[key]).filter((each) => each !== undefined);
  const tokens = all("tokens");
  const cost =
    tokens.length === 0
      ? "those of a block"
      : spread(tokens, (value) => Math.round(value).toLocaleString("en"));
  return [name, percent(all("exact")), percent(all("stale")), percent(all("returned")), refused, cost];
}

const percent = (spreads: readonly Spread[]) => spread(spreads, (value) => `${rounded(value)} %`);

/** What is not quite all or nothing does not become that. */
const rounded = (value: number) =>
  [0, 100].includes(Math.round(value)) ? String(Math.round(10 * value) / 10) : String(Math.round(value));

/** The mean, and where it is not all there is, the spread behind it. */
function spread(spreads: readonly Spread[], textOf: (value: number) => string): string {
  const mean = spreads.reduce((sum, each) => sum + each.mean, 0) / spreads.length;
  const [low, high] = [Math.min(...spreads.map(({ p5 }) => p5)), Math.max(...spreads.map(({ p95 }) => p95))];
  return low === high
    ? textOf(mean)
    : `${textOf(mean)} (${textOf(low).replace(" %", "")} to ${textOf(high).replace(" %", "")})`;
}
