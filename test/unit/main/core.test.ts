/** What a process that stops leaves behind. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../../../src/config.ts";
import { openCore } from "../../../src/main/core.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

test("the last use of a key is noted although the process stops before the next round", async (context) => {
  const folder = temporaryFolder(context);
  const open = () => openCore(readConfig({ SIDEBAND_DATA: folder }), { create: true });
  const first = await open();
  const { key, record } = await first.keys.create({ account: "acme" });
  const beforeMs = Date.now();
  await first.authentication.callerOf(key);
  await first.close();
  const second = await open();
  const noted = await second.store.readKey(record.id);
  await second.close();
  assert.ok((noted?.lastUsedAtMs ?? 0) >= beforeMs);
});

test("the owner of a data folder removes what a killed process left of its secrets", async (context) => {
  const folder = temporaryFolder(context);
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(join(folder, `master.key.${pid}.new`), "");
  await (await openCore(readConfig({ SIDEBAND_DATA: folder }), { create: true })).close();
  const names = readdirSync(folder).filter((name) => name.startsWith("master.key"));
  assert.deepEqual(names, ["master.key"]);
});
