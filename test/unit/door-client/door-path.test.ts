/** The address of a data folder's door. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { doorPath } from "../../../src/door-client/door-path.ts";

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
