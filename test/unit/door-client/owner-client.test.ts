/** The client of a data folder's owner. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { NoOwnerError, OwnerClient } from "../../../src/door-client/owner-client.ts";

test("an upload that finds nobody takes nothing out of its stream", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sideband-nobody-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const body = Readable.from(["one\n", "two\n"]);
  await assert.rejects(OwnerClient.of(folder).upload("/operator/import", body), NoOwnerError);
  assert.deepEqual(await body.toArray(), ["one\n", "two\n"]);
});
