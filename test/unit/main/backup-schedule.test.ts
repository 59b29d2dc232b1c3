/** Backups by a schedule, and that a restored backup forgets again whom the service had erased since. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readConfig } from "../../../src/config.ts";
import { backupSchedule } from "../../../src/main/backup-schedule.ts";
import { startService } from "../../../src/main/service.ts";
import { write } from "../../conformance/store-under-test.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";
import { viewOf } from "../../fixtures/views.ts";
import { run } from "../cli/run-command.ts";

const HOUR_MS = 3_600_000;

async function setUp(context: TestContext, settings: Record<string, string> = {}) {
  const folder = temporaryFolder(context);
  const backups = join(folder, "backups");
  const time = { nowMs: Date.parse("2026-11-18T20:00:00Z") };
  const configOf = (data: string) =>
    readConfig(
      {},
      {
        SIDEBAND_DATA: join(folder, data),
        SIDEBAND_BACKUP_DIR: backups,
        SIDEBAND_LOG_LEVEL: "silent",
        ...settings,
      },
    );
  const lines: string[] = [];
  const start = async (data: string) => {
    const service = await startService(configOf(data), {
      tcp: false,
      warm: false,
      clock: { now: () => time.nowMs },
      logTo: { write: (line) => void lines.push(line) },
    });
    let isClosed = false;
    const close = async () => {
      if (!isClosed) await service.close();
      isClosed = true;
    };
    context.after(close);
    return { ...service, close };
  };
  const { core, close } = await start("data");
  const schedule = backupSchedule(core, configOf("data"), { info: () => {} })!;
  return { folder, backups, time, core, close, start, schedule, names: () => readdirSync(backups).sort() };
}

test("a backup is made when the last is older than the setting, and the oldest go when a new one is whole", async (context) => {
  const { backups, time, core, schedule, names } = await setUp(context, {
    SIDEBAND_BACKUP_EVERY_H: "6",
    SIDEBAND_BACKUP_KEEP: "2",
  });
  const figure = (name: string, labels = "") => core.metrics.value(name, labels);
  assert.equal(figure("sideband_backup_last_seconds"), 0);
  await schedule.run();
  assert.deepEqual(names(), ["2026-11-18T20-00-00Z"]);
  time.nowMs += 6 * HOUR_MS - 1;
  await schedule.run();
  assert.equal(names().length, 1, "it is not due yet");
  // What an interrupted backup leaves, and what is no backup of ours.
  for (const name of ["2026-11-18T21-00-00Z", "mine"]) mkdirSync(join(backups, name));
  time.nowMs += 1;
  await schedule.run();
  assert.deepEqual(names(), ["2026-11-18T20-00-00Z", "2026-11-19T02-00-00Z", "mine"]);
  time.nowMs += 6 * HOUR_MS;
  await schedule.run();
  assert.deepEqual(names(), ["2026-11-19T02-00-00Z", "2026-11-19T08-00-00Z", "mine"]);
  assert.equal(figure("sideband_backup_last_seconds"), time.nowMs / 1000);
  assert.equal(figure("sideband_backups_total", 'outcome="ok"'), 3);
  assert.ok(existsSync(join(backups, names()[1], "master.key")));
  assert.ok(!existsSync(join(backups, names()[1], "admin.token")));
});

test("backups with a moment in the future, of a wrong clock, count as the oldest", async (context) => {
  const { backups, time, schedule, names } = await setUp(context, { SIDEBAND_BACKUP_KEEP: "2" });
  const future = ["2027-09-14T20-00-00Z", "2027-09-15T20-00-00Z"];
  for (const name of future) {
    mkdirSync(join(backups, name), { recursive: true });
    writeFileSync(join(backups, name, "sideband.json"), "");
  }
  await schedule.run();
  assert.deepEqual(names(), ["2026-11-18T20-00-00Z", future[1]]);
  time.nowMs += 24 * HOUR_MS - 1;
  await schedule.run();
  assert.deepEqual(names(), ["2026-11-18T20-00-00Z", future[1]], "it is not due yet");
  time.nowMs += 1;
  await schedule.run();
  assert.deepEqual(names(), ["2026-11-18T20-00-00Z", "2026-11-19T20-00-00Z"]);
});

test("a backup that fails removes none, is counted, and is told to who runs it", async (context) => {
  const { backups, time, core, schedule, names } = await setUp(context, { SIDEBAND_BACKUP_KEEP: "1" });
  await schedule.run();
  time.nowMs += 24 * HOUR_MS;
  writeFileSync(join(backups, "2026-11-19T20-00-00Z"), "in the way");
  context.mock.method(core.embedded!, "backup", () => Promise.reject(new Error("no space left on device")));
  await assert.rejects(schedule.run(), /no space left/);
  assert.deepEqual(names(), ["2026-11-18T20-00-00Z"]);
  assert.equal(core.metrics.value("sideband_backups_total", 'outcome="failed"'), 1);
});

test("a restored backup forgets again, before it answers, who was erased since, and not who came back before it", async (context) => {
  const { folder, backups, time, core, close, start, schedule, names } = await setUp(context);
  const { store } = core;
  for (const user of ["ada", "bob", "eve"]) await store.write(write(user, [[0, user]]));
  await store.forgetUser("acme", "bob");
  time.nowMs += 1000;
  await store.write(write("bob", [[0, "Bob is back"]]));
  await schedule.run();
  time.nowMs += 1000;
  await store.forgetUser("acme", "ada");
  const list = readFileSync(join(backups, "erasures.list"), "utf8");
  assert.equal(list.split("\n").filter(Boolean).length, 2);
  assert.doesNotMatch(list, /ada|bob|acme/);
  await close();
  const data = join(folder, "restored");
  const restored = await run("backup", "restore", join(backups, names()[0]), "--data", data);
  assert.equal(restored.status, 0);
  assert.match(
    restored.out,
    /1 erasure since 2026-11-18T20:00:01\.000Z in .*erasures\.list: the next start does them/,
  );
  assert.match(restored.out, /not in a backup: admin\.token/);
  const again = await start("restored");
  const read = (user: string) => again.core.embedded!.readUser(viewOf(user));
  assert.equal(await read("ada"), undefined);
  assert.equal((await read("bob"))?.facts[0].value, "Bob is back");
  assert.equal((await read("eve"))?.facts[0].value, "eve");
  assert.ok(!existsSync(join(data, "erase-again.list")));
});

test("what was erased after a backup is found by its place in the list, also where the clock was ahead", async (context) => {
  for (const { aheadMs, isStartedAgain } of [
    { aheadMs: 50 * 60_000, isStartedAgain: true },
    { aheadMs: 48 * HOUR_MS, isStartedAgain: false },
  ]) {
    const { folder, backups, time, start, names, schedule, ...first } = await setUp(context);
    let { core, close } = first;
    for (const user of ["ada", "bob"]) await core.store.write(write(user, [[0, user]]));
    time.nowMs += aheadMs;
    await core.store.forgetUser("acme", "bob");
    await core.store.write(write("bob", [[0, "Bob is back"]]));
    await schedule.run();
    time.nowMs -= aheadMs - 1000;
    if (isStartedAgain) {
      await close();
      ({ core, close } = await start("data"));
    }
    await core.store.forgetUser("acme", "ada");
    await close();
    const restore = (data: string, ...more: string[]) =>
      run("backup", "restore", join(backups, names()[0]), "--data", join(folder, data), ...more);
    assert.match((await restore("restored")).out, /1 erasure since .*answers$/m);
    const again = await start("restored");
    assert.equal(await again.core.embedded!.readUser(viewOf("ada")), undefined);
    assert.equal((await again.core.embedded!.readUser(viewOf("bob")))?.facts[0].value, "Bob is back");
    // Another list: the moments alone count, and the operator learns it.
    const other = join(folder, "other.list");
    const lines = readFileSync(join(backups, "erasures.list"), "utf8").trim().split("\n");
    writeFileSync(other, `${lines.at(-1)}\n`);
    assert.match(
      (await restore("other", "--erasures", other)).out,
      /0 erasures .*\nnone of these has what was noted/,
    );
  }
});

test("a list that was empty when the backup was made, and is elsewhere now, is read by its moments, and nobody is asked for another", async (context) => {
  const { folder, backups, core, close, schedule, names } = await setUp(context);
  await core.store.write(write("ada", [[0, "Ada"]]));
  await schedule.run();
  await core.store.forgetUser("acme", "ada");
  await close();
  const [list, moved] = [backups, folder].map((place) => join(place, "erasures.list"));
  renameSync(list, moved);
  const restored = ["--data", join(folder, "restored"), "--erasures", moved];
  const { out } = await run("backup", "restore", join(backups, names()[0]), ...restored);
  assert.match(
    out,
    /1 erasure since .*\nthe list at (\S+) was empty when the backup was made, so the moments/,
  );
  assert.ok(out.includes(list) && !out.includes("with --erasures"), out);
});

test("who was being erased when a backup began is not in it", async (context) => {
  const { folder, backups, time, core, close, start, schedule, names } = await setUp(context);
  await core.store.write(write("ada", [[0, "Ada"]]));
  const embedded = core.embedded!;
  const [commit, backUp] = [embedded.write.bind(embedded), embedded.backup.bind(embedded)];
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  context.mock.method(embedded, "write", (...given: Parameters<typeof commit>) =>
    held.then(() => commit(...given)),
  );
  const erased = core.store.forgetUser("acme", "ada");
  while (!existsSync(join(backups, "erasures.list"))) await new Promise(setImmediate);
  context.mock.method(embedded, "backup", async (...given: Parameters<typeof backUp>) => {
    const report = await backUp(...given);
    goOn();
    return report;
  });
  time.nowMs += 1000;
  const backedUp = schedule.run();
  setTimeout(goOn, 500);
  assert.ok((await Promise.all([erased, backedUp]))[0]);
  await close();
  await run("backup", "restore", join(backups, names()[0]), "--data", join(folder, "restored"));
  const again = await start("restored");
  assert.equal(await again.core.embedded!.readUser(viewOf("ada")), undefined);
});

test("what a restore has left to be erased goes along in a backup, and out of it", async (context) => {
  const { folder, backups, time, core, close, schedule, names } = await setUp(context);
  const list = (data: string) => readFileSync(join(data, "erase-again.list"), "utf8");
  const pending = `2026-11-18T19:00:00.000Z 9 ${"a".repeat(64)}\n`;
  writeFileSync(join(folder, "data", "erase-again.list"), pending);
  await core.store.write(write("ada", [[0, "Ada"]]));
  await schedule.run();
  time.nowMs += 1000;
  await core.store.forgetUser("acme", "ada");
  await close();
  const backup = join(backups, names()[0]);
  assert.equal(list(backup), pending);
  await run("backup", "restore", backup, "--data", join(folder, "restored"));
  const lines = list(join(folder, "restored"));
  assert.ok(lines.startsWith(pending));
  assert.equal(lines.trim().split("\n").length, 2);
});

test("a restore finds the list where it was when the backup was made; without one it says that who was erased is back", async (context) => {
  const { folder, core, close } = await setUp(context);
  const data = join(folder, "data");
  const backup = join(folder, "alone", "backup");
  await core.store.write(write("ada", [[0, "Ada"]]));
  assert.equal((await run("backup", "create", backup, "--data", data)).status, 0);
  await core.store.forgetUser("acme", "ada");
  await close();
  const { made_at: madeAt, erasures } = JSON.parse(readFileSync(join(backup, "backup.json"), "utf8"));
  const restored = await run("backup", "restore", backup, "--data", join(folder, "restored"));
  assert.deepEqual([restored.status, restored.err], [0, ""]);
  assert.ok(
    restored.out.includes(`1 erasure since ${madeAt} in ${erasures}: the next start does them again`),
    restored.out,
  );
  rmSync(erasures);
  const { status, out } = await run("backup", "restore", backup, "--data", join(folder, "other"));
  assert.equal(status, 0);
  assert.ok(
    out.includes(
      `is back: no list of erasures was found (it was ${erasures}); "sideband backup erase-again FILE --since ${madeAt}"`,
    ),
    out,
  );
});
