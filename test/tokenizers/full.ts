/**
 * The full tokenizer test: npm ci --prefix test/tokenizers && npm run test:tokenizers [-- BLOCKS] [--write].
 * Tokenises BLOCKS random blocks (1,000 unless told) and every word singly in every vocabulary, prints a line for
 * each, and fails where one word is not one token. With --write it keeps the result in one-token-words.json, which
 * `npm test` checks (test/unit/codec/tokenizers.test.ts); without it, it compares the result with that file.
 */

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CHECKSUM } from "../../src/codec/alphabet-data.ts";
import {
  alphabetWords,
  FIXTURE_FILE,
  fixtureText,
  lockedIntegrity,
  packWords,
  readFixture,
  type VocabularyRecord,
} from "./fixture.ts";
import { measureBlocks, wordsNotOneToken } from "./measure.ts";
import { VOCABULARIES } from "./vocabularies.ts";

const SEED = 1;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean", default: false } },
});
const blocks = Number(positionals[0] ?? 1000);
if (!Number.isInteger(blocks) || blocks < 1 || positionals.length > 1) {
  console.error("usage: npm run test:tokenizers [-- BLOCKS] [--write]");
  process.exit(2);
}

const records: VocabularyRecord[] = [];
console.log("vocabulary           exact blocks    markers   words not one token   load s   measure s");
for (const { name, package: packageName, load } of VOCABULARIES) {
  const start = performance.now();
  const vocabulary = await load();
  const loaded = performance.now();
  const { markerTokens, faults } = measureBlocks(vocabulary, blocks, SEED);
  const words = wordsNotOneToken(vocabulary);
  const columns = [
    name.padEnd(20),
    `${blocks - faults.length} of ${blocks}`.padEnd(15),
    String(markerTokens).padEnd(9),
    String(words.length).padEnd(21),
    ((loaded - start) / 1000).toFixed(1).padEnd(8),
    ((performance.now() - loaded) / 1000).toFixed(1),
  ];
  console.log(columns.join(" "));
  for (const fault of faults.slice(0, 3)) console.log(`  ${fault}`);
  if (words.length > 0) console.log(`  ${words.slice(0, 20).join(" ")}`);
  if (faults.length > 0 || words.length > 0) process.exitCode = 1;
  records.push({
    name,
    package: packageName,
    integrity: lockedIntegrity(packageName) ?? "",
    one_token: packWords(alphabetWords(), new Set(words)),
    exact_blocks: blocks - faults.length,
    marker_tokens: markerTokens,
  });
}

if (values.write) {
  const command = `npm ci --prefix test/tokenizers && npm run test:tokenizers -- ${blocks} --write`;
  writeFileSync(FIXTURE_FILE, fixtureText({ command, alphabet: CHECKSUM, blocks, vocabularies: records }));
} else {
  const words = (list: readonly VocabularyRecord[]) =>
    JSON.stringify(list.map(({ name, integrity, one_token }) => [name, integrity, one_token]));
  if (words(records) !== words(readFixture().vocabularies)) {
    console.error("one-token-words.json says something else: npm run test:tokenizers -- 1000 --write");
    process.exitCode = 1;
  }
}
