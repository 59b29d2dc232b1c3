/** Compaction of the embedded store: no byte of what was forgotten is left, and nothing else is lost. */

import assert from "node:assert/strict";
import fs, { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import type { FactChange } from "../../../src/memory/ports.ts";
import { readStoreName } from "../../../src/store/lmdb/data-folder.ts";
import { Environment } from "../../../src/store/lmdb/environment.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { keyRecord, NOW, write } from "../../conformance/store-under-test.ts";
import { storeIn } from "../../fixtures/behind-the-store.ts";
import { labelAt, viewOf } from "../../fixtures/views.ts";
import { openFolder, withFolder } from "./lmdb-folder.ts";

/** Whether any file under the folder holds the text. */
function filesHold(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
}

test("lmdb: after compacting, no byte of a forgotten user is in the data files, and the others are whole", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    // More entries than a copy reads at once.
    const others = Array.from({ length: 510 }, (_, i) =>
      store.write(write(`user-${i}`, [[0, `value-of-${i}-`.padEnd(200, "v")]])),
    );
    await Promise.all(others);
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
    await store.addKey(keyRecord("forgotten", "forgotten"));
    const progress: (readonly [number, number])[] = [];
    const report = await store.compact((done, total) => void progress.push([done, total]));
    assert.ok(report.entries > 1_020);
    // All but the note that something was forgotten.
    assert.deepEqual(progress.at(-1), [report.entries, report.entries + 1]);
    assert.equal(store.readKey("forgotten")?.account, "forgotten");
    assert.equal((await store.listAccounts()).length, 1);
    for (const trace of ["condemned-user", "condemned-value", "overwritten-secret"]) {
      assert.equal(filesHold(folder, trace), false, trace);
    }
    assert.equal(store.forgottenSinceMs(), undefined);
    for (let i = 0; i < 510; i++) {
      assert.equal(
        store.readFact(viewOf(`user-${i}`), "USER.name")?.value,
        `value-of-${i}-`.padEnd(200, "v"),
      );
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

type Change = (value: string | null, more?: Partial<FactChange>, key?: string) => Promise<unknown>;

/** The ways in which a value ends; each must be gone from the files after a compaction. */
const ENDINGS: Record<string, (store: LmdbStore, change: Change) => Promise<unknown>> = {
  "a forgotten fact": (_, change) => change(null),
  "a fact of a forgotten project": async (store, change) => {
    await change("x", { place: "loom/w" });
    await store.forgetUser("acme", "condemned-user", "loom");
  },
  "a forgotten user": (store) => store.forgetUser("acme", "condemned-user"),
  "a fact that has expired, and is forgotten": async (store, change) => {
    await change("in between", { expiresAtMs: NOW + 1 });
    await store.sweep(NOW + 2);
    await change(null);
  },
  "an expired fact beyond the history": async (store, change) => {
    await change("in between", { expiresAtMs: NOW + 1 });
    await store.sweep(NOW + 2);
    for (let i = 0; i < 12; i++) await change(`later ${i}`);
  },
  "a value beyond the history": async (_, change) => {
    for (let i = 0; i < 12; i++) await change(`later ${i}`);
  },
};

for (const [what, end] of Object.entries(ENDINGS)) {
  test(`lmdb: after compacting, no byte of ${what} is in the data files`, () =>
    withFolder(async (folder) => {
      const store = await openFolder(folder);
      const secret = "condemned-value";
      const place = what.includes("project") ? "loom" : "";
      const once = { keyId: "k", fingerprint: Buffer.alloc(32), expiresAtMs: NOW + 1, answer: secret };
      const change: Change = (value, more = {}, key) =>
        store.write({
          ...write("condemned-user", []),
          changes: [{ place, label: "USER.name", value, ...more }],
          // What a request was answered is kept for a day, which is long ago.
          ...(key === undefined ? {} : { idempotency: { ...once, key } }),
        });
      await store.write(write("other", [[0, "stays"]]));
      await change("before");
      await change(secret, {}, "first");
      await change(`${secret} again`, {}, "second");
      await end(store, change);
      assert.ok(filesHold(folder, secret), "lmdb keeps old bytes: else this test would show nothing");
      await store.compact();
      assert.equal(filesHold(folder, secret), false);
      assert.equal(store.readFact(viewOf("other"), "USER.name")?.value, "stays");
      await store.close();
    }));
}

test("lmdb: a lower limit of the history leaves no byte beyond it after a sweep and a compaction", () =>
  withFolder(async (folder) => {
    const values = Array.from({ length: 600 }, (_, i) => `user-${i % 100} value-${Math.floor(i / 100)}`);
    const open = (historyMax: number) =>
      LmdbStore.open({ folder, create: true, queueMax: 10_000, metrics: new Metrics(), historyMax });
    let store = await open(8);
    await Promise.all(values.map((value, i) => store.write(write(`user-${i % 100}`, [[0, value]]))));
    const changes = [{ place: "", label: "USER.name", value: null, keepHistory: true }];
    await store.write(write("user-7", [], { changes }));
    await store.compact();
    await store.close();
    const earlierOf = async (user: string) =>
      (await store.readLife("acme", user, { nowMs: NOW }))?.earlier.map(({ value }) => value.slice(-1)) ?? [];
    store = await open(2);
    assert.equal(store.forgottenSinceMs(), undefined);
    await store.sweep(NOW);
    assert.ok(store.forgottenSinceMs() !== undefined, "a compaction follows by itself");
    assert.deepEqual(await earlierOf("user-3"), ["3", "4"]);
    assert.deepEqual(await earlierOf("user-7"), ["4", "5"]);
    await store.compact();
    assert.ok(filesHold(folder, "user-3 value-3"));
    for (const old of ["user-3 value-0", "user-3 value-2", "user-7 value-3", "user-99 value-1"])
      assert.equal(filesHold(folder, old), false, old);
    await store.close();
    // A compaction alone does it, too; a label of which nothing is kept takes its user along.
    store = await open(0);
    await store.compact();
    assert.equal(filesHold(folder, "value-4"), false);
    assert.deepEqual([await earlierOf("user-3"), store.statistics().users], [[], 99]);
    assert.equal(store.readFact(viewOf("user-3"), "USER.name")?.value, "user-3 value-5");
    await store.close();
    store = await open(8);
    await store.sweep(NOW);
    await store.write(write("user-3", [[0, "new"]]));
    assert.deepEqual(await earlierOf("user-3"), ["5"]);
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
        assert.equal(store.readFact(viewOf(userId), labelAt(channel))?.value, `value ${i}`);
        acknowledged.set(userId, `value ${i}`);
        if (i % 7 !== 3) continue;
        await store.forgetUser("acme", userId);
        assert.equal(store.readFact(viewOf(userId), labelAt(channel)), undefined);
        acknowledged.set(userId, undefined);
      }
    });
    const names = new Set([storeIn(folder)]);
    for (let round = 0; round < 3; round++) {
      await store.compact();
      names.add(storeIn(folder));
    }
    // On a busy machine the writers may have forgotten nothing during the last compaction.
    while (store.forgottenSinceMs() === undefined) await new Promise((resolve) => setImmediate(resolve));
    running = false;
    await Promise.all(writers);
    assert.equal(names.size, 4, "each compaction moved to a store of its own");
    assert.ok(store.forgottenSinceMs()! > 0, "what was forgotten waits for the next compaction");
    await store.close();
    const again = await openFolder(folder, false);
    assert.ok(acknowledged.size > 8);
    for (const [userId, value] of acknowledged) {
      assert.equal(
        again.readFact(viewOf(userId), labelAt(Number(userId.split("-")[1])))?.value,
        value,
        userId,
      );
    }
    assert.equal(again.readFact(viewOf("before-2999"), "USER.name")?.value, "x");
    const { facts, users } = again.statistics();
    const left = 3000 + [...acknowledged.values()].filter((value) => value !== undefined).length;
    assert.deepEqual([facts, users], [left, left]);
    await again.close();
  }));

