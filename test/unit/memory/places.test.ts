/** Places: which ones a project names, which one a scope means, and whom a block of them is sealed for. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isInside, placeFor, placesOf, sealOwner, viewOf } from "../../../src/memory/places.ts";
import type { Scope } from "../../../src/memory/records.ts";

const SCOPES: readonly Scope[] = ["person", "project", "worktree"];

test("a call sees the person's own place, the project's and the worktree's", () => {
  assert.deepEqual(placesOf(undefined), [""]);
  assert.deepEqual(placesOf("loom"), ["", "loom"]);
  assert.deepEqual(placesOf("loom/tree"), ["", "loom", "loom/tree"]);
});

test("a project has one or two parts of 1 to 100 characters without control characters", () => {
  const longest = "😀".repeat(100);
  for (const project of [longest, `${longest}/${longest}`, "a b"]) placesOf(project);
  for (const project of [
    "",
    "/",
    "a/",
    "/a",
    "a//b",
    "a/b/c",
    "a\nb",
    "a/b\u0000",
    `${longest}x`,
    `a/${longest}x`,
  ])
    assert.throws(() => placesOf(project), { code: "invalid_request", extra: { param: "project" } }, project);
});

test("a scope means a place", () => {
  const places = placesOf("loom/tree");
  assert.deepEqual(
    SCOPES.map((scope) => placeFor(scope, places)),
    ["", "loom", "loom/tree"],
  );
  assert.deepEqual(
    SCOPES.map((scope) => placeFor(scope, [""])),
    ["", "", ""],
  );
  assert.equal(placeFor("worktree", ["", "loom"]), "loom");
});

test("a worktree is inside its project, and a project with a longer name is not", () => {
  for (const [place, outer, expected] of [
    ["loom", "loom", true],
    ["loom/tree", "loom", true],
    ["loomed", "loom", false],
    ["loom", "loom/tree", false],
    ["", "loom", false],
  ] as const)
    assert.equal(isInside(place, outer), expected, `${place} in ${outer}`);
});

test("a view has the places of its project, and whom its block is sealed for", () => {
  const view = viewOf("acme", { userId: "ada", project: "loom/tree" }, 7);
  const expected = { account: "acme", userId: "ada", places: ["", "loom", "loom/tree"], nowMs: 7 };
  assert.deepEqual(view, expected);
  assert.equal(sealOwner(view), "ada\0loom/tree");
  assert.equal(sealOwner({ userId: "ada", places: [""] }), "ada");
  assert.throws(() => viewOf("acme", { userId: "" }, 0), { extra: { param: "user_id" } });
});
