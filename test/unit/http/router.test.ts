/** Routes are found by path and method, under /v1 as well; what is not there is told apart. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import type { Answer } from "../../../src/http/request/answer.ts";
import type { Call } from "../../../src/http/request/call.ts";
import type { Route } from "../../../src/http/request/route.ts";
import { Router } from "../../../src/http/request/router.ts";

const route = (method: string, path: string, access: Route["access"] = "key"): Route => ({
  method,
  path,
  access,
  bodyBytesMax: 0,
  handle: () => path,
});
const ROUTES = [
  route("GET", "/facts"),
  route("DELETE", "/facts"),
  route("POST", "/keys/:id/revoke", "admin"),
  route("GET", "/keys/:id/revoke", "admin"),
  route("GET", "/keys/:id.json", "admin"),
  route("GET", "/open", "open"),
  route("GET", "/demo", "demo"),
  route("POST", "/mcp", "mcp"),
  route("GET", "/a/b"),
  route("POST", "/hidden", "door"),
  route("GET", "/mixed"),
  route("POST", "/mixed", "open"),
  route("GET", "/page", "page"),
];
/** Made for each look-up: how routes are put into it is looked at, too. */
const router = { find: (method: string, path: string) => new Router(ROUTES).find(method, path) };
const codeOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return (error as Failure).code;
  }
  return undefined;
};

test("a route is found by its path and method, also under /v1, and HEAD is GET", () => {
  assert.equal(router.find("DELETE", "/facts").route.method, "DELETE");
  assert.equal(router.find("GET", "/v1/facts").route.path, "/facts");
  assert.equal(router.find("HEAD", "/facts").route.method, "GET");
  assert.equal(router.find("GET", "/f%61cts").route.path, "/facts");
});

test("parts of a path that vary are decoded, and a slash in them is no separator", () => {
  assert.deepEqual(router.find("POST", "/v1/keys/a%2Fb%20c/revoke").params, { id: "a/b c" });
  assert.deepEqual(router.find("GET", "/keys/a.json").params, { id: "a" });
});

test("an unknown address is not found, and one that is not well-formed is refused", () => {
  for (const path of [
    "/nothing",
    "/facts/",
    "/v2/facts",
    "/keys//revoke",
    "/keys/a/b/revoke",
    "//facts",
    "/v1%2Ffacts",
    "/a%2fb",
    "/keys/a-json",
  ])
    assert.equal(
      codeOf(() => router.find("GET", path)),
      "not_found",
      path,
    );
  for (const path of ["/%zz", "/keys/%c0%80/revoke"])
    assert.equal(
      codeOf(() => router.find("POST", path)),
      "invalid_request",
      path,
    );
});

test("another method on a known address says what is allowed", () => {
  const other = (method: string, path: string) => router.find(method, path).route;
  const call = {} as Call;
  assert.throws(
    () => other("PUT", "/facts").handle(call),
    (error: Failure) => {
      assert.deepEqual([error.code, error.extra.allow], ["method_not_allowed", "GET, HEAD, DELETE, OPTIONS"]);
      return error instanceof Failure;
    },
  );
  const { status, headers } = other("OPTIONS", "/facts").handle(call) as Answer;
  assert.deepEqual([status, headers.slice(0, 2)], [204, ["allow", "GET, HEAD, DELETE, OPTIONS"]]);
  // Which origins may ask is checked by the access of the answer.
  assert.equal(other("OPTIONS", "/facts").access, "preflight");
  for (const path of ["/open", "/demo", "/mcp"]) {
    const open = (other("OPTIONS", path).handle(call) as Answer).headers;
    assert.ok(open.includes("access-control-allow-methods"), path);
  }
  const { headers: ofBoth } = other("OPTIONS", "/keys/a/revoke").handle(call) as Answer;
  assert.deepEqual(ofBoth.slice(0, 2), ["allow", "POST, GET, HEAD, OPTIONS"]);
  const paths = ["/facts", "/open", "/demo", "/mcp", "/mixed", "/page", "/keys/a/revoke"];
  const accesses = paths.map((path) => other("PUT", path).access);
  assert.deepEqual(accesses, ["preflight", "open", "open", "origin", "open", "page", "page"]);
  for (const path of ["/page", "/hidden"]) {
    const { headers: plain } = other("OPTIONS", path).handle(call) as Answer;
    assert.equal(plain.length, 2, "no page of another origin asks");
  }
});

test("an address behind the door stays hidden, whatever the method", () => {
  for (const method of ["GET", "OPTIONS", "POST"])
    assert.equal(router.find(method, "/hidden").route.access, "door");
});

test("two routes for one method and path are a mistake", () => {
  assert.throws(() => new Router([route("GET", "/a"), route("GET", "/a")]));
});
