/** Starting an owner in the background, where the start fails: what the process that tried it is left with. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { reachOwner } from "../../../src/door-client/background-owner.ts";
import { tryFolderLock } from "../../../src/store/lmdb/folder-lock.ts";

const ANSWER_MS = 1_000;

/** A data folder, and a script in the place of the command `sideband`. */
function newOwner(context: TestContext, script: string) {
  const home = mkdtempSync(join(tmpdir(), "sideband-owner-"));
  context.after(() => rmSync(home, { recursive: true }));
  const folder = join(home, "data");
  mkdirSync(folder);
  const command = join(home, "owner.mjs");
  writeFileSync(command, script);
  return { folder, command, log: join(folder, "owner.log") };
}

function openDescriptorsOf(path: string): string[] {
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      // The descriptor that the folder itself was listed with.
      return false;
    }
  });
}

test("an owner that ends at once is reported with its last line, and its log is not left open", async (context) => {
  const { folder, command, log } = newOwner(
    context,
    'console.error("first\\nno room left"); process.exitCode = 1;',
  );
  await assert.rejects(
    reachOwner(command, folder, ANSWER_MS, { begin: true, version: "1.0.0" }),
    /could not start: no room left$/,
  );
  if (process.platform === "linux") assert.deepEqual(openDescriptorsOf(log), []);
});

test("an owner that could write no line is not reported with one of an earlier owner", async (context) => {
  const { folder, command, log } = newOwner(context, "process.exitCode = 1;");
  writeFileSync(log, "sideband owner: an earlier failure\n");
  await assert.rejects(
    reachOwner(command, folder, ANSWER_MS, { begin: true, version: "1.0.0" }),
    /could not start: it wrote nothing to [^\n]+owner\.log; is the disk full\?$/,
  );
});

test("where no owner can be started, the next process may try", async (context) => {
  const { folder, command, log } = newOwner(context, "");
  mkdirSync(log);
  await assert.rejects(reachOwner(command, folder, ANSWER_MS, { begin: true, version: "1.0.0" }), {
    code: "EISDIR",
  });
  const lock = tryFolderLock(folder, "starting.lock");
  assert.ok(lock, "the lock is still held");
  lock.release();
});

test("an owner whose log is gone is reported too", async (context) => {
  const script = 'import { rmSync } from "node:fs"; rmSync("owner.log"); process.exitCode = 1;';
  const { folder, command } = newOwner(context, script);
  await assert.rejects(
    reachOwner(command, folder, ANSWER_MS, { begin: true, version: "1.0.0" }),
    /could not start: its log cannot be read/,
  );
});
