/** Files that outlive a loss of power, on Windows: what its calls refuse, handed in, as it is not run there. */

import assert from "node:assert/strict";
import fs, { readFileSync, renameSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { renameOver, syncPath } from "../../../src/store/lmdb/durable-files.ts";
import { idOf } from "../../../src/store/lmdb/folder-lock.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

test("Windows syncs files that are open for writing, and no folder", (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder, "file");
  writeFileSync(file, "content");
  const { openSync, fsyncSync } = fs;
  const opened: string[] = [];
  let syncs = 0;
  context.mock.method(fs, "openSync", (path: string, flags: string) => {
    opened.push(`${path === folder ? "folder" : "file"} ${flags}`);
    return openSync(path, flags);
  });
  context.mock.method(fs, "fsyncSync", (descriptor: number) => {
    syncs += 1;
    fsyncSync(descriptor);
  });
  syncBuiltinESMExports();
  try {
    for (const path of [file, folder]) syncPath(path, "win32");
    assert.deepEqual([opened, syncs], [["file r+"], 1]);
    for (const path of [file, folder]) syncPath(path, "linux");
    assert.deepEqual([opened, syncs], [["file r+", "file r", "folder r"], 3]);
  } finally {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  }
  assert.equal(readFileSync(file, "utf8"), "content");
});

test("a path and an open file are the same on Windows by their inode, and elsewhere by their device, too", () => {
  const [path, open, other] = [
    { dev: 0n, ino: 7n },
    { dev: 3_163_614_271n, ino: 7n },
    { dev: 0n, ino: 8n },
  ];
  assert.equal(idOf(path, "win32"), idOf(open, "win32"));
  assert.notEqual(idOf(path, "win32"), idOf(other, "win32"));
  assert.notEqual(idOf(path, "linux"), idOf(open, "linux"));
});

test("a file that is read at this moment is replaced on Windows as soon as that is over, and elsewhere at once", (context) => {
  const folder = temporaryFolder(context);
  const [from, to] = [join(folder, "new"), join(folder, "old")];
  /** A rename that is refused so many times. */
  const refusing = (count: number, code: string) => {
    let tries = 0;
    return (a: string, b: string) => {
      tries += 1;
      if (tries <= count) throw Object.assign(new Error(code), { code });
      renameSync(a, b);
    };
  };
  for (const code of ["EPERM", "EACCES", "EBUSY"]) {
    writeFileSync(from, code);
    renameOver(from, to, { platform: "win32", rename: refusing(3, code) as typeof renameSync });
    assert.equal(readFileSync(to, "utf8"), code);
    writeFileSync(from, "");
    for (const [platform, count] of [
      ["win32", 100],
      ["linux", 1],
    ] as const) {
      const rename = refusing(count, code) as typeof renameSync;
      assert.throws(() => renameOver(from, to, { platform, rename }), { code });
    }
  }
  const rename = refusing(1, "ENOSPC") as typeof renameSync;
  assert.throws(() => renameOver(from, to, { platform: "win32", rename }), { code: "ENOSPC" });
});
