/** The embedded store passes the conformance suite, and what only it does: one owner, checksums, compaction, backup. */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Database, open } from "lmdb";
import { Metrics } from "../../../src/base/metrics.ts";
import type { TableName } from "../../../src/store/lmdb/environment.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { keyRequest, keyRequestConformance } from "../../conformance/key-requests.ts";
import { keyRecord, storeConformance, write } from "../../conformance/store.ts";

const openFolder = (folder: string, create = true) =>
  LmdbStore.open({ folder, create, queueMax: 10_000, metrics: new Metrics() });

const openUnderTest = async () => {
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
};

storeConformance("lmdb", openUnderTest);
keyRequestConformance("lmdb", openUnderTest);

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-store-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The name of the one store in a folder. */
function storeIn(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.startsWith("store-"));
  assert.equal(names.length, 1, "one store and no leftovers");
  return names[0];
}

/** Changes the bytes of one stored record, behind the store's back. */
async function damage(folder: string, table: TableName, key: string): Promise<void> {
  await behind(folder, table, async (database) => {
    const changed = Buffer.from(database.get(Buffer.from(key))!);
    changed[0] ^= 1;
    await database.put(Buffer.from(key), changed);
  });
}

/** Takes a record away, behind the store's back. */
function take(folder: string, table: TableName, key: string): Promise<void> {
  return behind(folder, table, async (database) => {
    assert.ok(await database.remove(Buffer.from(key)));
  });
}

async function behind(
  folder: string,
  table: TableName,
  work: (database: Database<Buffer, Buffer>) => Promise<void>,
): Promise<void> {
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  const root = open<Buffer, Buffer>({ path: join(folder, storeIn(folder)), maxDbs: 32, ...binary });
  const database = root.openDB<Buffer, Buffer>({ name: table, ...binary });
  await work(database);
  await root.close();
}

/** Whether any file under the folder holds the text. */
function filesHold(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
}

test("lmdb: after compacting, no byte of a forgotten user is in the data files, and the others are whole", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    for (let i = 0; i < 300; i++)
      await store.write(write(`user-${i}`, [[0, `value-of-${i}-`.padEnd(200, "v")]]));
    await store.write(
      write("condemned-user", [
        [0, "condemned-value"],
        [1, "x".repeat(1000)],
        [2, "overwritten-secret"],
      ]),
    );
    await store.write(write("condemned-user", [[2, "later"]]));
    assert.equal(store.forgottenSinceMs(), undefined);
    await store.forgetUser("acme", "condemned-user");
    assert.ok(store.forgottenSinceMs()! > 0);
    assert.ok(
      filesHold(folder, "condemned-value"),
      "lmdb keeps old bytes: else this test would show nothing",
    );
    const report = await store.compact();
    assert.ok(report.entries > 600);
    for (const trace of ["condemned-user", "condemned-value", "overwritten-secret"]) {
      assert.equal(filesHold(folder, trace), false, trace);
    }
    assert.equal(store.forgottenSinceMs(), undefined);
    for (let i = 0; i < 300; i++) {
      assert.equal(store.readFact("acme", `user-${i}`, 0)?.value, `value-of-${i}-`.padEnd(200, "v"));
    }
    await store.write(write("after", [[0, "works"]]));
    assert.deepEqual(readdirSync(folder).sort(), [
      "owner.json",
      "owner.lock",
      "sideband.json",
      storeIn(folder),
    ]);
    await store.close();
  }));

test("lmdb: compacting beside writers and readers loses nothing, and every read sees what was acknowledged", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    for (let i = 0; i < 3000; i++) void store.write(write(`before-${i}`, [[0, "x"]]));
    let running = true;
    const acknowledged = new Map<string, string | undefined>();
    const writers = Array.from({ length: 8 }, async (_, channel) => {
      for (let i = 0; running; i++) {
        const userId = `w-${channel}-${i % 40}`;
        await store.write(write(userId, [[channel, `value ${i}`]]));
        assert.equal(store.readFact("acme", userId, channel)?.value, `value ${i}`);
        acknowledged.set(userId, `value ${i}`);
        if (i % 7 !== 3) continue;
        await store.forgetUser("acme", userId);
        assert.equal(store.readFact("acme", userId, channel), undefined);
        acknowledged.set(userId, undefined);
      }
    });
    const names = new Set([storeIn(folder)]);
    for (let round = 0; round < 3; round++) {
      await store.compact();
      names.add(storeIn(folder));
    }
    running = false;
    await Promise.all(writers);
    assert.equal(names.size, 4, "each compaction moved to a store of its own");
    assert.ok(store.forgottenSinceMs()! > 0, "what was forgotten meanwhile waits for the next compaction");
    await store.close();
    const again = await openFolder(folder, false);
    assert.ok(acknowledged.size > 8);
    for (const [userId, value] of acknowledged) {
      assert.equal(again.readFact("acme", userId, Number(userId.split("-")[1]))?.value, value, userId);
    }
    assert.equal(again.readFact("acme", "before-2999", 0)?.value, "x");
    const { facts, users } = again.statistics();
    const left = 3000 + [...acknowledged.values()].filter((value) => value !== undefined).length;
    assert.deepEqual([facts, users], [left, left]);
    await again.close();
  }));

