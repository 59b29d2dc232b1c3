/** What every store must do with what applications were allowed, which are keys with more in them. */

import assert from "node:assert/strict";
import type { KeyGrant, KeyRecord } from "../../src/memory/records.ts";
import { checksOf, keyRecord, NOW, type StoreUnderTest, set, stored } from "./store-under-test.ts";

const GRANT: KeyGrant = {
  keyId: "key1",
  resource: "https://memory.example/mcp",
  client: "c".repeat(64),
  returnsTo: "app.example",
  refreshes: 0,
  recentMs: [],
};

function grantRecord(id: string, more: Partial<KeyRecord> = {}): KeyRecord {
  return { ...keyRecord(id), user: "ada", grant: GRANT, groups: "USER", ...more };
}

export function grantConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("a grant is kept with its key, and is added once, however many try", async ({ store }) => {
    const record = grantRecord("g1");
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => store.addKey(record)));
    assert.deepEqual(outcomes.sort(), ["added", ...Array(7).fill("key_exists")]);
    assert.deepEqual(await store.readKey("g1"), record);
    assert.deepEqual(await store.listKeys("acme"), [record]);
  });

  check(
    "of many that replace one state of a grant one does, and none where the key is revoked",
    async ({ store }) => {
      await store.addKey(grantRecord("g1"));
      await store.addKey(keyRecord("plain"));
      const next = (by: number) => ({ ...GRANT, refreshes: 1, recentMs: [NOW + by] });
      const done = await Promise.all(
        Array.from({ length: 8 }, (_, by) => store.changeGrant("g1", GRANT, next(by))),
      );
      assert.equal(done.filter((isDone) => isDone).length, 1);
      const found = (await store.readKey("g1"))!.grant!;
      assert.deepEqual(found, next(done.indexOf(true)));
      assert.equal(await store.changeGrant("g1", GRANT, next(9)), false);
      for (const id of ["plain", "nothing"]) assert.equal(await store.changeGrant(id, GRANT, next(9)), false);
      await store.changeKey("g1", { revokedAtMs: NOW });
      assert.equal(await store.changeGrant("g1", found, GRANT), false);
    },
  );

  check(
    "who erases a user ends all that the user has allowed, at once, and is told which keys go on",
    async ({ store }) => {
      const kept = [
        grantRecord("other user", { user: "bob" }),
        grantRecord("other account", { account: "globex" }),
        { ...keyRecord("bound"), user: "ada" },
        { ...keyRecord("bound, but over"), user: "ada", expiresAtMs: 1 },
        { ...keyRecord("bound, but revoked"), user: "ada", revokedAtMs: 1 },
      ];
      const gone = [
        grantRecord("live"),
        grantRecord("live for long", { expiresAtMs: NOW * 2 }),
        grantRecord("over", { expiresAtMs: 1 }),
        grantRecord("revoked", { revokedAtMs: 1 }),
      ];
      for (const record of [...kept, ...gone]) assert.equal(await store.addKey(record), "added");
      await stored(store, [set(0, "Ada")]);
      const version = await store.keysVersion(true);
      // A project is not the person.
      assert.equal(await store.forgetUser("acme", "ada", "loom"), undefined);
      assert.equal((await store.listKeys()).length, kept.length + gone.length);
      const counts = { facts: 1, earlier: 0, labels: 1, places: 1 };
      const erased = await store.forgetUser("acme", "ada");
      assert.deepEqual(erased, { ...counts, connections: 2, keysLeft: 1 });
      assert.notEqual(await store.keysVersion(true), version);
      const ids = (await store.listKeys()).map(({ id }) => id).sort();
      assert.deepEqual(ids, kept.map(({ id }) => id).sort());
      for (const { hash } of gone) assert.equal(await store.findKey(hash), undefined);
      assert.equal(await store.forgetUser("acme", "ada"), undefined);
      // What is left of an erasure that was cut off, or of one who never had a fact.
      assert.equal(await store.addKey(grantRecord("again")), "added");
      const rest = { facts: 0, earlier: 0, labels: 0, places: 0, connections: 1, keysLeft: 1 };
      assert.deepEqual(await store.forgetUser("acme", "ada"), rest);
      assert.equal(await store.readKey("again"), undefined);
    },
  );

  check("grants that have ended are removed by user and time, and no key is", async ({ store }) => {
    const kept = [
      grantRecord("live"),
      grantRecord("later", { expiresAtMs: NOW }),
      grantRecord("other user", { user: "bob", revokedAtMs: 1 }),
      grantRecord("other account", { account: "globex", revokedAtMs: 1 }),
      { ...keyRecord("key"), user: "ada", revokedAtMs: 1 },
    ];
    const gone = [
      grantRecord("revoked", { revokedAtMs: NOW - 1 }),
      grantRecord("over", { expiresAtMs: NOW - 1 }),
      grantRecord("both", { expiresAtMs: NOW + 1, revokedAtMs: NOW - 1 }),
    ];
    for (const record of [...kept, ...gone]) assert.equal(await store.addKey(record), "added");
    await store.removeGrants("acme", "ada", NOW);
    const ids = (await store.listKeys()).map(({ id }) => id).sort();
    assert.deepEqual(ids, kept.map(({ id }) => id).sort());
    for (const { hash, id } of gone) {
      assert.equal(await store.findKey(hash), undefined);
      assert.equal(await store.readKey(id), undefined);
    }
  });
}
