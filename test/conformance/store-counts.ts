/**
 * What every store must do with numbers and times: users and walks over them, the days of a month, idempotency records
 * that are refused or used again, the version of the keys. The rest of the suite is store.ts.
 */

import assert from "node:assert/strict";
import type { Store } from "../../src/memory/ports.ts";
import { exportLines } from "../../src/memory/transfer.ts";
import { briefly, labelAt, viewOf } from "../fixtures/views.ts";
import { checksOf, forgottenIn, keyRecord, NOW, type StoreUnderTest, write } from "./store-under-test.ts";

const unlimitedOn = (day: string) => ({ keyId: "big", month: day.slice(0, 7), day, limit: null });
const limited = (month: string) => ({ keyId: "small", month, day: `${month}-15`, limit: 1 });

export function storeCountsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("a walk and an export meet every user once, however many there are", async ({ store }) => {
    const names = Array.from({ length: 1_100 }, (_, i) => `user-${i}`).sort();
    await Promise.all(names.map((userId) => store.write(write(userId, [[0, "x"]]))));
    const walked: string[] = [];
    for await (const { userId } of store.walkUsers()) walked.push(userId);
    assert.deepEqual(walked.sort(), names);
    const exported: string[] = [];
    for await (const line of exportLines(store, { nowMs: 0 }))
      if (line.kind === "user") exported.push(line.user_id);
    assert.deepEqual(exported.sort(), names);
  });

  check("what forgets nothing changes nothing, and the last fact takes its user along", async ({ store }) => {
    const users = async () => (await store.statistics()).users;
    await store.write(write("ada", [[0, "Ada"]]));
    const first = await store.readStamp("acme", "ada");
    await store.write(write("ada", [[1, "Engine"]]));
    assert.equal(await users(), 1);
    const state = (await store.readUser(viewOf("ada")))!;
    const forget = async (label: string, ifRevision?: number) => {
      const change = { place: "", label, value: null };
      const changes = [ifRevision === undefined ? change : { ...change, ifRevision }];
      const outcome = await store.write(write("ada", [], { changes }));
      return outcome.outcome === "stored" ? [forgottenIn(outcome), outcome.channelCount] : outcome.outcome;
    };
    for (const [number, revision] of [[5], [5, 1], [0, 999]] as [number, number?][]) {
      assert.deepEqual(await forget(labelAt(number), revision), revision === undefined ? [0, 2] : "conflict");
      assert.deepEqual(await store.readUser(viewOf("ada")), state);
    }
    const [name, work] = state.facts;
    assert.deepEqual(await forget(work.label, work.revision), [1, 1]);
    assert.ok(![first, state.stamp].includes(await store.readStamp("acme", "ada")));
    assert.deepEqual(await forget(name.label, name.revision), [1, 0]);
    const code = { version: 3, bits: { length: 8, bytes: Uint8Array.of(1) }, checksum: 1 };
    await store.saveCodes("acme", "ada", [{ ...state.facts[0], code }]);
    assert.deepEqual([await store.readUser(viewOf("ada")), await users()], [undefined, 0]);
    for await (const { userId } of store.walkUsers()) assert.fail(`${userId} is still there`);
  });

  check("a month of a key without a limit has all its days, the 31st too", async ({ store }) => {
    for (const day of ["2026-09-30", "2026-10-01", "2026-10-31", "2026-11-01"])
      await store.write(write("ada", [[0, day]], { quota: unlimitedOn(day) }));
    assert.equal(await store.readUsage("big", "2026-10"), 2);
  });

  check("what a key has used elsewhere is there, for its days and months, and counts", async ({ store }) => {
    const key = keyRecord("key1");
    await store.addKey(key);
    const days = [
      { day: "2026-10-31", count: 3 },
      { day: "2026-11-15", count: 9 },
    ];
    await store.raiseUsage(key, days);
    await store.write(
      write("ada", [[0, "Ada"]], {
        quota: { keyId: "key1", month: "2026-11", day: "2026-11-15", limit: 10 },
      }),
    );
    assert.deepEqual(
      briefly(
        await store.write(
          write("ada", [[1, "x"]], {
            quota: { keyId: "key1", month: "2026-11", day: "2026-11-15", limit: 10 },
          }),
        ),
      ),
      {
        outcome: "limit",
        used: 10,
      },
    );
    assert.equal(await store.readUsage("key1", "2026-10"), 3);
    assert.equal(await store.readUsage("key1", "2026-11"), 10);
    const used = await store.readDailyUsage("key1", "2026-10-01", "2026-11-30");
    assert.deepEqual(used, [days[0], { day: "2026-11-15", count: 10 }]);
  });

  check("what a key has used elsewhere is told as often as anybody likes, and counts once", async (under) => {
    const { store } = under;
    const second = await under.second?.();
    for (const tier of ["free", "unlimited"] as const) {
      const key = { ...keyRecord(tier), tier };
      await store.addKey(key);
      const quota = { ...unlimitedOn("2026-11-15"), keyId: tier, limit: tier === "free" ? 100 : null };
      await store.write(write("ada", [[0, "Ada"]], { quota }));
      const raise = (count: number) => (opened: Store) =>
        opened.raiseUsage(key, [
          { day: "2026-11-15", count },
          { day: "2026-11-14", count: 2 },
          { day: "2026-11-15", count },
          { day: "2026-10-01", count: 0 },
        ]);
      for (const count of [7, 7, 4]) await Promise.all([store, second ?? store, store].map(raise(count)));
      assert.deepEqual(await store.readDailyUsage(tier, "2026-01-01", "2026-12-31"), [
        { day: "2026-11-14", count: 2 },
        { day: "2026-11-15", count: 7 },
      ]);
      assert.equal(await store.readUsage(tier, "2026-11"), 9);
    }
    await second?.close();
  });

  check("what a key without a limit used elsewhere is added to what it uses here", async ({ store }) => {
    const key = { ...keyRecord("big"), tier: "unlimited" as const };
    await store.addKey(key);
    await store.raiseUsage(key, [{ day: "2026-11-14", count: 9 }]);
    await store.write(write("ada", [[0, "Ada"]], { quota: unlimitedOn("2026-11-15") }));
    assert.equal(await store.readUsage("big", "2026-11"), 10);
  });

  check("a write that the limit refuses leaves no idempotency record", async ({ store }) => {
    const record = { keyId: "small", key: "once", fingerprint: Buffer.alloc(32, 1), expiresAtMs: NOW + 1000 };
    await store.write(write("ada", [[0, "Ada"]], { quota: limited("2026-11") }));
    const refused = write("ada", [[1, "Engine"]], { quota: limited("2026-11"), idempotency: record });
    // Beside one that is stored: they may be of one group.
    const [answer] = await Promise.all([store.write(refused), store.write(write("bob", [[0, "Bob"]]))]);
    assert.deepEqual(briefly(answer), { outcome: "limit", used: 1 });
    const next = { ...refused, quota: limited("2026-12") };
    assert.deepEqual(briefly(await store.write(next)), { outcome: "stored", channelCount: 2, used: 1 });
  });

  check("sweeping leaves an idempotency record that is in use again", async ({ store }) => {
    const record = { keyId: "big", key: "again", fingerprint: Buffer.alloc(32, 1), expiresAtMs: NOW + 1000 };
    const first = write("ada", [[0, "Ada"]], { idempotency: record });
    assert.equal((await store.write(first)).outcome, "stored");
    const again = { ...first, nowMs: NOW + 1500, idempotency: { ...record, expiresAtMs: NOW + 5000 } };
    assert.equal((await store.write(again)).outcome, "stored");
    await store.sweep(NOW + 2000);
    assert.equal((await store.write({ ...again, nowMs: NOW + 2000 })).outcome, "replayed");
  });

  check("sweeping removes every idempotency record that has expired, however many", async ({ store }) => {
    const requests = Array.from({ length: 300 }, (_, i) => {
      const fingerprint = Buffer.alloc(32, 1);
      const idempotency = { keyId: "big", key: `${i}`, fingerprint, expiresAtMs: NOW + 1000 };
      return write("ada", [[0, "Ada"]], { idempotency });
    });
    await Promise.all(requests.map((request) => store.write(request)));
    assert.equal((await store.write(requests[0])).outcome, "replayed");
    await store.sweep(NOW + 2 * 24 * 3_600_000);
    // By the time of these writes no record has expired: each that is still there is used.
    const ends = await Promise.all(requests.map((request) => store.write(request)));
    assert.equal(ends.filter(({ outcome }) => outcome === "stored").length, requests.length);
  });

  check("a revocation alone gives the keys another version", async ({ store }) => {
    await store.addKey(keyRecord("key1"));
    const version = await store.keysVersion();
    await store.changeKey("key1", { revokedAtMs: NOW });
    assert.notEqual(await store.keysVersion(), version);
  });
}
