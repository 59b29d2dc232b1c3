/**
 * The comparison with other memories: README.md, docs/BENCHMARKS.md, its pictures and the page /benchmarks hold numbers from the file
 * of results alone, whatever measures are in it.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PEER_IDS } from "../../bench/compare/peers.ts";
import type { Results } from "../../bench/compare/results.ts";
import { COMPARISON, resultsOf } from "../../scripts/comparison/columns.ts";
import type { Lost, Tokens, Values, Writers } from "../../scripts/comparison/counted.ts";
import {
  comparisonSection,
  markdownTable,
  README_HEAD,
  README_PEERS,
  readmeRows,
  SECTION,
} from "../../scripts/comparison/documents.ts";
import { comparisonTables } from "../../scripts/comparison/measures.ts";
import { comparisonPage } from "../../scripts/comparison/page.ts";
import { comparisonPictures, documentPictures } from "../../scripts/comparison/pictures.ts";
import { fileSvg } from "../../scripts/comparison/svg.ts";
import { frontPage } from "../../src/web/front-page.ts";
import { allMeasures } from "../fixtures/comparison.ts";

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

/** What stands below a heading, up to the next one. */
function sectionOf(page: string, heading: string): string {
  const start = page.indexOf(`\n## ${heading}\n`);
  assert.ok(start > 0, heading);
  return page.slice(start + 1, page.indexOf("\n## ", start + 1));
}

const readmeTable = (results: Results) => markdownTable({ head: README_HEAD, rows: readmeRows(results) });

/** The limits of what was tried, which are in the code of the measures, and names with digits. */
const ALLOWED =
  /mem0|o200k|kill -9|1,024 bytes|10 memories of 1,000|800 tokens|200th line|p99|\b(?:5|40|256) facts|(?<=\n)## |charset=utf-8|&#\d+;/g;

/** The marks of an axis. */
const AXIS = /(?<=\n)(?:0|50|100)(?=\n)/g;

function numbersIn(text: string): string[] {
  return text.replace(ALLOWED, "").match(/\d[\d.,]*/g) ?? [];
}

/** What a page shows: its texts, and the texts in the place of its pictures. */
function textsOf(html: string): string {
  const labels = [...html.matchAll(/aria-label="([^"]*)"/g)].map(([, label]) => label);
  return [html.replace(/<[^>]*>/g, "\n"), ...labels].join("\n");
}

/** The results without a number: NaN, and texts without digits. Where measures are asked for by name, names stay. */
function withoutNumbers(value: unknown, under = ""): unknown {
  if (typeof value === "number") return Number.NaN;
  if (typeof value === "string") return value.replace(/\d+/g, "");
  if (Array.isArray(value)) return value.map((item) => withoutNumbers(item, under));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner], i) => {
      const isNumber = /^\d+$/.test(name) && under !== "prompt" && under !== "facts";
      return [isNumber ? `number ${"abcdefghij"[i]}` : name, withoutNumbers(inner, name)];
    }),
  );
}

/** Everything that is made of the results. */
function madeOf(results: Results): string[] {
  const pictures = comparisonPictures(results);
  const page = comparisonPage(results);
  return [
    comparisonSection(results),
    readmeTable(results),
    page.markdown,
    textsOf(page.main).replace(AXIS, ""),
    ...pictures.flatMap((picture) => [picture.alt, textsOf(picture.body).replace(AXIS, "")]),
    ...pictures.map(({ title }) => title),
  ];
}

test("README.md, docs/BENCHMARKS.md and the pictures hold the comparison as the file of results has it", () => {
  assert.ok(read("README.md").includes(`\n${readmeTable(COMPARISON)}\n`));
  assert.equal(
    sectionOf(read("docs/BENCHMARKS.md"), SECTION),
    `## ${SECTION}\n\n${comparisonSection(COMPARISON)}\n`,
  );
  for (const picture of documentPictures(COMPARISON))
    assert.equal(read(`docs/pictures/${picture.id}.svg`), fileSvg(picture));
  const results = structuredClone(allMeasures()) as unknown as { entries: { result: { equal?: number } }[] };
  const before = madeOf(results as unknown as Results);
  for (const { result } of results.entries) if (result.equal !== undefined) result.equal -= 1;
  assert.notDeepEqual(madeOf(results as unknown as Results), before, "another result makes another table");
});

test("no number of the comparison was written by hand: without the file's numbers none is left", () => {
  for (const text of madeOf(withoutNumbers(allMeasures()) as Results))
    assert.deepEqual(numbersIn(text), [], text);
  const byHand = "Kept: 61 of 1,000 (mem0, o200k).";
  assert.deepEqual(numbersIn(byHand), ["61", "1,000"], "a number by hand is seen");
  const readme = sectionOf(read("README.md"), "Why not …?").replace(readmeTable(COMPARISON), "");
  assert.deepEqual(numbersIn(readme), []);
  const [, gains] = /<div class="gains">(.*?)<\/section>/s.exec(frontPage(""))!;
  assert.deepEqual(numbersIn(textsOf(gains)), []);
});

