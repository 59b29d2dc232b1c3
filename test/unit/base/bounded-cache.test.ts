/** What a bounded cache holds, and what leaves it first. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { BoundedCache } from "../../../src/base/bounded-cache.ts";

/** The keys of the letters that are in the cache. */
const held = (cache: BoundedCache<string>) =>
  [..."abcdef"].filter((key) => cache.peek(key) !== undefined).join("");

function filled(limits: { entriesMax: number; weightMax?: number }, keys: string, weight?: number) {
  const cache = new BoundedCache<string>(limits);
  for (const key of keys) cache.set(key, key.toUpperCase(), weight);
  return cache;
}

test("a cache holds as many entries as its limit, and no more", () => {
  assert.equal(held(filled({ entriesMax: 3 }, "abc")), "abc");
  const full = filled({ entriesMax: 3 }, "abcd");
  assert.deepEqual([held(full), full.size], ["bcd", 3]);
});

test("the least recently used entry leaves first", () => {
  const cache = filled({ entriesMax: 3 }, "abc");
  assert.equal(cache.get("a"), "A");
  cache.set("d", "D");
  assert.equal(held(cache), "acd");
});

test("an entry that is set again is the youngest, and holds its new value", () => {
  const cache = filled({ entriesMax: 3 }, "abc");
  cache.set("a", "new");
  cache.set("d", "D");
  assert.deepEqual([held(cache), cache.peek("a")], ["acd", "new"]);
});

test("a peek does not make an entry younger", () => {
  const cache = filled({ entriesMax: 3 }, "abc");
  assert.equal(cache.peek("a"), "A");
  cache.set("d", "D");
  assert.equal(held(cache), "bcd");
});

test("entries leave until the total weight is within its limit", () => {
  const cache = filled({ entriesMax: 10, weightMax: 9 }, "abc", 3);
  assert.equal(held(cache), "abc");
  cache.set("d", "D", 4);
  assert.deepEqual([held(cache), cache.weight], ["cd", 7]);
});

test("an entry heavier than the whole limit is not held, and nothing leaves for it", () => {
  const cache = filled({ entriesMax: 10, weightMax: 9 }, "abc", 3);
  cache.set("d", "D", 10);
  assert.equal(held(cache), "abc");
});

test("a value that is too heavy takes the one that it replaces out", () => {
  const cache = filled({ entriesMax: 10, weightMax: 9 }, "abc", 3);
  cache.set("b", "new", 10);
  assert.deepEqual([held(cache), cache.weight], ["ac", 6]);
});

test("the weight of a replaced or deleted entry is given back", () => {
  const cache = filled({ entriesMax: 10, weightMax: 9 }, "abc", 3);
  cache.set("a", "A", 1);
  cache.delete("b");
  cache.delete("b");
  assert.equal(cache.weight, 4);
});

test("a cleared cache holds nothing and weighs nothing", () => {
  const cache = filled({ entriesMax: 10, weightMax: 9 }, "abc", 3);
  cache.clear();
  assert.deepEqual([cache.size, cache.weight, cache.get("a")], [0, 0, undefined]);
});
