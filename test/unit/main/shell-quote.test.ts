/** Words of a command as they are printed for a person to type. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { shellQuote } from "../../../src/main/shell-quote.ts";

const WORDS = ["ada", "ada l", "it's", 'the "best"', "a$HOME`b`", "C:\\data\\"];
const UNSEEN = ["a\u202eb", "織機\u001b[2J it's", "100% \u200b%s \\n"];

test("a word is one word for a POSIX shell", () => {
  for (const word of [...WORDS, ...UNSEEN]) {
    const line = `printf %s ${shellQuote(word, "linux")}`;
    assert.equal(execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" }), word);
  }
});

test("a word is in double quotes on Windows, and no backslash takes the last one away", () => {
  assert.deepEqual(
    WORDS.map((word) => shellQuote(word, "win32")),
    ["ada", '"ada l"', '"it\'s"', '"the \\"best\\""', '"a$HOME`b`"', '"C:\\data\\\\"'],
  );
});
