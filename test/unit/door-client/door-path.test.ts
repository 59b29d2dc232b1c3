/** The address of a data folder's door. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { doorPath } from "../../../src/door-client/private-folder.ts";

test("a folder whose path is long in bytes, not in characters, has a door that can be opened", async (context) => {
  const root = mkdtempSync(join(tmpdir(), "sideband-door-"));
  context.after(() => rmSync(root, { recursive: true }));
  // The whole path has fewer than 100 characters and more than 108 bytes.
  const folder = join(root, "é".repeat(99 - join(root, "/door.sock").length));
  mkdirSync(folder);
  const door = createServer().listen(doorPath(folder));
  await once(door, "listening");
  const names = readdirSync(folder);
  door.close();
  assert.deepEqual(names, ["door.sock"]);
});

test("on Windows the door is a named pipe, one for all spellings of a folder and another for each folder", () => {
  const pipe = doorPath("C:\\Users\\Ada Okafor\\.sideband\\data", "win32");
  assert.match(pipe, /^\\\\\.\\pipe\\sideband-[0-9a-f]{32}$/);
  for (const spelling of [
    "c:\\users\\ada okafor\\.sideband\\data",
    "C:\\Users\\Ada Okafor/.sideband/data",
    "C:\\Users\\Ada Okafor\\.sideband\\data\\",
  ])
    assert.equal(doorPath(spelling, "win32"), pipe, spelling);
  for (const other of ["D:\\Users\\Ada Okafor\\.sideband\\data", "C:\\Users\\Ada Okafor\\.sideband"])
    assert.notEqual(doorPath(other, "win32"), pipe, other);
});

test("a socket's address has at most 103 bytes, as macOS takes them", (context) => {
  const root = mkdtempSync(join(tmpdir(), "sideband-door-"));
  context.after(() => rmSync(root, { recursive: true }));
  for (const addressLength of [60, 99, 100, 101, 103, 104, 105]) {
    const folder = join(root, "x".repeat(addressLength - join(root, "/door.sock").length - 1));
    mkdirSync(folder);
    const path = doorPath(folder, "darwin");
    assert.ok(Buffer.byteLength(path) <= 103, path);
  }
});
