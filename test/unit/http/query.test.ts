/** Query strings are taken exactly, or refused with the name at fault. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery, raiseQueryFault } from "../../../src/http/request/query.ts";

const faultOf = (text: string) => {
  try {
    raiseQueryFault(parseQuery(text));
  } catch (error) {
    const { code, message, extra } = error as { code: string; message: string; extra: object };
    return [code, message, extra];
  }
  return undefined;
};

test("a query has the names and values that were sent, decoded, and no other name", () => {
  for (const [text, expected] of [
    ["", {}],
    ["a=1", { a: "1" }],
    ["a=1&b=2", { a: "1", b: "2" }],
    ["&a=1&&b&c=&", { a: "1", b: "", c: "" }],
    ["a=b=c", { a: "b=c" }],
    ["a+b=c+d%2B%20", { "a b": "c d+ " }],
    ["%C3%BC=%F0%9F%98%80", { ü: "😀" }],
  ] as const) {
    assert.deepEqual({ ...parseQuery(text) }, expected, text);
    assert.equal(faultOf(text), undefined, text);
  }
  const query = parseQuery("a=1");
  for (const name of ["constructor", "toString", "__proto__"]) assert.equal(query[name], undefined);
  assert.equal(raiseQueryFault(undefined), undefined);
});

test("a query with a name twice, a broken escape or more than 32 names is refused, with the name where it has one", () => {
  const broken = "The query is not well-formed UTF-8 in percent-encoding.";
  assert.deepEqual(faultOf("a=1&b=2&a=3"), ["invalid_request", "a is given twice.", { param: "a" }]);
  assert.deepEqual(faultOf("a=&a="), ["invalid_request", "a is given twice.", { param: "a" }]);
  assert.deepEqual(faultOf("a=%zz&b=1&b=2"), ["invalid_request", broken, { param: "a" }]);
  for (const name of ["%zz", "%c0%80", `${"a".repeat(65)}=%zz`, "a-b=%zz", "-a=%zz"])
    assert.deepEqual(faultOf(name), ["invalid_request", broken, {}], name);
  const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}=${i}`).join("&");
  assert.equal(faultOf(names(32)), undefined);
  const many = ["invalid_request", "The query has more than 32 parameters.", {}];
  assert.deepEqual(faultOf(names(33)), many);
  assert.equal(Object.keys(parseQuery(names(40))).length, 32);
});