test("lmdb: what is written or forgotten behind the copy's back is so after the compaction", () =>
  withFolder(async (folder) => {
    const changes: Promise<unknown>[] = [];
    let pages = 0;
    const store = await openFolder(folder, true, (step) => {
      // The first table that is copied is meta, the second one facts.
      if (step !== "copy: page written" || ++pages !== 2) return;
      changes.push(store.write(write("bob", [[0, "Bob"]])), store.forgetUser("acme", "ada"));
    });
    await store.write(write("ada", [[0, "Ada"]]));
    await store.compact();
    await Promise.all(changes);
    assert.equal(store.readFact(viewOf("bob"), "USER.name")?.value, "Bob");
    assert.equal(store.readUser(viewOf("ada")), undefined);
    assert.deepEqual([store.statistics().users, store.statistics().facts], [1, 1]);
    assert.ok(store.forgottenSinceMs()! > 0, "its bytes may be in the copy");
    await store.close();
  }));

test("lmdb: who opens the folder during a compaction is refused and takes nothing from it", () =>
  withFolder(async (folder) => {
    let second: Promise<unknown> | undefined;
    const store = await openFolder(folder, true, (step) => {
      if (step === "copy: begun") second = openFolder(folder, false).catch((error) => error.message);
    });
    await store.write(write("ada", [[0, "Ada"]]));
    await store.compact();
    assert.match(String(await second), /is in use by process/);
    await store.write(write("bob", [[0, "Bob"]]));
    await store.close();
    const again = await openFolder(folder, false);
    assert.equal(again.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
    assert.equal(again.readFact(viewOf("bob"), "USER.name")?.value, "Bob");
    await again.close();
  }));

test("lmdb: two compactions at once: one is refused, nothing breaks", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    const results = await Promise.allSettled([store.compact(), store.compact()]);
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    assert.deepEqual(refused, ["conflict"]);
    assert.equal(store.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
    await store.close();
  }));

