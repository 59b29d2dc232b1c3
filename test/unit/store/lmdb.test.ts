/** The embedded store passes the conformance suite, and what only it does: one owner, checksums, backup. */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Failure } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import type { TableName } from "../../../src/store/lmdb/environment.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { grantConformance } from "../../conformance/grants.ts";
import { keyRequest, keyRequestConformance } from "../../conformance/key-requests.ts";
import { storeConformance } from "../../conformance/store.ts";
import { storeAnswersConformance } from "../../conformance/store-answers.ts";
import { storeAuditConformance } from "../../conformance/store-audit.ts";
import { storeClearsConformance } from "../../conformance/store-clears.ts";
import { storeCountsConformance } from "../../conformance/store-counts.ts";
import { storeLifeConformance } from "../../conformance/store-life.ts";
import { storeLimitsConformance } from "../../conformance/store-limits.ts";
import { storeOperatorsConformance } from "../../conformance/store-operators.ts";
import { storePlacesConformance } from "../../conformance/store-places.ts";
import { storeRightsConformance } from "../../conformance/store-rights.ts";
import { storeSharedConformance } from "../../conformance/store-shared.ts";
import { keyRecord, type StoreUnderTest, write } from "../../conformance/store-under-test.ts";
import { damage, misplace, storeIn, take } from "../../fixtures/behind-the-store.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { openFolder, withFolder } from "./lmdb-folder.ts";

async function openAlone(): Promise<StoreUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-store-"));
  let store = await openFolder(folder);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openFolder(folder, false);
      return store;
    },
    end: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

storeConformance("lmdb", openAlone);
storeAnswersConformance("lmdb", openAlone);
storeCountsConformance("lmdb", openAlone);
storeLifeConformance("lmdb", openAlone);
storePlacesConformance("lmdb", openAlone);
keyRequestConformance("lmdb", openAlone);
grantConformance("lmdb", openAlone);
storeOperatorsConformance("lmdb", openAlone);
storeAuditConformance("lmdb", openAlone);
storeLimitsConformance("lmdb", openAlone);
storeClearsConformance("lmdb", openAlone);
storeRightsConformance("lmdb", openAlone);
storeSharedConformance("lmdb", openAlone);

test("lmdb: a folder has one owner; a second is told who it is, and kill -9 frees the folder at once", () =>
  withFolder(async (folder) => {
    const script = fileURLToPath(new URL("../../fault/store-holder.ts", import.meta.url));
    const holder = fork(script, [folder], { execArgv: ["--import", "tsx"] });
    await once(holder, "message");
    await assert.rejects(openFolder(folder), new RegExp(`is in use by process ${holder.pid}`));
    assert.ok(holder.kill("SIGSTOP"));
    await assert.rejects(openFolder(folder), /is in use by process/, "a stopped owner is still the owner");
    holder.kill("SIGKILL");
    await once(holder, "exit");
    const store = await openFolder(folder);
    assert.equal(store.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
    await store.close();
  }));

test("lmdb: an entry that could be taken for another one's is a mistake, and is not written", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    const mistakes: [account: string, userId: string, label: string][] = [
      ["", "ada", "USER.name"],
      ["acme", "", "USER.name"],
      ["ac\0me", "ada", "USER.name"],
      ["acme", "a\0da", "USER.name"],
      ["acme", "ada", ""],
      ["acme", "ada", "USER\0name"],
    ];
    for (const [account, userId, label] of mistakes)
      await assert.rejects(store.write({ ...write(userId, [[label, "Ada"]]), account }), {
        name: "AssertionError",
      });
    assert.deepEqual([store.statistics().users, store.statistics().facts], [0, 0]);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.write(write("ada", [], { changes: changesOf([[0, null]]) }));
    assert.ok(store.forgottenSinceMs()! > 0, "one fact is forgotten as a user is");
    await store.close();
  }));

test("lmdb: of many that open a new folder at once exactly one owns it", () =>
  withFolder(async (folder) => {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => openFolder(join(folder, "new"))),
    );
    const opened = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    assert.deepEqual([opened.length, refused.length], [1, 7]);
    for (const error of refused) assert.match(error.message, /is in use by/);
    await opened[0].close();
  }));

