/** The data folder and its files: who holds it, what its names stand for, and what of its records can be trusted. */

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Failure } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { freeBytesOf, nameStore, removeStore } from "../../../src/store/lmdb/data-folder.ts";
import { copyFile, makeFolder, removeFolder } from "../../../src/store/lmdb/durable-files.ts";
import { type Change, CommitError, Environment } from "../../../src/store/lmdb/environment.ts";
import { LOCK_FILE, takeFolderLock, tryFolderLock } from "../../../src/store/lmdb/folder-lock.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { write } from "../../conformance/store-under-test.ts";
import { storeIn, take } from "../../fixtures/behind-the-store.ts";
import { viewOf } from "../../fixtures/views.ts";
import { openFolder, withFolder } from "./lmdb-folder.ts";

const STORE = "store-0123456789abcdef";

test("lmdb: a read that comes while the store is being closed is refused, and nothing is thrown later", () =>
  withFolder(async (folder) => {
    const environment = new Environment(folder);
    const [key, value] = [Buffer.from("a"), Buffer.from("1")];
    const committed = environment.commit([{ table: "meta", key, value }]);
    const closing = environment.close();
    for (const read of ["get", "peek", "has"] as const)
      assert.throws(() => environment[read]("meta", key), { code: "store_unavailable" });
    await Promise.all([committed, closing]);
    await pause(20);
  }));

test("lmdb: who waits for a folder gets it when its owner ends, and not before", () =>
  withFolder(async (folder) => {
    const owner = await openFolder(folder);
    const started = performance.now();
    assert.equal(await takeFolderLock(folder, 60), undefined);
    assert.ok(performance.now() - started >= 60);
    const waiting = takeFolderLock(folder, 20_000);
    await owner.close();
    const lock = await waiting;
    assert.equal(lock?.isHeld(), true);
    lock?.release();
    assert.equal(lock?.isHeld(), false);
    assert.equal((await takeFolderLock(folder, 20_000))?.release(), undefined);
  }));

test("lmdb: shared locks exclude an owner, but not one another", () =>
  withFolder(async (folder) => {
    const shared = [tryFolderLock(folder, LOCK_FILE, true), tryFolderLock(folder, LOCK_FILE, true)];
    assert.ok(shared.every((lock) => lock !== undefined));
    assert.equal(tryFolderLock(folder), undefined);
    for (const lock of shared) lock?.release();
    const owner = tryFolderLock(folder);
    assert.ok(owner !== undefined);
    assert.equal(tryFolderLock(folder, LOCK_FILE, true), undefined);
    owner.release();
  }));

test("lmdb: who finds a folder in use is told by whom, as far as that is known", () =>
  withFolder(async (folder) => {
    const owner = await openFolder(folder);
    const told = () =>
      openFolder(folder).then(
        () => assert.fail("it is in use"),
        (error: Error) => error.message.split(" is in use ")[1],
      );
    assert.equal(await told(), `by process ${process.pid}`);
    owner.noteOwner("127.0.0.1:7070");
    assert.equal(await told(), `by process ${process.pid}, which answers at 127.0.0.1:7070`);
    owner.noteOwner(null);
    assert.equal(await told(), `by process ${process.pid}`);
    writeFileSync(join(folder, "owner.json"), "{");
    assert.equal(await told(), "by another process");
    await assert.rejects(owner.backup(folder), { code: "conflict" });
    await owner.close();
  }));

