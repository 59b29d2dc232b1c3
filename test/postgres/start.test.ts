/** The PostgreSQL of the tests starts where only root can enter, and a start that fails says why and leaves nothing. */

import assert from "node:assert/strict";
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { binariesIn, embeddedBinaries, PostgresServer } from "../../bench/store/postgres-server.ts";
import { writeStandIn } from "../fixtures/stand-in.ts";

/** For one test. Its mode is 700: as root, only root can enter. */
function newTemporaryFolder(t: TestContext): string {
  const before = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), "sideband-start-"));
  process.env.TMPDIR = folder;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true });
  });
  return folder;
}

test("PostgreSQL starts where its binaries and the temporary folder are closed to other users", async (t) => {
  const folder = newTemporaryFolder(t);
  const native = dirname(dirname((await embeddedBinaries()).initdb));
  cpSync(native, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
  const server = await PostgresServer.start([], binariesIn(join(folder, "native", "bin")));
  try {
    await server.createDatabase("first");
    await server.pause("immediate");
    await server.resume();
    await server.createDatabase("second");
  } finally {
    await server.remove();
  }
  assert.deepEqual(readdirSync(folder), ["native"]);
});

test("a start that fails is told with its reason, and leaves no folder", async (t) => {
  const folder = newTemporaryFolder(t);
  chmodSync(folder, 0o755);
  writeStandIn(join(folder, "native", "bin"), "initdb");
  await assert.rejects(
    PostgresServer.start([], binariesIn(join(folder, "native", "bin"))),
    /the stand-in for initdb says no/,
  );
  await assert.rejects(PostgresServer.start(["no_such_setting=1"]), /no_such_setting/);
  assert.deepEqual(readdirSync(folder), ["native"]);
});