test("lmdb: files have mode 600 and folders 700, also in a folder that was made with more", () =>
  withFolder(async (folder) => {
    const data = join(folder, "data");
    mkdirSync(data, { mode: 0o755 });
    const store = await openFolder(data);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.compact();
    await store.backup(join(folder, "backup"));
    await store.close();
    for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const { mode } = statSync(join(folder, entry));
      assert.equal(mode & 0o777, (mode & 0o40000) === 0 ? 0o600 : 0o700, entry);
    }
  }));

const RECORDS: [TableName, string, (store: LmdbStore) => unknown][] = [
  ["facts", "acme\0ada", (store) => store.readUser(viewOf("ada"))],
  ["facts", "acme\0ada\0\0USER.name", (store) => store.readFact(viewOf("ada"), "USER.name")],
  ["counters", "key1\x002026-11", (store) => store.readUsage("key1", "2026-11")],
  ["keys", "key1", (store) => store.readKey("key1")],
  ["accounts", "acme", (store) => store.listAccounts()],
];

for (const [table, key, read] of RECORDS) {
  test(`lmdb: a damaged record of ${table} (${JSON.stringify(key)}) is an error of its own, never a value`, () =>
    withFolder(async (folder) => {
      const quota = { keyId: "key1", month: "2026-11", day: "2026-11-15", limit: null };
      const store = await openFolder(folder);
      await store.addKey(keyRecord("key1"));
      await store.write(write("ada", [[0, "Ada"]], { quota }));
      await store.write(write("bob", [[0, "Bob"]]));
      await store.close();
      await damage(folder, table, key);
      const metrics = new Metrics();
      const again = await LmdbStore.open({ folder, create: false, queueMax: 10, metrics });
      await assert.rejects(async () => read(again), { code: "store_corrupt" });
      assert.match(metrics.render(), /sideband_corrupt_records_total 1/);
      assert.equal(again.readFact(viewOf("bob"), "USER.name")?.value, "Bob");
      const found: string[] = [];
      for await (const record of again.findDamage()) found.push(record);
      assert.deepEqual(found, [`${table} ${JSON.stringify(key)}`]);
      const { damaged } = await again.backup(join(folder, "backup"));
      assert.deepEqual(damaged, found, "a backup tells of it");
      await again.compact();
      await assert.rejects(async () => read(again), { code: "store_corrupt" }, "it is not healed by copying");
      assert.match(metrics.render(), /sideband_corrupt_records_total 2/);
      await again.close();
    }));
}

test("lmdb: a damaged record fails its own write, not the writes beside it, and its user can be forgotten", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.close();
    await damage(folder, "facts", "acme\0ada");
    const again = await openFolder(folder);
    const results = await Promise.allSettled([
      again.write(write("bob", [[0, "Bob"]])),
      again.write(write("ada", [[1, "x"]])),
      again.write(write("eve", [[0, "Eve"]])),
    ]);
    assert.deepEqual(fieldsOf(results, "status"), ["fulfilled", "rejected", "fulfilled"]);
    assert.equal(again.readFact(viewOf("eve"), "USER.name")?.value, "Eve");
    assert.ok(await again.forgetUser("acme", "ada"));
    assert.equal(again.readUser(viewOf("ada")), undefined);
    await again.close();
  }));

test("lmdb: an approval or deletion that meets a damaged record changes nothing, and the writes beside it are stored", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.addKey(keyRecord("key1"));
    for (const id of ["r1", "r2"]) await store.addKeyRequest(keyRequest(id));
    await store.deleteKeyRequest("r2");
    await store.close();
    await damage(folder, "accounts", "acme");
    await damage(folder, "meta", "forgotten");
    const again = await openFolder(folder);
    const results = await Promise.allSettled([
      again.addKey(keyRecord("key2"), { requestId: "r1", account: "existing" }),
      again.deleteKeyRequest("r1"),
      again.write(write("eve", [[0, "Eve"]])),
    ]);
    assert.deepEqual(
      results.map((result) => (result.status === "rejected" ? result.reason.code : "stored")),
      ["store_corrupt", "store_corrupt", "stored"],
    );
    assert.deepEqual(await again.listKeyRequests(), [keyRequest("r1")]);
    assert.equal(again.readKey("key2"), undefined);
    await again.close();
  }));

