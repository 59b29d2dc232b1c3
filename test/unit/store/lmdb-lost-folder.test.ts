/**
 * A store whose folder is taken from under it: swapped for a copy, renamed, its lock or its name file replaced. Whatever
 * is due then (compaction, backup, sweep, a write, the end), the folder that has that name now stays as it is.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { type AtStep, noStep, type Step } from "../../../src/base/steps.ts";
import { Door } from "../../../src/http/access/door.ts";
import { nameStore } from "../../../src/store/lmdb/data-folder.ts";
import type { FolderLock } from "../../../src/store/lmdb/folder-lock.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { write } from "../../conformance/store-under-test.ts";
import { viewOf } from "../../fixtures/views.ts";
import { openFolder, withFolder } from "./lmdb-folder.ts";

/** Each takes `data` away from its owner; `home` is the folder around it. */
const TAKINGS: Record<string, (data: string, home: string) => void> = {
  "swapped for a copy": (data, home) => {
    renameSync(data, join(home, "aside"));
    cpSync(join(home, "aside"), data, { recursive: true, preserveTimestamps: true });
  },
  "renamed, with an empty one in its place": (data, home) => {
    renameSync(data, join(home, "aside"));
    mkdirSync(data);
  },
  "without its lock file": (data) => rmSync(join(data, "owner.lock")),
  "with another lock file": (data) => {
    writeFileSync(join(data, "lock.new"), "");
    renameSync(join(data, "lock.new"), join(data, "owner.lock"));
  },
};

/** What a store has to do at some time or other. */
const WORK: Record<string, (store: LmdbStore, home: string) => unknown> = {
  compaction: (store) => store.compact(),
  backup: (store, home) => store.backup(join(home, "backup")),
  sweep: (store) => store.sweep(Date.now()),
  write: (store) => store.write(write("ada", [[0, "lost"]])),
  read: (store) => store.readFact(viewOf("ada"), "USER.name"),
  note: (store) => store.noteOwner("http://elsewhere"),
};

/** All names below a folder, and what the small files say. */
function stateOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => (/\.json$/.test(name) ? `${name}: ${readFileSync(join(folder, name), "utf8")}` : name))
    .sort();
}

async function openWatched(folder: string, atStep: AtStep = noStep) {
  const lines: string[] = [];
  const metrics = new Metrics();
  const onLost = (line: string) => void lines.push(line);
  const store = await LmdbStore.open({ folder, create: true, queueMax: 100, metrics, onLost, atStep });
  return { store, lines };
}

