/**
 * The full tokenizer test: npm run test:tokenizers [-- BLOCKS]. Tokenises BLOCKS random blocks (1,000 unless
 * told) and every word singly in every vocabulary, prints a line for each, and fails where one word is not
 * one token. `npm test` does the same with a few blocks (test/unit/codec/tokenizers.test.ts).
 */

import { measureBlocks, wordsNotOneToken } from "./measure.ts";
import { VOCABULARY_LOADERS } from "./vocabularies.ts";

const blocks = Number(process.argv[2] ?? 1000);
if (!Number.isInteger(blocks) || blocks < 1) {
  console.error("usage: npm run test:tokenizers [-- BLOCKS]");
  process.exit(2);
}

console.log("vocabulary           exact blocks    markers   words not one token   load s   measure s");
for (const [name, load] of VOCABULARY_LOADERS) {
  const start = performance.now();
  const vocabulary = await load();
  const loaded = performance.now();
  const { markerTokens, faults } = measureBlocks(vocabulary, blocks, 1);
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
}
