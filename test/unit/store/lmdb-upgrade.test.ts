/** A data folder of the format before is upgraded in place at its first start, and nothing of it is lost. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { STEPS, type Step } from "../../../src/base/steps.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { checkUpgraded, writeFormer } from "../../fixtures/former-folder.ts";
import { viewOf } from "../../fixtures/views.ts";
import { withFolder } from "./lmdb-folder.ts";

const open = (folder: string, more: Partial<Parameters<typeof LmdbStore.open>[0]> = {}) =>
  LmdbStore.open({ folder, create: false, queueMax: 100, metrics: new Metrics(), ...more });

const storesIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("store-"));

test("lmdb: a folder of the format before is upgraded with everything in it, and the operator is told", () =>
  withFolder(async (folder) => {
    await writeFormer(folder);
    const lines: string[] = [];
    const store = await open(folder, { warn: (line) => lines.push(line) });
    await checkUpgraded(store);
    assert.deepEqual(await store.statistics().facts, 12);
    assert.deepEqual(await store.statistics().users, 7);
    assert.match(lines.at(-1)!, /format 5: 7 users, 12 facts; 2 users of the form PERSON\/PROJECT/);
    await store.close();
    const again = await open(folder, { warn: (line) => assert.fail(line) });
    await checkUpgraded(again);
    await again.compact();
    await checkUpgraded(again);
    const damaged: string[] = [];
    for await (const record of again.findDamage()) damaged.push(record);
    assert.deepEqual(damaged, []);
    await again.close();
    assert.equal(storesIn(folder).length, 1);
  }));

test("lmdb: an upgrade that fails at any step leaves a folder that the next start upgrades", async () => {
  for (const step of STEPS.filter((name) => name.startsWith("upgrade:"))) {
    await withFolder(async (folder) => {
      await writeFormer(folder);
      const failAt = (at: Step) => {
        if (at === step) throw new Error(`stopped at ${at}`);
      };
      await assert.rejects(open(folder, { atStep: failAt }), { message: `stopped at ${step}` });
      const store = await open(folder);
      await checkUpgraded(store);
      await store.close();
      assert.equal(storesIn(folder).length, 1, step);
    });
  }
});

test("lmdb: a damaged record is as damaged after the upgrade, and all the others are there", () =>
  withFolder(async (folder) => {
    const key = Buffer.from("acme\0mallory\0\x05").toString("hex");
    await writeFormer(folder, { facts: [[key, "00".repeat(40)]] });
    const store = await open(folder);
    await checkUpgraded(store);
    assert.throws(() => store.readFact(viewOf("mallory"), 5), { code: "store_corrupt" });
    assert.equal(await store.forgetUser("acme", "mallory"), true);
    await store.close();
  }));

test("lmdb: without room for a second store the folder stays as it is", () =>
  withFolder(async (folder) => {
    await writeFormer(folder);
    await assert.rejects(open(folder, { freeBytes: () => 1_000_000 }), /make room\. Nothing was changed/);
    assert.match(readFileSync(join(folder, "sideband.json"), "utf8"), /"format":4/);
    assert.equal(storesIn(folder).length, 1);
    await (await open(folder)).close();
  }));

test("lmdb: a folder of a newer format is refused with one line", () =>
  withFolder(async (folder) => {
    await writeFormer(folder);
    const text = `${JSON.stringify({ format: 6, store: storesIn(folder)[0] })}\n`;
    writeFileSync(join(folder, "sideband.json"), text);
    await assert.rejects(
      open(folder),
      /data format 6, this release knows formats up to 5: a newer release wrote it/,
    );
    assert.equal(readFileSync(join(folder, "sideband.json"), "utf8"), text);
  }));
