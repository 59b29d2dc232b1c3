/** What a client says about the answer it wants. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Failure } from "../../../src/base/errors.ts";
import {
  expectedRevision,
  hasEntity,
  isTrue,
  prefersHtml,
  revisionHeaders,
} from "../../../src/http/request/preferences.ts";

test("a browser prefers HTML, and whoever names JSON as high or no HTML does not", () => {
  for (const [accept, expected] of [
    [undefined, false],
    ["", false],
    ["*/*", false],
    ["text/html", true],
    ["Text/HTML ; Q=0.1", true],
    ["text/html;q=0", false],
    ["text/html;q=high", false],
    ["text/html;level=1;q=0.2, application/json;q=0.1", true],
    ["text/html,application/xhtml+xml,*/*;q=0.8", true],
    ["application/json, text/html", false],
    ["application/problem+json;q=0.9, text/html;q=0.8", false],
    ["text/html;q=0.9, application/json;q=0.5", true],
    ["text/html;q=0.9, text/html;q=0.1, application/json;q=0.5", true],
    ["text/html;q=0.4, application/json;q=0.5, application/json;q=0.1", false],
  ] as const)
    assert.equal(prefersHtml(accept), expected, accept);
});

test("a client has an entity whose tag is among those that it names, weak ones too", () => {
  for (const [header, expected] of [
    [undefined, false],
    ['"a"', true],
    ['W/"a"', true],
    ["*", true],
    ['"b", "a"', true],
    ['"b"', false],
    ['"ab"', false],
  ] as const)
    assert.equal(hasEntity({ header: () => header }, '"a"'), expected, header);
});

test("a write expects the revision that it names, or no fact at all, and nothing else", () => {
  const expected = (headers: Record<string, string>) => {
    try {
      return expectedRevision({ header: (name) => headers[name] });
    } catch (error) {
      const { code, extra } = error as Failure;
      return [code, extra.param];
    }
  };
  for (const [match, revision] of [
    ['"17"', 17],
    [' "1" ', 1],
    ['"1234567890123456"', 1234567890123456],
  ] as const)
    assert.equal(expected({ "if-match": match }), revision, match);
  assert.equal(expected({}), undefined);
  assert.equal(expected({ "if-none-match": " * " }), 0);
  const refused = (param: string) => ["invalid_request", param];
  for (const match of ["17", '"0"', '"017"', '"1a"', '"12345678901234567"', '*"1"', '"1"*', "*", ""])
    assert.deepEqual(expected({ "if-match": match }), refused("If-Match"), match);
  assert.deepEqual(expected({ "if-none-match": '"17"' }), refused("If-None-Match"));
  assert.deepEqual(expected({ "if-match": '"17"', "if-none-match": "*" }), refused("If-Match"));
  assert.deepEqual(revisionHeaders(17), ["etag", '"17"']);
});

test("a parameter is true as true or 1", () => {
  for (const text of ["true", "TRUE", "1"]) assert.equal(isTrue(text), true, text);
  for (const text of [undefined, "", "false", "0", "untrue", "truely", "11"])
    assert.equal(isTrue(text), false, text);
});
