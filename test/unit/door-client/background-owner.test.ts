/**
 * Starting an owner in the background, where the start fails: what the process that tried it is left with. After an
 * upgrade an owner in the background makes way, and a service is left alone. It is not even asked to end.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { hasCurrentOwner, isOlderRelease, reachOwner } from "../../../src/door-client/background-owner.ts";
import { NoOwnerError, OwnerClient } from "../../../src/door-client/owner-client.ts";
import { doorPath } from "../../../src/door-client/private-folder.ts";
import { tryFolderLock } from "../../../src/store/lmdb/folder-lock.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

const ANSWER_MS = 1_000;

/** A data folder, and a script in the place of the command `sideband`. */
function newOwner(context: TestContext, script: string) {
  const home = temporaryFolder(context);
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

/** A process at the door of a folder, which ends when it is asked to. */
async function folderOwnedBy(t: TestContext, address: string | null) {
  const folder = mkdtempSync(join(tmpdir(), "sideband-hand-over-"));
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ pid: 7, address }));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end(JSON.stringify({ pid: 7, version: "0.0.1" }));
    if (request.method === "POST") server.close();
  });
  await new Promise<void>((resolve) => server.listen(doorPath(folder), resolve));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, asked };
}

test("a running service of an older release is used as it is, and nobody asks it to end", async (t) => {
  const { folder, asked } = await folderOwnedBy(t, "127.0.0.1:8787");
  assert.equal(await hasCurrentOwner(folder, "9.0.0", 10_000), true);
  assert.deepEqual(asked, ["GET /operator/owner"]);
});

test("an owner in the background of an older release is ended, and one of the same release is not", async (t) => {
  const { folder, asked } = await folderOwnedBy(t, null);
  assert.equal(await hasCurrentOwner(folder, "0.0.1", 10_000), true);
  assert.deepEqual(asked, ["GET /operator/owner"]);
  assert.equal(await hasCurrentOwner(folder, "9.0.0", 10_000), false);
  assert.deepEqual(asked.slice(1), ["GET /operator/owner", "POST /operator/end?pid=7"]);
});

test("an upload that finds nobody takes nothing out of its stream", async (t) => {
  const folder = temporaryFolder(t);
  const body = Readable.from(["one\n", "two\n"]);
  await assert.rejects(OwnerClient.of(folder).upload("/operator/import", body), NoOwnerError);
  assert.deepEqual(await body.toArray(), ["one\n", "two\n"]);
});

test("releases are ordered as semantic versioning orders them", () => {
  // The order in its section 11.
  const versions = [
    ...["0.1.0", "0.2.0", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta"],
    ...["1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "2.0.0"],
  ];
  for (const [i, a] of versions.entries()) {
    for (const [j, b] of versions.entries()) assert.equal(isOlderRelease(a, b), i < j, `${a} ${b}`);
  }
  assert.ok(!isOlderRelease("1.0.0+one", "1.0.0+two"));
});
