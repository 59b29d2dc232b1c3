/** The beginning of an expression is in every text that the expression finds something in. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { beginningOf } from "../../../src/agent-side/pattern-beginning.ts";
import { SECRET_PATTERNS } from "../../../src/agent-side/secret-patterns.ts";
import { filledSecrets, secretLines } from "./secret-texts.ts";

test("it ends with the first group that every match has, with a word, or nowhere", () => {
  for (const [pattern, beginning] of [
    ["(?<![a-z])(?:door|gate) code[0-9]{3}", "(?<![a-z])(?:door|gate)"],
    ["(?:a|b)?(?:c|d)e", "(?:a|b)?(?:c|d)"],
    ["(?:a|b)*(?:c|d){0,2}e", "(?:a|b)*(?:c|d){0,2}e"],
    ["(?:a|b){2,}c|(?:d|e)+?f", "(?:a|b)|(?:d|e)"],
    ["(?=a)(?:(?:a|b)c(?:d|e)f|gh)", "(?=a)(?:(?:a|b)|gh)"],
    ["combination [0-9]", "combin"],
    ["abcdef?g[(|]\\|h", "abcdef?g[(|]\\|h"],
    ["(a|b)c", "(a|b)c"],
  ])
    assert.equal(beginningOf(pattern), beginning);
});

test("whatever a form of secrets finds, its beginning finds", () => {
  const forms = SECRET_PATTERNS.map(({ pattern }) =>
    [pattern, beginningOf(pattern)].map((source) => new RegExp(source, "i")),
  );
  const found = new Set<RegExp>();
  const texts = [...filledSecrets(1), ...secretLines(1).map(({ value }) => value)];
  for (const text of texts.map((one) => one.toLowerCase()))
    for (const [form, beginning] of forms)
      if (form.test(text)) {
        found.add(form);
        assert.match(text, beginning);
      }
  assert.ok(found.size > forms.length / 2, `${found.size} of ${forms.length} forms`);
});