test("lmdb: after a compaction that failed once the new store had its name, writes go where reads and the next start look", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder, true, (step) => {
      if (step === "compaction: moved over") throw new Error("the disk failed");
    });
    await store.write(write("ada", [[0, "Ada"]]));
    await assert.rejects(store.compact(), /the disk failed/);
    await store.write(write("bob", [[0, "Bob"]]));
    assert.equal(store.readFact(viewOf("bob"), "USER.name")?.value, "Bob");
    await store.close();
    const again = await openFolder(folder, false);
    assert.deepEqual(
      ["ada", "bob"].map((user) => again.readFact(viewOf(user), "USER.name")?.value),
      ["Ada", "Bob"],
    );
    await again.close();
  }));

test("lmdb: where the disk fails to sync the new store's name, writes go to the store that the next start opens", (context) =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    const before = readStoreName(folder);
    const { fsyncSync } = fs;
    context.mock.method(fs, "fsyncSync", (descriptor: number) => {
      if (readStoreName(folder) !== before) throw Object.assign(new Error("EIO"), { code: "EIO" });
      fsyncSync(descriptor);
    });
    syncBuiltinESMExports();
    try {
      await assert.rejects(store.compact(), { code: "EIO" });
    } finally {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    }
    await store.write(write("bob", [[0, "Bob"]]));
    await store.close();
    const again = await openFolder(folder, false);
    assert.deepEqual(
      ["ada", "bob"].map((user) => again.readFact(viewOf(user), "USER.name")?.value),
      ["Ada", "Bob"],
    );
    await again.close();
  }));

test("lmdb: after a compaction that failed before the new store had its name, all goes on in the old one", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder, true, (step) => {
      // Where the draft of sideband.json would be written.
      if (step !== "compaction: caught up") return;
      for (const name of readdirSync(folder).filter(
        (entry) => entry.startsWith("store-") && entry !== before,
      ))
        mkdirSync(join(folder, name, "sideband.json"));
    });
    const before = storeIn(folder);
    await store.write(write("ada", [[0, "Ada"]]));
    await assert.rejects(store.compact(), { code: "EISDIR" });
    await store.write(write("bob", [[0, "Bob"]]));
    assert.equal(storeIn(folder), before);
    await store.close();
    const again = await openFolder(folder, false);
    assert.equal(again.readFact(viewOf("bob"), "USER.name")?.value, "Bob");
    await again.close();
  }));

test("lmdb: a copy needs a quarter more than what is in use, and a mebibyte", () =>
  withFolder(async (folder) => {
    const first = await openFolder(folder);
    const facts = Array.from({ length: 200 }, (_, channel): [number, string] => [channel, "v".repeat(4000)]);
    await first.write(write("ada", facts));
    await first.close();
    const environment = new Environment(join(folder, storeIn(folder)));
    const bytesMin = Math.ceil(environment.liveBytes * 1.25) + 2 ** 20;
    await environment.close();
    let freeBytes = bytesMin - 1;
    const store = await LmdbStore.open({
      folder,
      create: false,
      queueMax: 10,
      metrics: new Metrics(),
      monotonic: { now: () => 7_000 },
      freeBytes: () => freeBytes,
    });
    await assert.rejects(store.compact(), { code: "store_unavailable" });
    freeBytes = bytesMin;
    assert.equal((await store.compact()).durationMs, 0);
    await store.close();
  }));

