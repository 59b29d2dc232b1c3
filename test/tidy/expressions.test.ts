/** No regular expression of src takes more than linear time on hostile text, and the test can see one that does. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Expression, expressionFault, expressionsIn } from "./expressions.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Compiled to WebAssembly, and data. */
const NO_EXPRESSIONS = /^src\/(?:reader\/assembly\/|codec\/alphabet-data|.*\.generated\.ts$)/;
/** One class alone looks at every character once. */
const ONE_CLASS = /^\[(?:[^\]\\]|\\.)*\]$/;

/** Each once, wherever it is. */
function allExpressions(): Iterable<Expression> {
  const found = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => `src/${path.replaceAll("\\", "/")}`)
    .filter((path) => /\.tsx?$/.test(path) && !NO_EXPRESSIONS.test(path))
    .flatMap((path) => expressionsIn({ path, text: readFileSync(join(root, path), "utf8") }))
    .filter(({ expression }) => !ONE_CLASS.test(expression.source));
  return new Map(found.map((one) => [String(one.expression), one])).values();
}

test("every regular expression of src takes time in proportion to the text, however hostile", () => {
  const expressions = [...allExpressions()];
  assert.ok(expressions.length > 100, `${expressions.length} expressions`);
  const faults = expressions.flatMap((expression) => expressionFault(expression) ?? []);
  assert.deepEqual(faults, [], `\n${faults.join("\n")}`);
});

test("the test sees an expression that grows faster, and lets the linear ones pass", () => {
  const bad = [/\n*<a>/g, /<b>[\s\S]*?<\/b>/, /(a|aa)+$/, /<c>[^"]*…[^"]*<\/c>/, /[a-z][a-z.]*:\/\//];
  for (const expression of bad) {
    assert.match(expressionFault({ where: "x", expression }) ?? "", /^x: /, String(expression));
  }
  const good = [/^\s+$/, /[^/]+/g, /<b>[^<]*<\/b>/, /(?<![a-z])[a-z]+:/, /^[\w.-]{1,64}$/];
  for (const expression of good) assert.equal(expressionFault({ where: "x", expression }), undefined);
});
