/** Periodic work, a start that fails half-way, and what a restore does not touch. */

import assert from "node:assert/strict";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pino } from "pino";
import { freePort } from "../../../bench/store/free-port.ts";
import { systemClock, trusted } from "../../../src/base/clock.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { readConfig } from "../../../src/config.ts";
import { restoreBackup } from "../../../src/main/backup.ts";
import type { Core } from "../../../src/main/core.ts";
import { type Service, startService } from "../../../src/main/service.ts";
import { startUpkeep } from "../../../src/main/upkeep.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { write } from "../../conformance/store-under-test.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

const NOBODY = 65_534;

test("the bytes of what was forgotten leave the disk after the time of the setting, and not before", async (context) => {
  const data = temporaryFolder(context);
  context.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.UTC(2026, 10, 15) });
  const config = readConfig(
    {},
    { SIDEBAND_DATA: data, SIDEBAND_COMPACT_AFTER_S: "60", SIDEBAND_LOG_LEVEL: "silent" },
  );
  let whenRemoved = () => {};
  const removed = new Promise<void>((resolve) => {
    whenRemoved = resolve;
  });
  const { core, close } = await startService(config, {
    tcp: false,
    warm: false,
    atStep: (step) => {
      if (step === "compaction: old store removed") whenRemoved();
    },
  });
  try {
    const store = core.embedded!;
    const stores = () => readdirSync(data).filter((name) => name.startsWith("store-"));
    const before = stores();
    await store.write(write("ada", [[0, "Ada"]]));
    await store.forgetUser("acme", "ada");
    /** Lets the clock's round begin: a compaction comes behind the sweep of the same round. */
    const pass = async (ms: number) => {
      context.mock.timers.tick(ms);
      await store.probe();
      await new Promise(setImmediate);
    };
    await pass(59_999);
    assert.deepEqual(stores(), before);
    await pass(1);
    assert.notDeepEqual(stores(), before, "a compaction has begun");
    await removed;
    assert.ok(!stores().includes(before[0]), "the old files are gone");
    assert.equal(store.forgottenSinceMs(), undefined);
  } finally {
    await close();
  }
});

test("a clock that is wrong at the start ends no fact and forgets no request, unless it stays so for an hour", async (context) => {
  const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
  const data = temporaryFolder(context);
  const startMs = Date.UTC(2026, 10, 15);
  context.mock.timers.enable({ apis: ["setInterval", "Date"], now: startMs });
  const config = readConfig({}, { SIDEBAND_DATA: data, SIDEBAND_LOG_LEVEL: "warn" });
  const lines: string[] = [];
  const logTo = { write: (line: string) => void lines.push(line) };
  const start = () => startService(config, { tcp: false, warm: false, logTo });
  const facts = ({ core }: Service) => core.embedded!.statistics().facts;
  /** A round of upkeep: the four steps of its sweep are done when the writes beside them are. */
  const pass = async ({ core }: Service, ms: number) => {
    context.mock.timers.tick(ms);
    for (let i = 0; i < 4; i++) await core.embedded!.probe();
  };
  let service = await start();
  const expiresAtMs = startMs + 10 * DAY_MS;
  const idempotency = { keyId: "k", key: "once", fingerprint: Buffer.alloc(32), expiresAtMs };
  const changes = [{ place: "", label: "USER.name", value: "Ada", expiresAtMs }];
  const request = { ...write("ada", [], { changes, nowMs: startMs }), idempotency };
  await service.core.store.write(request);
  await pass(service, 30_000);
  await service.close();

  context.mock.timers.setTime(startMs + 14 * DAY_MS);
  service = await start();
  await pass(service, 30_000);
  await pass(service, HOUR_MS / 2);
  assert.equal(facts(service), 1);
  assert.equal(
    lines.filter((line) => line.includes("the clock has jumped to 2026-11-29T00:00:00")).length,
    1,
  );
  await service.close();
  // It is set right: nothing is lost, and the jump is forgotten.
  context.mock.timers.setTime(startMs + DAY_MS / 2);
  service = await start();
  const { memory } = service.core;
  assert.equal(
    (await memory.store.readFact({ ...request, nowMs: memory.clock.now() }, "USER.name"))?.value,
    "Ada",
  );
  await pass(service, 30_000);
  assert.equal((await memory.store.write({ ...request, nowMs: memory.clock.now() })).outcome, "replayed");
  await service.close();
  // Days without a service look the same. They are believed after an hour, over starts.
  context.mock.timers.setTime(startMs + 14 * DAY_MS);
  service = await start();
  await pass(service, 30_000);
  await pass(service, HOUR_MS - 90_000);
  await service.close();
  service = await start();
  await pass(service, 30_000);
  assert.equal(facts(service), 1);
  await pass(service, 60_000);
  assert.equal(facts(service), 0);
  // Requests are forgotten by the next sweep.
  await pass(service, 30_000);
  assert.equal((await service.core.store.write({ ...request, nowMs: startMs })).outcome, "stored");
  await service.close();
  // Going back is not believed either: the time stands still meanwhile.
  context.mock.timers.setTime(startMs);
  service = await start();
  assert.ok(service.core.clock.now() >= startMs + 14 * DAY_MS);
  await service.close();
});

