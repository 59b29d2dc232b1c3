/**
 * What upgrades a data folder, tried with a step made for the test: there is one format yet. Broken off at any step, the
 * folder is as it was or upgraded, and the next start goes on.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { STEPS, type Step } from "../../../src/base/steps.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import type { FormatStep } from "../../../src/store/lmdb/upgrade.ts";
import { keyRecord, NOW, write } from "../../conformance/store-under-test.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { viewOf } from "../../fixtures/views.ts";
import { openFolder, withFolder } from "./lmdb-folder.ts";

/** The made step: keys get a note. */
const noted: FormatStep = (table, { key, value }) => {
  const changed =
    table === "keys" ? Buffer.from(value.toString().replace('"note":""', '"note":"upgraded"')) : value;
  return [{ table, key, value: changed }];
};

const openLater = (folder: string, more: object = {}) =>
  LmdbStore.open({
    folder,
    create: false,
    queueMax: 100,
    metrics: new Metrics(),
    formatSteps: [noted],
    ...more,
  });

async function fill(folder: string): Promise<void> {
  const store = await openFolder(folder);
  await store.addKey(keyRecord("k1"));
  for (let i = 0; i < 30; i++) await store.write(write(`user-${i}`, [[0, `first ${i}`]]));
  for (let i = 0; i < 30; i++) await store.write(write(`user-${i}`, [[0, `value ${i}`]]));
  await store.close();
}

async function checkUpgraded(store: LmdbStore): Promise<void> {
  assert.equal(store.readKey("k1")?.note, "upgraded");
  for (let i = 0; i < 30; i++) {
    assert.equal(store.readFact(viewOf(`user-${i}`), "USER.name")?.value, `value ${i}`);
    const life = await store.readLife("acme", `user-${i}`, { nowMs: NOW });
    assert.deepEqual(fieldsOf(life?.earlier, "value"), [`first ${i}`]);
  }
}

test("lmdb: a folder of the format before is upgraded in place, refused by the release before, and compacted and backed up in the new format", () =>
  withFolder(async (folder) => {
    await fill(folder);
    const lines: string[] = [];
    const store = await openLater(folder, { warn: (line: string) => lines.push(line) });
    await checkUpgraded(store);
    await store.close();
    assert.match(lines.join("\n"), /to format 2.*has format 2/s);
    assert.match(readFileSync(join(folder, "sideband.json"), "utf8"), /"format":2/);
    await assert.rejects(openFolder(folder), /data format 2, this release knows formats up to 1/);
    const again = await openLater(folder);
    await again.compact();
    const backup = join(folder, "backup");
    await again.backup(backup, () => {});
    await again.close();
    for (const copied of [folder, backup]) {
      const copy = await openLater(copied, { warn: assert.fail });
      await checkUpgraded(copy);
      await copy.close();
    }
  }));

for (const step of STEPS.filter((name) => name.startsWith("upgrade:")))
  test(`lmdb: an upgrade that is broken off at "${step}" is done by the next start`, () =>
    withFolder(async (folder) => {
      await fill(folder);
      const atStep = (name: Step) => {
        if (name === step) throw new Error("broken off");
      };
      await assert.rejects(openLater(folder, { atStep }), /broken off/);
      const store = await openLater(folder);
      await checkUpgraded(store);
      await store.close();
    }));

test("lmdb: an upgrade for which the disk has no room changes nothing", () =>
  withFolder(async (folder) => {
    await fill(folder);
    await assert.rejects(openLater(folder, { freeBytes: () => 2 ** 19 }), /make room. Nothing was changed/);
    const store = await openFolder(folder);
    assert.equal(store.readKey("k1")?.note, "");
    await store.close();
  }));
