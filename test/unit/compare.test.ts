/** What the comparison with other memories does itself (bench/compare): a list in Markdown kept exactly, one program for each file. */

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { peer as notes } from "../../bench/compare/peers/notes-file.ts";
import { Place } from "../../bench/compare/place.ts";
import { claim } from "../../bench/compare/results.ts";

function newFolder(t: { after(end: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "sideband-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("MEMORY.md gives back every value as it was written, and the others stay", async (t) => {
  const memory = await notes.open(new Place(newFolder(t)));
  const values = { a: "one\n- b: two\n\n  three ", ab: " x", b: "\n", c: "- a: not this", d: "é\t\r\n" };
  for (const [label, value] of Object.entries(values)) await memory.write(label, value);
  await memory.write("ab", "short");
  await memory.write("ab", values.ab);
  for (const [label, value] of Object.entries(values)) assert.equal(await memory.read(label), value);
  await memory.erase("a");
  assert.equal(await memory.read("a"), undefined);
  assert.equal(await memory.read("b"), values.b);
  await memory.erase("none");
  assert.equal(await memory.read("c"), values.c);
});

test("a prompt shows of MEMORY.md what stands whole in its first 200 lines", async (t) => {
  const memory = await notes.open(new Place(newFolder(t)));
  for (let i = 0; i < 201; i++) await memory.write(`n${i}`, "kept");
  assert.equal(await memory.shows?.("n198", "kept"), true);
  assert.equal(await memory.shows?.("n200", "kept"), false);
  assert.equal(await memory.read("n200"), "kept");
});

test("a second program does not write a file of results, and one that was killed does not keep it", (t) => {
  const file = join(newFolder(t), "results.json");
  writeFileSync(`${file}.lock`, String(process.ppid));
  assert.throws(() => claim(file), /is writing/);
  writeFileSync(`${file}.lock`, "999999999");
  claim(file);
  assert.ok(existsSync(`${file}.lock`));
});
