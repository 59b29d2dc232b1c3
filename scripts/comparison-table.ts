/**
 * The tables of what was measured beside other memories, from the file of results (npm run compare). No number of them stands
 * anywhere else: `npm run docs -- --check` refuses a table that says something else.
 */

import { readFileSync } from "node:fs";

interface Entry {
  readonly run: number;
  readonly measure: string;
  readonly peer: string;
  readonly result: Readonly<Record<string, unknown>>;
}

interface Peer {
  readonly name: string;
  readonly version: string;
  readonly compaction?: string;
}

interface Results {
  readonly peers: Readonly<Record<string, Peer>>;
  readonly entries: readonly Entry[];
}

const { peers, entries }: Results = JSON.parse(
  readFileSync(new URL("../bench/compare/results.json", import.meta.url), "utf8"),
);

/** What all runs of a measure agree on; two that differ are both there. */
function cell(peer: string, measure: string, textOf: (result: Entry["result"]) => string): string {
  const texts = entries
    .filter((entry) => entry.peer === peer && entry.measure === measure)
    .map(({ result }) => ("failed" in result ? "could not be measured" : textOf(result)));
  if (texts.length === 0) throw new Error(`${measure} was not measured for ${peer}`);
  return [...new Set(texts)].join("; then ");
}

const found = (is: unknown) => (is === true ? "there" : "gone");

export const COMPARISON_HEAD = [
  "memory",
  "wrong value undone",
  "its writer known",
  "erased: answers, history",
  "files",
  "files after compaction",
  "older copy",
];

/** A row for each memory: what is left of a wrong value, and of an erased one. */
export function comparisonRows(): string[][] {
  return Object.entries(peers).map(([id, { name, version, compaction }]) => [
    version === "none" ? name : `${name} ${version}`,
    cell(id, "undo", ({ undone, calls }) => (undone === true ? `yes, ${calls} calls` : "no")),
    cell(id, "undo", ({ author }) => (author === true ? "yes" : "no")),
    cell(id, "erase", ({ answered, history }) => found(answered === true || history === true)),
    cell(id, "erase", ({ files }) => found(files)),
    cell(id, "erase", ({ filesAfter }) =>
      compaction === undefined ? `${found(filesAfter)}; has none` : `${found(filesAfter)} (${compaction})`,
    ),
    cell(id, "erase", ({ backup }) => found(backup)),
  ]);
}

export const TOKENS_HEAD = ["memory", "tools and instructions", "5 facts", "40 facts", "256 facts"];

/** A row for each memory: the tokens that a model reads. */
export function tokensRows(): string[][] {
  const promptOf = (id: string, facts: string) =>
    cell(id, "tokens", ({ prompt }) => count((prompt as Record<string, number>)[facts]));
  return Object.entries(peers).map(([id, { name }]) => [
    name,
    cell(id, "tokens", ({ tools }) => (typeof tools === "number" ? count(tools) : "none")),
    ...["5", "40", "256"].map((facts) => promptOf(id, facts)),
  ]);
}

const count = (tokens: number) => tokens.toLocaleString("en");