test("lmdb: another format is refused with what to do, an unwritable folder too", () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, "sideband.json"), '{"format":0,"generation":1}');
    await assert.rejects(openFolder(folder), /names no data format/);
    writeFileSync(join(folder, "sideband.json"), '{"format":1,"store":"../elsewhere"}');
    await assert.rejects(openFolder(folder), /does not name a store/);
    writeFileSync(join(folder, "a-file"), "");
    await assert.rejects(openFolder(join(folder, "a-file")), /cannot write to the data folder/);
    await assert.rejects(openFolder(join(folder, "nothing"), false), /there is no store/);
    await assert.rejects(openFolder("/proc/nothing/here"), /cannot write to the data folder/);
  }));

test("lmdb: a folder that a later release wrote is not opened", () =>
  withFolder(async (folder) => {
    await (await openFolder(folder)).close();
    const path = join(folder, "sideband.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"format":1', '"format":2'));
    await assert.rejects(openFolder(folder, false), /data format 2, this release knows formats up to 1/);
  }));

test("lmdb: leftovers of broken-off work go at the next start, a store that nothing names any more stays", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.close();
    const inUse = storeIn(folder);
    mkdirSync(join(folder, "store-00000000deadbeef"));
    const again = await openFolder(folder, false);
    assert.equal(storeIn(folder), inUse);
    await again.close();
    rmSync(join(folder, "sideband.json"));
    for (const create of [true, false]) {
      await assert.rejects(openFolder(folder, create), /no sideband.json names it/);
      assert.equal(storeIn(folder), inUse);
    }
  }));

test("lmdb: a wrong or damaged sideband.json, a truncated store or none: nothing is removed or created", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.close();
    const inUse = storeIn(folder);
    const right = readFileSync(join(folder, "sideband.json"));
    for (const text of ['{"format":4,"store":"store-00000000deadbeef"}', "null", "[]", "{", ""]) {
      writeFileSync(join(folder, "sideband.json"), text);
      await assert.rejects(openFolder(folder), /sideband\.json|names the store|data format/, text);
      assert.equal(storeIn(folder), inUse, text);
    }
    writeFileSync(join(folder, "sideband.json"), right);
    const again = await openFolder(folder, false);
    assert.equal(again.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
    await again.close();
    const file = join(folder, inUse, "data.mdb");
    truncateSync(file, statSync(file).size - 1);
    await assert.rejects(openFolder(folder), /is truncated: nothing was changed/);
    truncateSync(file, 0);
    await assert.rejects(openFolder(folder), /is missing or empty: nothing was changed/);
    truncateSync(file, 4096);
    await assert.rejects(openFolder(folder), /is truncated/);
    // As a loss of power may leave it, and no store: lmdb would end the process.
    truncateSync(file, 65_536);
    await assert.rejects(openFolder(folder), /is damaged: nothing was changed/);
    rmSync(join(folder, "sideband.json"));
    await assert.rejects(openFolder(folder), /no sideband\.json names it/);
    assert.equal(storeIn(folder), inUse);
  }));

test("lmdb: a record that is not where it belongs is damage, not absence", () =>
  withFolder(async (folder) => {
    const facts: [number, string][] = [
      [0, "Ada"],
      [1, "Engine"],
    ];
    const store = await openFolder(folder);
    for (const user of ["ada", "bob"]) await store.write(write(user, facts));
    await store.close();
    await take(folder, "facts", "acme\0ada\0\0USER.project");
    await take(folder, "facts", "acme\0bob");
    const again = await openFolder(folder);
    assert.equal(again.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
    // One fact of the place is missing, and nothing says which.
    for (const label of ["USER.project", "USER.location"])
      assert.throws(() => again.readFact(viewOf("ada"), label), { code: "store_corrupt" });
    assert.throws(() => again.readUser(viewOf("ada")), { code: "store_corrupt" });
    assert.throws(() => again.readUser(viewOf("bob")), { code: "store_corrupt" });
    assert.equal(again.readUser(viewOf("eve")), undefined);
    await again.close();
  }));

test("lmdb: a sound record in another one's place is damage, not a value", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    for (const user of ["ada", "bob"]) await store.write(write(user, [[0, `the value of ${user}`]]));
    await store.close();
    await misplace(folder, "facts", "acme\0ada\0\0USER.name", "acme\0bob\0\0USER.name");
    const again = await openFolder(folder);
    assert.throws(() => again.readFact(viewOf("bob"), "USER.name"), { code: "store_corrupt" });
    await again.close();
  }));

