/** The embedded store passes the conformance suite, and what only it does: generations, compaction, backup. */

import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { open } from "lmdb";
import { Metrics } from "../../../src/base/metrics.ts";
import { Environment } from "../../../src/store/lmdb/environment.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { storeConformance, write } from "../../conformance/store.ts";

const openFolder = (folder: string, create = true) =>
  LmdbStore.open({ folder, create, queueMax: 10_000, metrics: new Metrics() });

storeConformance("lmdb", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sideband-store-"));
  let store = await openFolder(folder);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openFolder(folder, false);
      return store;
    },
    second: () => openFolder(folder, false),
    end: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-store-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
    const neighbour = await openFolder(folder);
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
    for (const opened of [store, neighbour]) {
      for (let i = 0; i < 300; i++) {
        assert.equal(opened.readFact("acme", `user-${i}`, 0)?.value, `value-of-${i}-`.padEnd(200, "v"));
      }
      await opened.write(write("after", [[0, "works"]]));
    }
    assert.deepEqual(readdirSync(folder).sort(), ["sideband.json", "store-2"]);
    await store.close();
    await neighbour.close();
  }));

test("lmdb: compacting beside writers in two other processes loses nothing", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    for (let i = 0; i < 300; i++) await store.write(write(`before-${i}`, [[0, "x"]]));
    const script = fileURLToPath(new URL("../../fault/store-writer.ts", import.meta.url));
    const writers = ["one", "two"].map((name) =>
      fork(script, [folder, name], { execArgv: ["--import", "tsx"] }),
    );
    const next = (child: ChildProcess) => new Promise((resolve) => child.once("message", resolve));
    await Promise.all(writers.map(next));
    for (let round = 0; round < 3; round++) await store.compact();
    const reports = writers.map(next) as Promise<{
      acknowledged: Record<string, string>;
      forgotten: number;
      mismatches: number;
    }>[];
    for (const writer of writers) writer.send("stop");
    for (const { acknowledged, forgotten, mismatches } of await Promise.all(reports)) {
      assert.ok(Object.keys(acknowledged).length > 0 && forgotten > 0);
      assert.equal(mismatches, 0, "each process reads what it has written");
      for (const [slot, value] of Object.entries(acknowledged)) {
        const [user, channel] = slot.split("/");
        assert.equal(store.readFact("acme", user, Number(channel))?.value, value, slot);
      }
    }
    assert.equal(store.readFact("acme", "before-299", 0)?.value, "x");
    await store.close();
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

test("lmdb: a commit that another was quicker than runs again on the newer state, and no commit is lost", () =>
  withFolder(async (folder) => {
    const path = join(folder, "store-1");
    const environment = new Environment(path);
    const binary = { encoding: "binary", keyEncoding: "binary" } as const;
    const other = open<Buffer, Buffer>({ path, maxDbs: 16, ...binary });
    const commits = other.openDB<Buffer, Buffer>({ name: "commits", useVersions: true, ...binary });
    const meta = other.openDB<Buffer, Buffer>({ name: "meta", ...binary });
    const key = Buffer.from("count");
    for (const rivals of [0, 1, 2, 9]) {
      const start = Number(environment.get("meta", key)?.toString() ?? 0);
      let runs = 0;
      await environment.commit((transaction) => {
        const count = Number(transaction.get("meta", key)?.toString() ?? 0);
        transaction.put("meta", key, Buffer.from(String(count + 1)));
        runs += 1;
        if (runs > rivals || runs > 3) return;
        // As another process would, between this one's reading and its commit.
        meta.putSync(key, Buffer.from(String(count + 1)));
        commits.putSync(Buffer.from("commits"), Buffer.alloc(0), 1_000 * rivals + runs);
      });
      const lost = Math.min(rivals, 3);
      assert.equal(runs, lost + 1);
      assert.equal(Number(environment.get("meta", key)?.toString()), start + lost + 1);
    }
    await environment.close();
  }));

test("lmdb: a damaged record fails its own write, not the writes beside it", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.close();
    const environment = new Environment(join(folder, "store-1"));
    await environment.transact((transaction) =>
      transaction.put("facts", Buffer.from("acme\0ada"), Buffer.from("?")),
    );
    await environment.close();
    const again = await openFolder(folder);
    assert.throws(() => again.readUser("acme", "ada"), /damaged/);
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
    await again.close();
  }));

test("lmdb: a folder of format 1 is rewritten when it is opened, also where that was broken off", () =>
  withFolder(async (folder) => {
    const users = Array.from({ length: 2_500 }, (_, i) => `user ${String(i).padStart(4, "0")}`);
    const before = await openFolder(folder);
    await Promise.all(
      users.map((user) =>
        before.write(
          write(user, [
            [0, user],
            [39, "last"],
          ]),
        ),
      ),
    );
    const stamps = users.map((user) => before.readStamp("acme", user));
    await before.close();
    for (const { kept, told } of [
      { kept: 0, told: [2_000, 2_500] },
      { kept: 700, told: [2_500] },
    ]) {
      await writeFormat1(folder, kept);
      const counts: number[] = [];
      const store = await LmdbStore.open({
        folder,
        create: false,
        queueMax: 10_000,
        metrics: new Metrics(),
        upgraded: (count) => counts.push(count),
      });
      assert.deepEqual(counts, told);
      assert.deepEqual(
        users.map((user) => store.readStamp("acme", user)),
        stamps,
      );
      const walked: string[] = [];
      for await (const { userId } of store.walkUsers("acme")) walked.push(userId);
      assert.deepEqual(walked, users);
      const { facts, users: count } = store.statistics();
      assert.deepEqual([facts, count], [5_000, 2_500]);
      assert.deepEqual(
        store.readUser("acme", "user 1234")?.facts.map(({ channel, value }) => [channel, value]),
        [
          [0, "user 1234"],
          [39, "last"],
        ],
      );
      await store.close();
      assert.equal(JSON.parse(readFileSync(join(folder, "sideband.json"), "utf8")).format, 2);
    }
  }));

/** As an older release left it: users in a table of their own, but for the first `kept`, which have moved already. */
async function writeFormat1(folder: string, kept: number): Promise<void> {
  const environment = new Environment(join(folder, "store-1"));
  const entries = [...environment.table("facts").getRange({ start: Buffer.of(0) })];
  const users = entries.filter(({ key }) => key.indexOf(0) === key.lastIndexOf(0));
  await environment.transact((transaction) => {
    for (const { key, value } of users.slice(kept)) {
      transaction.remove("facts", key);
      transaction.put("users", key, value);
    }
    const count = Buffer.alloc(6);
    count.writeUIntBE(kept, 0, 6);
    transaction.put("counters", Buffer.from("users"), count);
  });
  await environment.close();
  writeFileSync(join(folder, "sideband.json"), '{"format":1,"generation":1}\n');
}

test("lmdb: a newer format is refused with a clear message, an unwritable folder too", () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, "sideband.json"), '{"format":3,"generation":1}');
    await assert.rejects(openFolder(folder), /format 3.*use a newer release/);
    writeFileSync(join(folder, "a-file"), "");
    await assert.rejects(openFolder(join(folder, "a-file")), /cannot write to the data folder/);
    await assert.rejects(openFolder(join(folder, "nothing"), false), /there is no store/);
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
    await new Promise((resolve) => setTimeout(resolve, 30));
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
