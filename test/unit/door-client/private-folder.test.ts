/** Folders in the system's temporary folder: a killed process's goes with the next start, a living one's stays. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { doorPath, makePrivateFolder, removeLeftFolders } from "../../../src/door-client/private-folder.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

const MODULE = new URL("../../../src/door-client/private-folder.ts", import.meta.url).href;

/** Everything that makes folders uses this temporary folder until the test ends. */
function ownTemporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "sideband-left-"));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  context.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** A process that has made a short link to a folder with a long path. */
async function linkHolder(folder: string): Promise<ChildProcess> {
  const code = `import { doorPath } from ${JSON.stringify(MODULE)}; console.log(doorPath(${JSON.stringify(folder)})); setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout!, "data");
  return child;
}

test("what a killed process has left goes with the next start, and what a living one uses stays", async (context) => {
  const folder = ownTemporaryFolder(context);
  const long = join(folder, "x".repeat(120));
  const [killed, living] = await Promise.all([linkHolder(long), linkHolder(long)]);
  context.after(() => living.kill("SIGKILL"));
  const count = () => readdirSync(folder).filter((name) => name.startsWith("sideband-own-")).length;
  assert.equal(count(), 2);
  killed.kill("SIGKILL");
  await once(killed, "exit");
  assert.equal(count(), 2, "it could not clean up");
  removeLeftFolders();
  assert.equal(count(), 1);
  const own = makePrivateFolder();
  removeLeftFolders();
  assert.equal(count(), 2);
  own.remove();
  living.kill("SIGKILL");
  await once(living, "exit");
  removeLeftFolders();
  assert.equal(count(), 0);
});

test("what is not such a folder, a link or one with other files in it, is not emptied", (context) => {
  const folder = ownTemporaryFolder(context);
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  for (const path of [elsewhere, join(folder, "sideband-own-abc123")]) {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "mine"), "");
  }
  writeFileSync(join(elsewhere, "door.sock"), "");
  symlinkSync(elsewhere, join(folder, "sideband-own-linked"));
  removeLeftFolders();
  assert.deepEqual(readdirSync(elsewhere).sort(), ["door.sock", "mine"]);
  assert.ok(existsSync(join(folder, "sideband-own-abc123", "mine")));
});

test("a folder whose path is long in bytes, not in characters, has a door that can be opened", async (context) => {
  const root = temporaryFolder(context);
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
  const root = temporaryFolder(context);
  for (const addressLength of [60, 99, 100, 101, 103, 104, 105]) {
    const folder = join(root, "x".repeat(addressLength - join(root, "/door.sock").length - 1));
    mkdirSync(folder);
    const path = doorPath(folder, "darwin");
    assert.ok(Buffer.byteLength(path) <= 103, path);
  }
});