test("lmdb: a folder that is lost is lost for good, and its holder is told once what was moved", () =>
  withFolder(async (folder) => {
    const data = join(folder, "data");
    mkdirSync(data);
    const lines: string[] = [];
    const lock = tryFolderLock(data)!;
    lock.watch((line) => lines.push(line));
    assert.equal(lock.isHeld(), true);
    renameSync(data, `${data}-aside`);
    assert.deepEqual([lock.isHeld(), lock.isHeld()], [false, false]);
    renameSync(`${data}-aside`, data);
    assert.equal(lock.isHeld(), false);
    lock.giveUp("another reason");
    assert.equal(lines.length, 1);
    assert.match(lines[0], /no longer this process's: it was moved/);
    lock.release();
    const other = tryFolderLock(data)!;
    other.keep("nothing-there");
    assert.equal(other.isHeld(), false, "what was not there cannot stay as it is");
    other.release();
    assert.throws(() => other.requireHeld(), { code: "store_unavailable" });
  }));

test("lmdb: an owner whose sideband.json is replaced writes nothing more", () =>
  withFolder(async (folder) => {
    await (await openFolder(folder)).close();
    const store = await openFolder(folder, false);
    store.requireOwner();
    writeFileSync(join(folder, "sideband.json"), `{"format":1,"store":"${STORE}"}`);
    await assert.rejects(store.write(write("ada", [[0, "Ada"]])), { code: "store_unavailable" });
    assert.throws(() => store.requireOwner(), { code: "store_unavailable" });
    await store.close();
  }));

test("lmdb: each fault of sideband.json has its own sentence", () =>
  withFolder(async (folder) => {
    for (const [text, says] of [
      ["{", /sideband\.json cannot be read: .*JSON/],
      ["1", /sideband\.json does not name a store/],
      ["null", /sideband\.json does not name a store/],
      ['{"format":"9"}', /sideband\.json names no data format/],
      [`{"format":1,"store":["${STORE}"]}`, /sideband\.json does not name a store/],
      ['{"format":1}', /sideband\.json does not name a store/],
    ] as const) {
      writeFileSync(join(folder, "sideband.json"), text);
      await assert.rejects(openFolder(folder), says, text);
    }
  }));

test("lmdb: without sideband.json only a store that never held anything is removed", () =>
  withFolder(async (folder) => {
    const store = join(folder, STORE);
    const leftBy = async (make: () => unknown) => {
      rmSync(folder, { recursive: true });
      mkdirSync(store, { recursive: true });
      await make();
      const opened = await openFolder(folder).catch((error: Error) => error.message);
      if (opened instanceof LmdbStore) await opened.close();
      return typeof opened === "string" ? /no sideband\.json names it/.test(opened) : existsSync(store);
    };
    const data = join(store, "data.mdb");
    const filled = async (changes: readonly Change[]) => {
      const environment = new Environment(store);
      await environment.commit(changes);
      await environment.close();
    };
    assert.equal(await leftBy(() => {}), false, "an empty folder");
    assert.equal(
      await leftBy(() => writeFileSync(data, Buffer.alloc(8_192))),
      false,
      "a file without an entry",
    );
    assert.equal(await leftBy(() => filled([])), false, "a new store");
    assert.equal(await leftBy(() => writeFileSync(data, Buffer.alloc(8_193))), true, "no file of lmdb");
    assert.equal(await leftBy(() => writeFileSync(`${data}.new`, "")), true, "an interrupted restore");
    const entry = { table: "labels", key: Buffer.from("acme"), value: Buffer.from("x") } as const;
    assert.equal(await leftBy(() => filled([entry])), true, "a store with an entry");
  }));

test("lmdb: a store whose first pages are damaged is not opened, though its file is as long as ever", () =>
  withFolder(async (folder) => {
    await (await openFolder(folder)).close();
    const file = join(folder, storeIn(folder), "data.mdb");
    writeSync(openSync(file, "r+"), Buffer.alloc(8_192));
    await assert.rejects(openFolder(folder), /is damaged: nothing was changed/);
  }));

test("lmdb: the store in use is not removed, and one in a folder that was lost neither", () =>
  withFolder(async (folder) => {
    await (await openFolder(folder)).close();
    const lock = tryFolderLock(folder)!;
    assert.throws(() => removeStore(lock, storeIn(folder)), /is in use and is not removed/);
    mkdirSync(join(folder, STORE));
    lock.giveUp("lost");
    assert.throws(() => removeStore(lock, STORE), { code: "store_unavailable" });
    assert.throws(() => nameStore(lock, STORE, 1), { code: "store_unavailable" });
    assert.deepEqual(readdirSync(join(folder, STORE)), []);
    lock.release();
  }));

test("lmdb: the length of a data file is noted when it is opened and closed, by its owner alone", () =>
  withFolder(async (folder) => {
    const note = join(folder, "size");
    const file = join(folder, "data.mdb");
    const noted = () => Number(readFileSync(note, "utf8"));
    const grow = async (environment: Environment, name: string) => {
      const value = Buffer.alloc(100_000, 1);
      await environment.commit([{ table: "meta", key: Buffer.from(name), value }]);
    };
    const first = new Environment(folder);
    await grow(first, "a");
    await first.close();
    assert.equal(noted(), statSync(file).size);
    writeFileSync(note, "8192\n");
    const second = new Environment(folder);
    assert.equal(noted(), statSync(file).size);
    assert.equal(second.isInPlace, true);
    const before = noted();
    await grow(second, "b");
    await second.close(false);
    assert.equal(noted(), before);
    const third = new Environment(folder);
    const last = noted();
    await grow(third, "c");
    renameSync(file, `${file}.aside`);
    assert.equal(third.isInPlace, false);
    writeFileSync(file, Buffer.alloc(last + 8_192));
    assert.equal(third.isInPlace, false);
    await third.close();
    assert.equal(noted(), last);
  }));

test("lmdb: a record that is too short for its checksum is damage, and the log is told which record it is", () =>
  withFolder(async (folder) => {
    let damages = 0;
    const environment = new Environment(folder, () => {
      damages += 1;
    });
    await environment.copy([{ table: "meta", key: Buffer.from("short"), value: Buffer.from("abc") }]);
    assert.throws(
      () => environment.get("meta", Buffer.from("short")),
      ({ code, extra }: Failure) =>
        code === "store_corrupt" && /record of "short" in table meta/.test(String(extra.cause)),
    );
    assert.equal(damages, 1);
    await environment.close();
  }));

test("lmdb: a commit that fails before anything is written says so, with its cause, and the store works on", () =>
  withFolder(async (folder) => {
    const environment = new Environment(folder);
    const key = Buffer.from("key");
    await assert.rejects(
      environment.copy(
        (function* (): Generator<Change> {
          throw new Error("no more records");
          // biome-ignore lint/correctness/noUnreachable: a generator has a yield.
          yield { table: "meta", key, value: key };
        })(),
      ),
      (error) =>
        error instanceof CommitError &&
        error.nothingStored &&
        (error.cause as Error).message === "no more records",
    );
    await environment.commit([{ table: "meta", key, value: key }]);
    assert.deepEqual(environment.get("meta", key), key);
    await environment.close();
  }));

test("lmdb: facts at a place of a user whose record is missing are damage, and can be forgotten", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    const places = ["", "loom"];
    for (const value of ["a", "b"])
      await store.write(write("ada", [], { changes: [{ place: "loom", label: "USER.project", value }] }));
    await store.close();
    await take(folder, "facts", "acme\0ada");
    const again = await openFolder(folder);
    assert.throws(
      () => again.readUser(viewOf("ada", "acme", { places })),
      ({ code, extra }: Failure) =>
        code === "store_corrupt" && /records of user "ada" of acme/.test(String(extra.cause)),
    );
    assert.ok(await again.forgetUser("acme", "ada"));
    assert.equal(again.readUser(viewOf("ada", "acme", { places })), undefined);
    await again.close();
  }));

