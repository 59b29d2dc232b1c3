/** What every store must do where the limit of a key is changed, and where all keys of an account share one. */

import assert from "node:assert/strict";
import type { Store } from "../../src/memory/ports.ts";
import { accountCounter } from "../../src/memory/quota.ts";
import { briefly } from "../fixtures/views.ts";
import { checksOf, keyRecord, NOW, type StoreUnderTest, write } from "./store-under-test.ts";

const MONTH = "2026-11";
const COUNTER = accountCounter("acme");

const encode = (store: Store, user: string, keyId: string, limit: number | null, counter?: string) =>
  store.write(
    write(user, [[0, "x"]], {
      quota: { keyId, month: MONTH, day: `${MONTH}-15`, limit, ...(counter && { counter }) },
    }),
  );

export function storeLimitsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check(
    "all keys of an account share its limit to the unit, also from many callers at once",
    async (under) => {
      const { store } = under;
      for (const id of ["one", "two", "three"]) await store.addKey({ ...keyRecord(id), tier: "unlimited" });
      // What was used before there was a limit counts.
      for (const id of ["one", "two", "two"]) await encode(store, "ada", id, null);
      await store.addKey(keyRecord("other", "globex"));
      const elsewhere = { keyId: "other", month: MONTH, day: `${MONTH}-15`, limit: null };
      await store.write({ ...write("ada", [[0, "x"]], { quota: elsewhere }), account: "globex" });
      const changed = await store.changeAccount("acme", 20, MONTH);
      assert.deepEqual(changed, { account: "acme", createdAtMs: NOW, monthlyLimit: 20 });
      const second = await under.second?.();
      const stores = second === undefined ? [store] : [store, second];
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          encode(stores[i % stores.length], `u${i % 7}`, ["one", "two", "three"][i % 3], 20, COUNTER),
        ),
      );
      const stored = outcomes.filter(({ outcome }) => outcome === "stored");
      assert.equal(stored.length, 17);
      for (const outcome of outcomes) if (outcome.outcome === "limit") assert.equal(outcome.used, 20);
      assert.equal(await store.readUsage(COUNTER, MONTH), 20);
      const days = await Promise.all(
        ["one", "two", "three"].map((id) => store.readDailyUsage(id, `${MONTH}-01`, `${MONTH}-31`)),
      );
      assert.equal(
        days.flat().reduce((sum, { count }) => sum + count, 0),
        20,
      );
      await second?.close();
    },
  );

  check(
    "a limit of an account is raised, taken away and given anew, and what was used counts each time",
    async ({ store }) => {
      await store.addKey({ ...keyRecord("one"), tier: "unlimited" });
      assert.equal(await store.changeAccount("nobody", 1, MONTH), undefined);
      await store.changeAccount("acme", 1, MONTH);
      assert.equal((await encode(store, "ada", "one", 1, COUNTER)).outcome, "stored");
      assert.equal((await encode(store, "ada", "one", 1, COUNTER)).outcome, "limit");
      await store.changeAccount("acme", 2, MONTH);
      assert.equal((await encode(store, "ada", "one", 2, COUNTER)).outcome, "stored");
      assert.deepEqual(await store.changeAccount("acme", null, MONTH), { account: "acme", createdAtMs: NOW });
      assert.deepEqual(await store.readAccount("acme"), { account: "acme", createdAtMs: NOW });
      assert.equal((await encode(store, "ada", "one", null)).outcome, "stored");
      await store.changeAccount("acme", 4, MONTH);
      assert.deepEqual((await store.listAccounts())[0], {
        account: "acme",
        createdAtMs: NOW,
        monthlyLimit: 4,
      });
      assert.equal((await encode(store, "ada", "one", 4, COUNTER)).outcome, "stored");
      assert.equal((await encode(store, "ada", "one", 4, COUNTER)).outcome, "limit");
    },
  );

  check("a limit that comes from elsewhere is given only to an account without one", async ({ store }) => {
    await store.addKey({ ...keyRecord("one"), tier: "unlimited" });
    await encode(store, "ada", "one", null);
    const bring = (limit: number) => store.changeAccount("acme", limit, MONTH, undefined, true);
    const ends = await Promise.all([store.changeAccount("acme", 7, MONTH), bring(500)]);
    assert.deepEqual(
      ends.map((record) => record?.monthlyLimit),
      [7, 7],
    );
    assert.equal((await store.readAccount("acme"))?.monthlyLimit, 7);
    assert.equal(await store.readUsage(COUNTER, MONTH), 1);
    await store.changeAccount("acme", null, MONTH);
    assert.equal((await bring(500))?.monthlyLimit, 500);
    await store.addKey(keyRecord("other", "globex"));
    assert.equal((await store.changeAccount("globex", 0, MONTH))?.monthlyLimit, 0);
    assert.equal((await store.changeAccount("globex", 9, MONTH, undefined, true))?.monthlyLimit, 0);
    assert.equal(await store.changeAccount("nobody", 1, MONTH, undefined, true), undefined);
  });

  check("what a key used elsewhere counts against the limit of its account", async ({ store }) => {
    for (const id of ["one", "two"]) await store.addKey({ ...keyRecord(id), tier: "unlimited" });
    const raise = (id: string, count: number) =>
      store.raiseUsage({ ...keyRecord(id), tier: "unlimited" }, [{ day: `${MONTH}-14`, count }]);
    await raise("one", 2);
    await store.changeAccount("acme", 9, MONTH);
    assert.equal(await store.readUsage(COUNTER, MONTH), 2);
    await encode(store, "ada", "one", 9, COUNTER);
    await Promise.all([raise("one", 4), raise("two", 3), raise("two", 3)]);
    assert.equal(await store.readUsage(COUNTER, MONTH), 8);
    assert.equal((await encode(store, "ada", "two", 9, COUNTER)).outcome, "stored");
    assert.equal((await encode(store, "ada", "two", 9, COUNTER)).outcome, "limit");
    // Of a month in which the account has not counted yet.
    await store.raiseUsage(keyRecord("one"), [{ day: "2026-10-31", count: 5 }]);
    assert.equal(await store.readUsage(COUNTER, "2026-10"), 5);
  });

  check("what keys used under the limit of their account counts when it is taken away", async ({ store }) => {
    await store.addKey({ ...keyRecord("one"), tier: "free" });
    await store.addKey({ ...keyRecord("two"), tier: "free" });
    const usedBy = async (id: string) => {
      const outcome = await encode(store, "ada", id, 1_000);
      assert.equal(outcome.outcome, "stored");
      return outcome.used;
    };
    assert.equal(await usedBy("one"), 1);
    await store.changeAccount("acme", 9, MONTH);
    for (const id of ["one", "two", "two"]) await encode(store, "ada", id, 9, COUNTER);
    await store.changeAccount("acme", null, MONTH);
    assert.deepEqual([await usedBy("one"), await usedBy("two")], [3, 3]);
    assert.deepEqual([await store.readUsage("one", MONTH), await store.readUsage("two", MONTH)], [3, 3]);
    // And the other way around, a second time.
    await store.changeAccount("acme", 9, MONTH);
    assert.equal(await store.readUsage(COUNTER, MONTH), 6);
  });

  check(
    "what is written under an older limit, or none, counts for the key and the account",
    async ({ store }) => {
      const key = keyRecord("one");
      await store.addKey(key);
      const usedBy = (...names: string[]) =>
        Promise.all(names.map((counter) => store.readUsage(counter, MONTH)));
      assert.equal((await encode(store, "ada", "one", 1_000)).outcome, "stored");
      await store.changeAccount("acme", 9, MONTH);
      // As nodes send them that do not know yet of the limit, or of the key's tier.
      for (const limit of [null, null, 1_000]) await encode(store, "ada", "one", limit);
      assert.deepEqual(await usedBy("one", COUNTER), [4, 4]);
      await store.raiseUsage(key, [{ day: `${MONTH}-14`, count: 2 }]);
      assert.deepEqual(await usedBy("one", COUNTER), [6, 6]);
      const last = await Promise.all([
        encode(store, "ada", "one", null),
        encode(store, "ada", "one", 8, COUNTER),
        encode(store, "bob", "one", 8, COUNTER),
      ]);
      assert.deepEqual(last.map(briefly), [
        { outcome: "stored", channelCount: 1, used: last[0].used },
        { outcome: "stored", channelCount: 1, used: 8 },
        { outcome: "limit", used: 8 },
      ]);
      assert.deepEqual(await usedBy("one", COUNTER), [8, 8]);
    },
  );

  check("a key's tier is changed, and what it used without a limit counts under one", async ({ store }) => {
    await store.addKey({ ...keyRecord("one"), tier: "unlimited" });
    for (let i = 0; i < 3; i++) await encode(store, `u${i}`, "one", null);
    const before = await store.keysVersion();
    const changed = await store.changeKey("one", { tier: "free", month: MONTH });
    assert.equal(changed?.tier, "free");
    assert.deepEqual(await store.readKey("one"), changed);
    assert.notEqual(await store.keysVersion(), before);
    assert.equal((await encode(store, "ada", "one", 4)).outcome, "stored");
    assert.deepEqual(await encode(store, "ada", "one", 4), { outcome: "limit", used: 4 });
    assert.equal(await store.changeKey("nothing", { tier: "pro", month: MONTH }), undefined);
  });
}