/** Rounds of upkeep under mocked timers, with a store whose compactions are counted. */
function rounds(context: TestContext, forgottenSinceMs: number, compact: () => Promise<unknown>) {
  context.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.UTC(2026, 10, 15) });
  let count = 0;
  const embedded = {
    forgottenSinceMs: () => forgottenSinceMs,
    compact: () => {
      count += 1;
      return compact();
    },
  };
  const store = { sweep: async () => {}, touchKeys: async () => {} };
  const authentication = { takeUses: () => new Map() };
  const clock = trusted(systemClock);
  const ends = { start: () => () => {} };
  const core = { embedded, store, authentication, ends, clock, memory: { clock } };
  context.after(startUpkeep(core as unknown as Core, readConfig({}, {}), pino({ level: "silent" })));
  return async (number: number) => {
    for (let i = 0; i < number; i++) {
      context.mock.timers.tick(30_000);
      await new Promise(setImmediate);
    }
    return count;
  };
}

test("a compaction is due also if a wrong clock has noted the forgetting in the future", async (context) => {
  const pass = rounds(context, Date.UTC(2027, 11, 20), async () => {});
  assert.equal(await pass(1), 1);
});

test("a compaction that fails is tried again less and less often, one that succeeds in each round", async (context) => {
  let works = false;
  const pass = rounds(context, 0, async () => {
    if (!works) throw new Error("the disk is full");
  });
  assert.equal(await pass(11), 4, "in rounds 1, 3, 6 and 11");
  assert.equal(await pass(8), 4);
  assert.equal(await pass(2_000), 22, "in the end in every 129th round");
  works = true;
  const before = await pass(129);
  assert.equal(await pass(10), before + 10);
});

test("a folder that somebody has open is not restored from", async (context) => {
  const folder = temporaryFolder(context);
  const open = { folder: join(folder, "open"), create: true, queueMax: 10, metrics: new Metrics() };
  const store = await LmdbStore.open(open);
  await store.write(write("ada", [[0, "Ada"]]));
  assert.throws(() => restoreBackup(join(folder, "open"), join(folder, "new")), /is in use by process/);
  await store.close();
  restoreBackup(join(folder, "open"), join(folder, "new"));
});

test("a service that cannot open its door gives its port and its folder back", async (context) => {
  const data = temporaryFolder(context);
  const port = await freePort();
  const config = readConfig(
    {},
    { SIDEBAND_DATA: data, SIDEBAND_PORT: String(port), SIDEBAND_LOG_LEVEL: "silent" },
  );
  const doorPath = join(data, "no such folder", "door.sock");
  await assert.rejects(startService(config, { warm: false, doorPath }), { code: "EACCES" });
  const { close } = await startService(config, { warm: false });
  await close();
});

async function newBackup(folder: string): Promise<string> {
  const backup = join(folder, "backup");
  const store = await LmdbStore.open({ folder: backup, create: true, queueMax: 10, metrics: new Metrics() });
  await store.close();
  rmSync(join(backup, "owner.lock"));
  return backup;
}

test("where the lock of a backup fails, nothing is restored", async (context) => {
  const folder = temporaryFolder(context);
  const backup = await newBackup(folder);
  mkdirSync(join(backup, "owner.lock"));
  assert.throws(() => restoreBackup(backup, join(folder, "new")), /cannot lock .*EISDIR/);
  assert.deepEqual(readdirSync(join(folder, "new")), ["owner.lock"]);
});

test("a backup that cannot be written to needs no lock", async (context) => {
  const folder = temporaryFolder(context);
  const backup = await newBackup(folder);
  chmodSync(backup, 0o500);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) {
    // Root may write everywhere.
    for (const path of [
      folder,
      backup,
      ...readdirSync(backup, { recursive: true, encoding: "utf8" }).map((name) => join(backup, name)),
    ])
      chownSync(path, NOBODY, NOBODY);
    process.seteuid?.(NOBODY);
  }
  try {
    restoreBackup(backup, join(folder, "new"));
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(backup, 0o700);
  }
  assert.ok(!existsSync(join(backup, "owner.lock")));
});