test("lmdb: damage is found beyond the first page of records", () =>
  withFolder(async (folder) => {
    const store = await openFolder(folder);
    const users = Array.from({ length: 300 }, (_, i) => `user-${String(i).padStart(3, "0")}`);
    await Promise.all(users.map((userId) => store.write(write(userId, [[0, "x"]]))));
    await store.close();
    const environment = new Environment(join(folder, storeIn(folder)));
    const short = Buffer.from("x");
    const keys = ["acme\0user-000", "acme\0user-255", "acme\0user-299\0\0USER.name"];
    await environment.copy(keys.map((key) => ({ table: "facts", key: Buffer.from(key), value: short })));
    await environment.close();
    const again = await openFolder(folder);
    const found: string[] = [];
    for await (const record of again.findDamage()) found.push(record);
    assert.deepEqual(
      found,
      keys.map((key) => `facts ${JSON.stringify(key)}`),
    );
    await again.close();
  }));

test("lmdb: a store that cannot be opened lets its folder go, and a disk that is full or has just failed is not ready", () =>
  withFolder(async (folder) => {
    let freeBytes = Number.POSITIVE_INFINITY;
    let nowMs = 0;
    const options = { folder, create: true, queueMax: 10, metrics: new Metrics() };
    await assert.rejects(LmdbStore.open({ ...options, historyMax: 33 }), { name: "AssertionError" });
    const monotonic = { now: () => nowMs };
    const store = await LmdbStore.open({ ...options, monotonic, freeBytes: () => freeBytes });
    await store.probe();
    freeBytes = 2 ** 18;
    await assert.rejects(store.probe(), { code: "store_unavailable" });
    await assert.rejects(store.sweep(0), { code: "store_unavailable" });
    await new Promise(setImmediate);
    freeBytes = Number.POSITIVE_INFINITY;
    await assert.rejects(store.probe(), { code: "store_unavailable" }, "a failure of moments ago counts");
    nowMs = 5_000;
    await store.probe();
    await store.close();
  }));

test("lmdb: a folder that cannot be written to is refused with its name", () =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, "owner.json.new"));
    await assert.rejects(openFolder(folder), new RegExp(`cannot write to the data folder ${folder}: `));
  }));

test("durable files: a copy is whole or not there, folders are made with those above them, and removed if there", () =>
  withFolder(async (folder) => {
    const path = (name: string) => join(folder, name);
    writeFileSync(path("from"), "content", { mode: 0o644 });
    writeFileSync(path("to"), "old");
    copyFile(path("from"), path("to"));
    assert.equal(readFileSync(path("to"), "utf8"), "content");
    assert.equal(statSync(path("to")).mode & 0o777, 0o600);
    mkdirSync(path("a-folder"));
    assert.throws(() => copyFile(path("from"), path("a-folder")));
    assert.throws(() => copyFile(path("missing"), path("to")));
    makeFolder(path("a/b/c"));
    makeFolder(path("a/b/c"));
    assert.equal(statSync(path("a/b/c")).mode & 0o777, 0o700);
    assert.throws(() => makeFolder(path("from/below")), { code: "ENOTDIR" });
    removeFolder(path("a"));
    removeFolder(path("a"));
    assert.deepEqual(readdirSync(folder).sort(), ["a-folder", "from", "to"]);
  }));

test("durable files: a disk that does not know its size has room", () => {
  assert.ok(Number.isFinite(freeBytesOf(".")));
  if (existsSync("/proc/self")) assert.equal(freeBytesOf("/proc"), Number.POSITIVE_INFINITY);
});