test("lmdb: two compactions at once: one is refused, nothing breaks", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    const results = await Promise.allSettled([store.compact(), store.compact()]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal(store.readFact("acme", "ada", 0)?.value, "Ada");
    await store.close();
  }));

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
    assert.equal(store.readFact("acme", "ada", 0)?.value, "Ada");
    await store.close();
  }));

test("lmdb: of many that open a new folder at once exactly one owns it", () =>
  withFolder(async (folder) => {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => openFolder(join(folder, "new"))),
    );
    const opened = results.filter(({ status }) => status === "fulfilled");
    assert.equal(opened.length, 1);
    await (opened[0] as PromiseFulfilledResult<LmdbStore>).value.close();
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
  ["facts", "acme\0ada", (store) => store.readUser("acme", "ada")],
  ["facts", "acme\0ada\0\0", (store) => store.readFact("acme", "ada", 0)],
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
      assert.equal(again.readFact("acme", "bob", 0)?.value, "Bob");
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
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.equal(again.readFact("acme", "eve", 0)?.value, "Eve");
    assert.equal(await again.forgetUser("acme", "ada"), true);
    assert.equal(again.readUser("acme", "ada"), undefined);
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
    writeFileSync(join(folder, "sideband.json"), '{"format":2,"generation":1}');
    await assert.rejects(openFolder(folder), /data format 2.*sideband export.*sideband import/);
    writeFileSync(join(folder, "sideband.json"), '{"format":3,"store":"../elsewhere"}');
    await assert.rejects(openFolder(folder), /does not name a store/);
    writeFileSync(join(folder, "a-file"), "");
    await assert.rejects(openFolder(join(folder, "a-file")), /cannot write to the data folder/);
    await assert.rejects(openFolder(join(folder, "nothing"), false), /there is no store/);
    await assert.rejects(openFolder("/proc/nothing/here"), /cannot write to the data folder/);
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

test("lmdb: a wrong or damaged sideband.json, or a truncated store: nothing is removed or created", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.close();
    const inUse = storeIn(folder);
    const right = readFileSync(join(folder, "sideband.json"));
    for (const text of ['{"format":3,"store":"store-00000000deadbeef"}', "null", "[]", "{", ""]) {
      writeFileSync(join(folder, "sideband.json"), text);
      await assert.rejects(openFolder(folder), /sideband\.json|names the store|data format/, text);
      assert.equal(storeIn(folder), inUse, text);
    }
    writeFileSync(join(folder, "sideband.json"), right);
    const again = await openFolder(folder, false);
    assert.equal(again.readFact("acme", "ada", 0)?.value, "Ada");
    await again.close();
    truncateSync(join(folder, inUse, "data.mdb"), 0);
    await assert.rejects(openFolder(folder), /is missing or empty: nothing was changed/);
    truncateSync(join(folder, inUse, "data.mdb"), 4096);
    await assert.rejects(openFolder(folder), /is truncated/);
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
    await take(folder, "facts", "acme\0ada\0\x01");
    await take(folder, "facts", "acme\0bob");
    const again = await openFolder(folder);
    assert.equal(again.readFact("acme", "ada", 0)?.value, "Ada");
    assert.equal(again.readFact("acme", "ada", 7), undefined);
    assert.throws(() => again.readFact("acme", "ada", 1), { code: "store_corrupt" });
    assert.throws(() => again.readUser("acme", "ada"), { code: "store_corrupt" });
    assert.throws(() => again.readUser("acme", "bob"), { code: "store_corrupt" });
    assert.equal(again.readUser("acme", "eve"), undefined);
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
    assert.equal(other.readFact("acme", "ada", 0)?.value, "kept");
    await other.close();
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
    const facts = copy.readUser("acme", "ada")!.facts;
    assert.equal(facts[0].value, facts[1].value, "both facts of one write, or neither");
    assert.ok(Number(facts[0].value) >= 1 && Number(facts[0].value) <= count);
    await copy.close();
  }));
