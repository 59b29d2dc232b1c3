/** Files that replace an earlier one: whatever step fails, there is a whole file, the old or the new, and no draft. */

import assert from "node:assert/strict";
import fs, { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeUserFile } from "../../../src/agents/user-file.ts";
import { writeWhole } from "../../../src/main/export-file.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

async function* lines(): AsyncGenerator<string> {
  yield "new\n";
}

/** The file after a call during which the disk refuses a step. */
async function afterFailing(
  context: TestContext,
  step: "fsyncSync" | "renameSync",
  write: (path: string) => unknown,
): Promise<string> {
  const folder = temporaryFolder(context);
  const path = join(folder, "file");
  writeFileSync(path, "old\n");
  context.mock.method(fs, step, () => {
    throw Object.assign(new Error("the disk is gone"), { code: "EIO" });
  });
  syncBuiltinESMExports();
  try {
    await assert.rejects(async () => write(path), { code: "EIO" });
  } finally {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  }
  assert.deepEqual(readdirSync(folder), ["file"], "no draft is left");
  return readFileSync(path, "utf8");
}

test("an export that cannot be renamed leaves the earlier one, and one whose folder is not synced is whole", async (context) => {
  const write = (path: string) => writeWhole(lines(), path);
  assert.equal(await afterFailing(context, "renameSync", write), "old\n");
  // The name is there already; the error says that it may not outlive a loss of power.
  assert.equal(await afterFailing(context, "fsyncSync", write), "new\n");
});

test("a user's file that cannot be synced or renamed stays as it was", async (context) => {
  const write = (path: string) => writeUserFile(path, "new\n");
  for (const step of ["fsyncSync", "renameSync"] as const)
    assert.equal(await afterFailing(context, step, write), "old\n");
});