for (const [taking, take] of Object.entries(TAKINGS)) {
  test(`lmdb: a folder ${taking}: the new owner's is left alone, and the old one stops for good`, () =>
    withFolder(async (home) => {
      const data = join(home, "data");
      const { store, lines } = await openWatched(data);
      await store.write(write("ada", [[0, "Ada"]]));
      await store.forgetUser("acme", "nobody");
      take(data, home);
      const next = await openFolder(data);
      await next.write(write("bob", [[0, "acknowledged"]]));
      const before = stateOf(data);
      for (const [what, work] of Object.entries(WORK)) {
        await assert.rejects(async () => work(store, home), { code: "store_unavailable" }, what);
        assert.deepEqual(stateOf(data), before, what);
      }
      await store.close();
      assert.deepEqual(stateOf(data), before, "the end");
      assert.equal(lines.length, 1);
      assert.match(lines[0], /is no longer this process's: .* was moved, removed or replaced/);
      assert.ok(!existsSync(join(home, "backup")));
      await next.compact();
      await next.close();
      const again = await openFolder(data, false);
      assert.equal(again.readFact(viewOf("bob"), "USER.name")?.value, "acknowledged");
      await again.close();
    }));
}

const MOMENTS: Step[] = ["copy: page written", "compaction: caught up", "compaction: moved over"];

for (const taking of ["swapped for a copy", "with another lock file"]) {
  for (const moment of MOMENTS) {
    test(`lmdb: a folder ${taking} during a compaction (${moment}): no name changes and no store goes`, () =>
      withFolder(async (home) => {
        const data = join(home, "data");
        let before: string[] | undefined;
        const { store } = await openWatched(data, (step) => {
          if (step !== moment || before !== undefined) return;
          TAKINGS[taking](data, home);
          before = stateOf(data);
        });
        await store.write(write("ada", [[0, "Ada"]]));
        await store.compact().catch(() => {});
        await store.close();
        assert.deepEqual(stateOf(data), before);
        const next = await openFolder(data);
        assert.equal(next.readFact(viewOf("ada"), "USER.name")?.value, "Ada");
        await next.close();
      }));
  }
}

for (const moment of ["copy: complete", "backup: master key copied"] as const) {
  test(`lmdb: a folder that is swapped during its backup (${moment}) gives no backup`, () =>
    withFolder(async (home) => {
      const data = join(home, "data");
      const { store } = await openWatched(data, (step) => {
        if (step === moment) TAKINGS["swapped for a copy"](data, home);
      });
      await store.write(write("ada", [[0, "Ada"]]));
      await assert.rejects(store.backup(join(home, "backup")), { code: "store_unavailable" });
      await store.close();
      assert.ok(!existsSync(join(home, "backup", "sideband.json")));
    }));
}

test("lmdb: a write is not acknowledged if the folder was swapped while the disk took it", () =>
  withFolder(async (home) => {
    const data = join(home, "data");
    let armed = false;
    const { store, lines } = await openWatched(data, (step) => {
      if (armed && step === "group: sent") TAKINGS["swapped for a copy"](data, home);
    });
    await store.write(write("ada", [[0, "Ada"]]));
    armed = true;
    await assert.rejects(store.write(write("bob", [[0, "Bob"]])), { code: "outcome_unknown" });
    assert.equal(lines.length, 1);
    await store.close();
  }));

test("lmdb: where another folder is copied over it, sideband.json names another store: its owner stops", () =>
  withFolder(async (home) => {
    const data = join(home, "data");
    const other = await openFolder(join(home, "other"));
    await other.write(write("eve", [[0, "Eve"]]));
    await other.close();
    const { store, lines } = await openWatched(data);
    await store.write(write("ada", [[0, "Ada"]]));
    for (const name of readdirSync(join(home, "other")).filter((name) => name !== "owner.lock"))
      cpSync(join(home, "other", name), join(data, name), { recursive: true });
    const before = stateOf(data);
    for (const [what, work] of Object.entries(WORK))
      await assert.rejects(async () => work(store, home), { code: "store_unavailable" }, what);
    await store.close();
    assert.deepEqual(stateOf(data), before);
    assert.match(lines[0], /sideband\.json was moved, removed or replaced/);
  }));

test("lmdb: a link to the data folder that is led elsewhere: the other folder is left alone", () =>
  withFolder(async (home) => {
    const link = join(home, "link");
    for (const name of ["one", "two"]) mkdirSync(join(home, name));
    symlinkSync(join(home, "one"), link);
    const { store, lines } = await openWatched(link);
    await store.write(write("ada", [[0, "Ada"]]));
    rmSync(link);
    symlinkSync(join(home, "two"), link);
    const next = await openFolder(link);
    const before = stateOf(join(home, "two"));
    await assert.rejects(store.compact(), { code: "store_unavailable" });
    await store.close();
    assert.equal(lines.length, 1);
    assert.deepEqual(stateOf(join(home, "two")), before);
    await next.close();
  }));

test("lmdb: a folder that comes back is still lost", () =>
  withFolder(async (home) => {
    const data = join(home, "data");
    const { store, lines } = await openWatched(data);
    renameSync(data, join(home, "aside"));
    await assert.rejects(store.probe(), { code: "store_unavailable" });
    renameSync(join(home, "aside"), data);
    await assert.rejects(store.probe(), { code: "store_unavailable" });
    await assert.rejects(store.compact(), { code: "store_unavailable" });
    assert.equal(lines.length, 1);
    await store.close();
  }));

test("lmdb: of a store that the next owner has removed there is nothing to name", () =>
  withFolder(async (folder) => {
    const store = join(folder, "store-00000000deadbeef");
    mkdirSync(store);
    // The next owner comes between the last look and the renaming: it removes unnamed stores before anything else.
    let looks = 0;
    const requireHeld = () => {
      looks += 1;
      if (looks === 2) rmSync(store, { recursive: true });
    };
    const lock = { folder, requireHeld, keep: () => {} } as unknown as FolderLock;
    assert.throws(() => nameStore(lock, "store-00000000deadbeef", 1), { code: "ENOENT" });
    assert.equal(looks, 2);
    assert.ok(!existsSync(join(folder, "sideband.json")));
  }));

test("the door of a lost folder leaves the next owner's socket in place when it is closed", () =>
  withFolder(async (folder) => {
    const path = join(folder, "door.sock");
    let isOwner = true;
    const door = new Door();
    await door.open(
      () => {},
      path,
      () => isOwner,
    );
    assert.deepEqual(readdirSync(folder), ["door.sock"]);
    isOwner = false;
    rmSync(path);
    const next = createServer().listen(path);
    await once(next, "listening");
    await door.close(0);
    assert.ok(existsSync(path));
    next.close();
    await once(next, "close");
  }));