const MEASURES = [
  "dialogues",
  "erase",
  "install",
  "kills",
  "power",
  "speed",
  "tokens",
  "undo",
  "values",
  "writers",
];
const RUNS = [1, 2];

test("the file of results has every measure of every memory, in two whole runs, each with its commit", () => {
  const { entries, peers } = COMPARISON;
  const wanted = RUNS.flatMap((run) =>
    MEASURES.flatMap((measure) => PEER_IDS.map((peer) => `${run} ${measure} ${peer}`)),
  );
  assert.deepEqual(
    entries.map(({ run, measure, peer }) => `${run} ${measure} ${peer}`).sort(),
    wanted.sort(),
  );
  assert.deepEqual(Object.keys(peers), [...PEER_IDS]);
  const shown = readmeRows(COMPARISON).map(([name]) => name);
  assert.equal(shown.filter((name) => name.startsWith("●")).length, 8, shown.join());
  for (const { commit, result, measure, peer } of entries) {
    assert.match(commit, /^[0-9a-f]{12}$/, `${measure} ${peer}`);
    assert.ok(!("failed" in result), `${measure} ${peer}`);
  }
  assert.deepEqual(
    Object.keys(allMeasures().peers).sort(),
    [...PEER_IDS].sort(),
    "the made results have all too",
  );
});

test("what was counted adds up: every value has one fate, and nothing is kept or lost that was not answered", () => {
  const sure = (measure: string) => resultsOf(COMPARISON, measure, ...PEER_IDS);
  for (const { values, equal, changed, refused, lost } of sure("values") as unknown as Values[]) {
    assert.equal(values, 10_000);
    assert.equal(equal + changed + refused + lost, values);
  }
  for (const { inOne, inMany, addedInOne, addedInMany } of sure("writers") as unknown as Writers[])
    for (const { sent, acknowledged, kept } of [inOne, inMany, addedInOne, addedInMany])
      assert.ok(kept <= acknowledged && acknowledged <= sent);
  for (const { acknowledged, lost, kills, losses, opens } of [
    ...sure("kills"),
    ...sure("power"),
  ] as unknown as Lost[]) {
    assert.ok(lost <= acknowledged);
    assert.ok((kills ?? losses) === 20 || opens === false);
  }
  for (const { facts, prompt } of sure("tokens") as unknown as Tokens[])
    for (const [count, held] of Object.entries(facts)) assert.ok(held <= Number(count) && prompt[count] > 0);
});

test("the versions of the comparison are those that are installed for it", () => {
  const lock = (file: string) =>
    JSON.parse(read(file)).packages as Readonly<Record<string, { version: string } | undefined>>;
  const known = [lock("bench/compare/package-lock.json"), lock("package-lock.json")];
  for (const { version, packages } of Object.values(COMPARISON.peers))
    for (const name of packages as string[]) {
      if (name === "sideband") {
        assert.equal(version, JSON.parse(read("package.json")).version);
        continue;
      }
      const [, plain, wanted] = /^(.+)@(.+)$/.exec(name)!;
      assert.ok(
        known.some((packagesOf) => packagesOf[`node_modules/${plain}`]?.version === wanted),
        name,
      );
    }
});

test("README.md says of kills what was counted", () => {
  const ids = Object.values(README_PEERS).flat();
  const all = resultsOf(COMPARISON, "kills", ...ids) as unknown as Lost[];
  assert.equal(all.length, RUNS.length * ids.length);
  assert.equal(
    read("README.md").includes("No memory of this table lost an answered write when it was killed"),
    all.every(({ lost }) => lost === 0),
  );
});

test("a measure without a result has no table, and what could not be measured is said with its reason", () => {
  const all = allMeasures();
  const titles = comparisonTables(all).map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length);
  const measures = [...new Set(all.entries.map(({ measure }) => measure))];
  for (const only of measures) {
    const results = { ...all, entries: all.entries.filter(({ measure }) => measure === only) };
    const tables = comparisonTables(results);
    assert.ok(tables.length > 0, only);
    for (const { rows, head } of tables) {
      assert.ok(rows.size > 0, only);
      for (const cells of rows.values()) {
        assert.equal(cells.length, head.length - 1);
        for (const { text } of cells) assert.doesNotMatch(text, /NaN|undefined|Infinity/, only);
      }
    }
    for (const text of madeOf(results)) assert.doesNotMatch(text, /NaN|undefined|Infinity/, only);
  }
  assert.equal(comparisonTables({ ...all, entries: [] }).length, 0);
  const failed = all.entries.map((entry) =>
    entry.measure === "values" && entry.peer === "redis"
      ? { ...entry, result: { failed: "it took too long" } }
      : entry,
  );
  const section = comparisonSection({ ...all, entries: failed });
  assert.match(section, /\| Redis \| could not be measured \|/);
  assert.match(section, /Could not be measured: Redis, run 1, values: it took too long/);
});
