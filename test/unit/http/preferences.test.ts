/** What a client says about the answer it wants. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { hasEntity, prefersHtml } from "../../../src/http/request/preferences.ts";

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