test("lmdb: a folder that holds no store is left as it is by who only looks, and is closed to nobody", () =>
  withFolder(async (folder) => {
    const foreign = join(folder, "foreign");
    mkdirSync(foreign);
    chmodSync(foreign, 0o777);
    writeFileSync(join(foreign, "file"), "hi");
    await assert.rejects(openFolder(foreign, false), /there is no store/);
    assert.deepEqual(readdirSync(foreign), ["file"]);
    assert.equal(statSync(foreign).mode & 0o777, 0o777);
    const store = await openFolder(foreign);
    assert.equal(statSync(foreign).mode & 0o777, 0o777, "others may have a use for it");
    await store.close();
  }));

test("lmdb: in a folder that was removed or replaced nothing is acknowledged", () =>
  withFolder(async (folder) => {
    const data = join(folder, "data");
    const store = await openFolder(data);
    await store.write(write("ada", [[0, "Ada"]]));
    rmSync(data, { recursive: true });
    await assert.rejects(store.write(write("ada", [[0, "lost"]])), { code: "store_unavailable" });
    await assert.rejects(store.probe(), { code: "store_unavailable" });
    const other = await openFolder(data);
    await assert.rejects(store.write(write("ada", [[0, "lost"]])), { code: "store_unavailable" });
    await other.write(write("ada", [[0, "kept"]]));
    await store.close();
    assert.equal(other.readFact(viewOf("ada"), "USER.name")?.value, "kept");
    await other.close();
  }));

test("lmdb: once its data file was removed or replaced, nothing is acknowledged for good", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    const file = join(folder, storeIn(folder), "data.mdb");
    const aside = `${file}.aside`;
    renameSync(file, aside);
    await assert.rejects(store.write(write("ada", [[0, "lost"]])), { code: "store_unavailable" });
    copyFileSync(aside, file);
    await assert.rejects(store.probe(), { code: "store_unavailable" });
    renameSync(aside, file);
    await assert.rejects(store.write(write("ada", [[0, "lost"]])), { code: "store_unavailable" });
    await store.close();
  }));

test("lmdb: a backup taken while writing is consistent", () =>
  withFolder(async (folder) => {
    const store = await openFolder(join(folder, "data"));
    let count = 0;
    let running = true;
    const writeNext = () => {
      count += 1;
      return store.write(
        write("ada", [
          [0, `${count}`],
          [1, `${count}`],
        ]),
      );
    };
    await writeNext();
    const writing = (async () => {
      while (running) await writeNext();
    })();
    while (count < 5) await new Promise(setImmediate);
    await store.backup(join(folder, "backup"));
    running = false;
    await writing;
    await store.close();
    const copy = await openFolder(join(folder, "backup"), false);
    const facts = (await copy.readUser(viewOf("ada")))!.facts;
    assert.equal(facts[0].value, facts[1].value, "both facts of one write, or neither");
    assert.ok(Number(facts[0].value) >= 1 && Number(facts[0].value) <= count);
    await copy.close();
  }));

test("on a disk that is nearly full a write is refused before lmdb runs into its end, and goes on when there is room", () =>
  withFolder(async (folder) => {
    let freeBytes = Number.POSITIVE_INFINITY;
    const options = {
      folder,
      create: true,
      queueMax: 10,
      metrics: new Metrics(),
      freeBytes: () => freeBytes,
    };
    const store = await LmdbStore.open(options);
    try {
      await store.write(write("ada", [[0, "Ada"]]));
      freeBytes = 2 ** 18;
      await assert.rejects(store.write(write("ada", [[0, "Eve"]])), (error: Failure) => {
        assert.deepEqual([error.code, error.message], ["store_unavailable", "The disk is nearly full."]);
        assert.match(error.extra.reason!, /nearly full: 256 KiB are free, a commit needs \d+; make room/);
        return error.extra.reason!.includes(folder);
      });
      assert.equal(store.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
      freeBytes = 2 ** 20;
      await store.write(write("ada", [[0, "Eve"]]));
      assert.equal(store.readFact(viewOf("ada"), "USER.name")?.value, "Eve");
    } finally {
      await store.close();
    }
  }));
