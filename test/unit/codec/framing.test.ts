/** Words ↔ text: the written form is exact, the reader is generous, and hostile text costs no more than its length. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { CLASS_SIZE, findWord, POSITION_CLASSES, wordOf } from "../../../src/codec/alphabet.ts";
import { N } from "../../../src/codec/field.ts";
import { CLOSING, findPassages, OPENING, UNKNOWN_WORD, writeFrame } from "../../../src/codec/framing.ts";
import { randomSymbols } from "../../fixtures/blocks.ts";

const SYMBOLS = randomSymbols(seededRandom(1), N);
const FRAME = writeFrame(SYMBOLS);
const NUMBERS = Array.from(SYMBOLS, (symbol, t) => POSITION_CLASSES[t] * CLASS_SIZE + symbol);

function passages(text: string): number[][] {
  return Array.from(findPassages(text), ({ words }) => [...words]);
}

test("a frame is the markers and 512 words of the right classes, with one space everywhere", () => {
  const tokens = FRAME.split(" ");
  assert.equal(tokens.length, N + 2);
  assert.equal(tokens[0], OPENING);
  assert.equal(tokens[N + 1], CLOSING);
  for (let t = 0; t < N; t++) assert.equal(tokens[t + 1], wordOf(POSITION_CLASSES[t] as 0 | 1, SYMBOLS[t]));
});

test("the words between the markers are the first passage, and the whole text is the last", () => {
  const [first, whole] = passages(`Remember this: ${FRAME} And be brief.`);
  assert.deepEqual(first, NUMBERS);
  assert.ok(whole.length >= N);
  assert.deepEqual(passages(FRAME), [NUMBERS], "a text that is one passage is not looked at twice");
});

test("case, line breaks, tabs, quotes, commas, bold, numbers, list and table marks are seen through", () => {
  const words = FRAME.split(" ").slice(1, -1);
  const disguises: [string, string][] = [
    ["upper case", FRAME.toUpperCase()],
    ["lower case", FRAME.toLowerCase()],
    ["line breaks", FRAME.replaceAll(" ", "\n")],
    ["Windows line breaks and tabs", FRAME.replaceAll(" ", "\r\n\t")],
    ["spaces that do not break", FRAME.replaceAll(" ", "\u00a0")],
    ["quotes and commas", `${OPENING} ${words.map((word) => `"${word}",`).join(" ")} ${CLOSING}`],
    ["typographic quotes", `${OPENING} ${words.map((word) => `“${word}”`).join(" ")} ${CLOSING}`],
    ["bold", `${OPENING} ${words.map((word) => `**${word}**`).join(" ")} ${CLOSING}`],
    ["bullets", `${OPENING}\n${words.map((word) => `- ${word}`).join("\n")}\n${CLOSING}`],
    ["a numbered list", `${OPENING}\n${words.map((word, i) => `${i + 1}. ${word}`).join("\n")}\n${CLOSING}`],
    ["a quotation", FRAME.replaceAll(" ", "\n> ")],
    ["a fence", `\`\`\`\n${FRAME}\n\`\`\``],
    ["no space beside the markers", `${OPENING}${words.join(" ")}${CLOSING}`],
    ["commas and no space", `${OPENING}${words.join(",")}${CLOSING}`],
    ["a JSON array", JSON.stringify([OPENING, ...words, CLOSING])],
    ["a table", `${OPENING}|${words.join("|")}|${CLOSING}`],
    ["underscores", FRAME.replaceAll(" ", "_")],
    ["the markers in bold", `**${OPENING}** ${words.join(" ")} **${CLOSING}**`],
  ];
  for (const [what, text] of disguises) assert.deepEqual(passages(text)[0], NUMBERS, what);
});

test("without a closing marker a passage goes on to the next opening or to the end", () => {
  const open = FRAME.slice(0, -CLOSING.length);
  assert.deepEqual(passages(open)[0], NUMBERS);
  const [last, first] = passages(`${open} ${FRAME}`);
  assert.deepEqual(last, NUMBERS);
  assert.deepEqual(first, NUMBERS);
});

test("without an opening marker the whole text is the passage", () => {
  assert.deepEqual(passages(FRAME.slice(OPENING.length)), [NUMBERS]);
});

test("of many openings the last ones are followed, the newest first, and never more than four", () => {
  const short = (word: string) => `${OPENING} ${word} ${CLOSING}`;
  const words = ["water", "paper", "music", "river", "stone", "green"].filter((word) => findWord(word) >= 0);
  assert.ok(words.length >= 5);
  const found = passages(words.map(short).join("\n"));
  assert.equal(found.length, 5);
  assert.deepEqual(
    found.slice(0, 4),
    [...words]
      .reverse()
      .slice(0, 4)
      .map((word) => [findWord(word)]),
  );
});

test("a misspelt word is unknown, never its neighbour; what has no letters was no word", () => {
  const [words] = passages(`${OPENING} xqzv 12 ... — waterr 'water' éwater water\u0301 ${CLOSING}`);
  const unknown = UNKNOWN_WORD;
  assert.deepEqual(words, [unknown, findWord("waterr"), findWord("water"), unknown, unknown]);
});

test("letters whose upper case is longer do not shift the passage", () => {
  const [words] = passages(`Straße, ŉ und ﬃ: ${FRAME} groß`);
  assert.deepEqual(words, NUMBERS);
});

test("a text without words gives passages without words", () => {
  for (const text of ["", " ", "\n\n", "[MEM]", "[MEM][/MEM]", "[/MEM] [MEM]", "…", "\ud800", "\0\0"]) {
    for (const words of passages(text)) assert.equal(words.filter((word) => word !== UNKNOWN_WORD).length, 0);
  }
});
