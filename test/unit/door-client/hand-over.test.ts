/** After an upgrade: an owner in the background makes way, and a service is left alone. It is not even asked to end. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { hasCurrentOwner } from "../../../src/door-client/background-owner.ts";
import { doorPath } from "../../../src/door-client/private-folder.ts";

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