test("lmdb: what belongs to a backup is added before the backup has its name", () =>
  withFolder(async (folder) => {
    const store = await openFolder(join(folder, "data"));
    await store.write(write("ada", [[0, "Ada"]]));
    const named: boolean[] = [];
    const backup = join(folder, "backup");
    await store.backup(backup, () => void named.push(existsSync(join(backup, "sideband.json"))));
    assert.deepEqual([...named, existsSync(join(backup, "sideband.json"))], [false, true]);
    await store.close();
  }));

test("lmdb: a compaction for which the disk has no room is not begun, and is counted", () =>
  withFolder(async (folder) => {
    let freeBytes = Number.POSITIVE_INFINITY;
    const metrics = new Metrics();
    const options = { folder, create: true, queueMax: 1000, metrics, freeBytes: () => freeBytes };
    const store = await LmdbStore.open(options);
    const users = Array.from({ length: 20 }, (_, i) => `user-${i}`);
    const facts = Array.from({ length: 30 }, (_, channel): [number, string] => [channel, "v".repeat(4000)]);
    await Promise.all(users.map((userId) => store.write(write(userId, facts))));
    const names = readdirSync(folder);
    freeBytes = 2 * 2 ** 20;
    await assert.rejects(store.compact(), {
      code: "store_unavailable",
      message: /a copy of the store takes up to \d+\.\d MiB, and its disk has 2\.0 MiB free: make room/,
    });
    assert.deepEqual(readdirSync(folder), names);
    await assert.rejects(store.backup(join(folder, "backup")), { code: "store_unavailable" });
    assert.equal(existsSync(join(folder, "backup", "sideband.json")), false);
    // Most of the file is free pages now: the copy needs little.
    freeBytes = Number.POSITIVE_INFINITY;
    await Promise.all(users.map((userId) => store.forgetUser("acme", userId)));
    freeBytes = 2 * 2 ** 20;
    assert.ok(store.statistics().sizeBytes > freeBytes);
    const { afterBytes } = await store.compact();
    assert.ok(afterBytes < freeBytes);
    const counts = ["ok", "no_room", "failed"].map(
      (outcome) => metrics.render().match(`sideband_compactions_total{outcome="${outcome}"} (\\d+)`)?.[1],
    );
    assert.deepEqual(counts, ["1", "1", "0"]);
    await store.close();
  }));

test("lmdb: a disk without room for lmdb's lock file is refused in one line, also with a store", () =>
  withFolder(async (folder) => {
    const open = (freeBytes: number) =>
      LmdbStore.open({
        folder,
        create: true,
        queueMax: 10,
        metrics: new Metrics(),
        freeBytes: () => freeBytes,
      });
    await assert.rejects(open(2 ** 20 - 1), /its disk has less than 1024 KiB free; make room/);
    await (await open(2 ** 20)).close();
    await assert.rejects(
      open(4096),
      /cannot open a store in .*: its disk has less than 64 KiB free; make room/,
    );
    await (await open(65_536)).close();
  }));

for (const moment of ["copy: begun", "copy: page written", "copy: complete"]) {
  test(`lmdb: a compaction during which the store is closed (${moment}) changes nothing`, () =>
    withFolder(async (folder) => {
      let closing: Promise<void> | undefined;
      let pages = 0;
      const store = await openFolder(folder, true, (step) => {
        if (step === "copy: page written" && closing !== undefined) pages += 1;
        if (step === moment) closing ??= store.close();
      });
      await store.write(write("ada", [[0, "Ada"]]));
      const before = storeIn(folder);
      await assert.rejects(store.compact(), { code: "store_unavailable" });
      await closing;
      assert.equal(pages, 0, "no page is written after the end was asked for");
      assert.equal(storeIn(folder), before);
      const again = await openFolder(folder, false);
      assert.equal(again.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
      await again.close();
    }));
}
