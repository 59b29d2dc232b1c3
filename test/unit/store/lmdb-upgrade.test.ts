/** A data folder of the format before is upgraded in place at its first start, and nothing of it is lost. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { Metrics } from "../../../src/base/metrics.ts";
import { STEPS, type Step } from "../../../src/base/steps.ts";
import { Environment } from "../../../src/store/lmdb/environment.ts";
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
    assert.match(lines[0], /bringing the data in .* to format 5; the old store stays/);
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

/** A record of format 4, with its checksum. */
function formerRecord(key: string, value: Buffer): [key: string, record: string] {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(value, crc32(Buffer.from(key), 2)));
  return [Buffer.from(key).toString("hex"), Buffer.concat([value, checksum]).toString("hex")];
}

/** A user of format 4 with facts, in hexadecimal. */
function formerUser(name: string, facts: readonly [channel: number, revision: number, value: string][]) {
  const user = Buffer.alloc(17, 1);
  user.fill(0, 12);
  for (const [channel] of facts) user[12 + (channel >> 3)] |= 1 << (channel & 7);
  return [
    formerRecord(`acme\0${name}`, user),
    ...facts.map(([channel, revision, value]) => {
      const head = Buffer.alloc(21);
      head.writeUIntBE(revision, 0, 6);
      const key = `acme\0${name}\0${String.fromCharCode(channel)}`;
      return formerRecord(key, Buffer.concat([head, Buffer.from(value)]));
    }),
  ];
}

test("lmdb: people who had only projects are counted once, and the facts of a project keep their order", () =>
  withFolder(async (folder) => {
    const projects = ["new-0123456789ab", "new-0123456789ac", "old-0123456789ab"];
    const facts = projects.flatMap((project) =>
      formerUser(`zoe/${project}`, [
        [1, 9, "last"],
        [2, 3, "first"],
        [3, 5, "second"],
      ]),
    );
    await writeFormer(folder, { facts });
    const store = await open(folder);
    await checkUpgraded(store);
    assert.deepEqual([store.statistics().users, store.statistics().facts], [8, 21]);
    const state = store.readUser(viewOf("zoe", "acme", { places: ["", projects[2]] }))!;
    const inOrder = [...state.facts].sort((a, b) => a.revision - b.revision);
    assert.deepEqual(
      inOrder.map(({ value }) => value),
      ["first", "second", "last"],
    );
    await store.close();
  }));

test("lmdb: more records than are read at once are upgraded, damaged ones among them", () =>
  withFolder(async (folder) => {
    const names = Array.from({ length: 1_100 }, (_, i) => `a-${String(i).padStart(4, "0")}`);
    const facts = names.flatMap((name, i): [string, string][] =>
      i % 2 === 0
        ? [[Buffer.from(`acme\0${name}\0\x01`).toString("hex"), "00".repeat(40)]]
        : formerUser(name, [[1, 1, name]]),
    );
    await writeFormer(folder, { facts });
    const store = await open(folder);
    await checkUpgraded(store);
    for (const [i, name] of names.entries()) {
      if (i % 2 === 0) assert.throws(() => store.readFact(viewOf(name), 1), { code: "store_corrupt" });
      else assert.equal(store.readFact(viewOf(name), 1)?.value, name);
    }
    await store.close();
  }));

test("lmdb: without room for a second store the folder stays as it is", () =>
  withFolder(async (folder) => {
    await writeFormer(folder);
    const environment = new Environment(join(folder, storesIn(folder)[0]));
    const bytesMin = 2 * environment.liveBytes + 2 ** 20;
    await environment.close();
    const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1).replace(".", "\\.");
    await assert.rejects(
      open(folder, { freeBytes: () => bytesMin - 1 }),
      new RegExp(
        `has data format 4, and .* to format 5 takes up to ${mib(bytesMin)} MiB; its disk has ${mib(bytesMin - 1)} MiB free: ` +
          "make room\\. Nothing was changed",
      ),
    );
    assert.match(readFileSync(join(folder, "sideband.json"), "utf8"), /"format":4/);
    assert.equal(storesIn(folder).length, 1);
    await (await open(folder, { freeBytes: () => bytesMin })).close();
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
