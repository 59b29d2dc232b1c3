/** The files of the list of erasures: what an append that was cut off leaves, and what a restore has left to be erased. */

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { addErasure, applyErasures, erasedSince, saveErasures } from "../../../src/main/erasure-list.ts";
import { notedErasures } from "../../../src/memory/erasures.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import { write } from "../../conformance/store-under-test.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";
import { viewOf } from "../../fixtures/views.ts";
import { temporaryStore } from "../memory/memory-services.ts";

const clock = { now: () => Date.parse("2026-11-18T20:00:00Z") };

async function setUp(context: TestContext) {
  const store = await temporaryStore(context);
  const folder = temporaryFolder(context);
  const list = join(folder, "erasures.list");
  const masters = [1, 2].map((id) => ({ id, material: new Uint8Array(32).fill(id) }));
  const add = (lines: string) => addErasure(list, lines);
  const erase = async (userId: string, key: number) => {
    await store.write(write(userId, [[0, userId]]));
    const keyRing = new KeyRing([masters[key - 1]]);
    await notedErasures(store, { keyRing, clock, add }).forgetUser("acme", userId);
  };
  return { store, folder, list, masters, erase };
}

test("an erasure is noted behind one that was cut off while it was written", async (context) => {
  const { list, erase } = await setUp(context);
  await erase("ada", 1);
  truncateSync(list, readFileSync(list).length - 30);
  await erase("bob", 1);
  await erase("eve", 1);
  assert.equal(erasedSince([list], 0).length, 2);
  appendFileSync(list, "2026-11-18T20:");
  assert.equal(erasedSince([list], 0).length, 2);
});

test("what a restore has left to be erased is done once, and stays only where its master key is not there", async (context) => {
  const { store, folder, list, masters, erase } = await setUp(context);
  await erase("ada", 1);
  await erase("bob", 2);
  saveErasures(folder, erasedSince([list], 0));
  const again = join(folder, "erase-again.list");
  const start = async (...keys: typeof masters) => {
    const lines: string[] = [];
    await applyErasures(folder, { store, keyRing: new KeyRing(keys), clock }, (line) => lines.push(line));
    return lines.join("\n");
  };
  const isThere = async (userId: string) => (await store.readUser(viewOf(userId))) !== undefined;
  // As the restored backup has them.
  for (const userId of ["ada", "bob"]) await store.write(write(userId, [[0, userId]]));
  assert.match(await start(masters[0]), /1 noted erasures were made .*\(their keys: 2\).*erase-again\.list/);
  assert.deepEqual([await isThere("ada"), await isThere("bob")], [false, true]);
  assert.equal(readFileSync(again, "utf8").trim().split("\n").length, 1);
  await store.write(write("ada", [[0, "Ada is back"]]));
  await start(masters[0]);
  assert.ok(await isThere("ada"), "what was written after the restore stays");
  assert.match(await start(...masters), /1 of 1 noted/);
  assert.deepEqual([await isThere("ada"), await isThere("bob")], [true, false]);
  assert.ok(!existsSync(again));
  assert.equal(await start(masters[0]), "");
});
