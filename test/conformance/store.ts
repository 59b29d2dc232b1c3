/**
 * What every store must do, written against the Store port. A store's own test calls `storeConformance` with a
 * way to open it; `reopen` closes and opens the same data, `second` opens it once more at the same time where that can be.
 */

import assert from "node:assert/strict";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { briefly, changesOf, labelAt, viewOf } from "../fixtures/views.ts";
import { until } from "../fixtures/waiting.ts";
import {
  beforeIn,
  checksOf,
  forgottenIn,
  keyRecord,
  NOW,
  type StoreUnderTest,
  write,
} from "./store-under-test.ts";

const quota = (limit: number | null, keyId = "key1", month = "2026-11") => ({
  keyId,
  month,
  day: `${month}-15`,
  limit,
});

export function storeConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check(
    "a fact is read back exactly, alone and among the user's facts in the order of labels",
    async ({ store }) => {
      const hostile = "'; DROP TABLE facts; -- \\0 \u{1F9E0} é e\u0301 \uFEFF";
      const outcome = await store.write(
        write("ada", [
          [39, hostile],
          [0, "Ada"],
          [7, "x".repeat(1024)],
        ]),
      );
      assert.deepEqual(briefly(outcome), { outcome: "stored", channelCount: 3, used: 0 });
      assert.equal((await store.readFact(viewOf("ada"), labelAt(39)))?.value, hostile);
      const state = await store.readUser(viewOf("ada"));
      assert.deepEqual(rowsOf(state?.facts, "label", "value"), [
        ["PROJ.constraint", hostile],
        ["USER.location", "x".repeat(1024)],
        ["USER.name", "Ada"],
      ]);
      assert.ok(state?.facts.every(({ updatedAtMs, revision }) => updatedAtMs === NOW && revision > 0));
      assert.equal(await store.readFact(viewOf("ada"), labelAt(1)), undefined);
    },
  );

  check(
    "overwriting keeps the other facts; revisions grow; the stamp changes with every write",
    async ({ store }) => {
      await store.write(
        write("ada", [
          [0, "Ada"],
          [1, "Engine"],
        ]),
      );
      const before = await store.readUser(viewOf("ada"));
      assert.equal(await store.readStamp("acme", "ada"), before?.stamp);
      assert.deepEqual(briefly(await store.write(write("ada", [[0, "Ada L."]]))), {
        outcome: "stored",
        channelCount: 2,
        used: 0,
      });
      const after = await store.readUser(viewOf("ada"));
      assert.notEqual(after?.stamp, before?.stamp);
      assert.deepEqual(fieldsOf(after?.facts, "value"), ["Ada L.", "Engine"]);
      assert.ok(after!.facts[0].revision > Math.max(...before!.facts.map(({ revision }) => revision)));
    },
  );

  check("accounts and users with names that begin alike are apart", async ({ store }) => {
    const names: [string, string][] = [
      ["a", "b"],
      ["a", "bc"],
      ["ab", "c"],
      ["a", "b.c"],
      ["a.b", "c"],
      ["a", "B"],
      ["a", "é"],
      ["a", "e\u0301"],
      ["a", "\u{10FFFF}".repeat(128)],
    ];
    for (const [account, userId] of names)
      await store.write(write(userId, [[0, `${account}/${userId}`]], { account }));
    for (const [account, userId] of names) {
      const state = await store.readUser(viewOf(userId, account));
      assert.deepEqual(fieldsOf(state?.facts, "value"), [`${account}/${userId}`]);
    }
    await store.forgetUser("a", "b");
    assert.equal((await store.readUser(viewOf("bc", "a")))?.facts.length, 1);
    assert.equal((await store.readUser(viewOf("b.c", "a")))?.facts.length, 1);
    const walked: string[] = [];
    for await (const { userId } of store.walkUsers("a")) walked.push(userId);
    assert.deepEqual(
      walked.sort(),
      names
        .filter(([account, user]) => account === "a" && user !== "b")
        .map(([, user]) => user)
        .sort(),
    );
  });

  check(
    "a limit lets exactly its number through, a batch all or none, each month anew",
    async ({ store }) => {
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, i) => store.write(write(`u${i}`, [[0, "x"]], { quota: quota(10) }))),
      );
      assert.equal(outcomes.filter(({ outcome }) => outcome === "stored").length, 10);
      assert.deepEqual(
        outcomes.find(({ outcome }) => outcome === "limit"),
        { outcome: "limit", used: 10 },
      );
      assert.equal(await store.readUsage("key1", "2026-11"), 10);
      const batch = write(
        "batch",
        [
          [0, "a"],
          [1, "b"],
          [2, "c"],
        ],
        { quota: quota(4, "key2") },
      );
      assert.deepEqual(briefly(await store.write(batch)), { outcome: "stored", channelCount: 3, used: 3 });
      assert.deepEqual(briefly(await store.write({ ...batch, userId: "other" })), {
        outcome: "limit",
        used: 3,
      });
      assert.equal(await store.readUser(viewOf("other")), undefined);
      const next = await store.write(write("u0", [[0, "y"]], { quota: quota(10, "key1", "2026-12") }));
      assert.deepEqual(briefly(next), { outcome: "stored", channelCount: 1, used: 1 });
      assert.deepEqual(await store.readDailyUsage("key1", "2026-11-01", "2026-12-31"), [
        { day: "2026-11-15", count: 10 },
        { day: "2026-12-15", count: 1 },
      ]);
      assert.deepEqual(await store.readDailyUsage("key1", "2027-01-01", "2027-12-31"), []);
      assert.deepEqual(
        [await store.readUsage("key1", "2027-01"), await store.readUsage("nobody", "2026-11")],
        [0, 0],
      );
    },
  );

  check(
    "an idempotency key replays, refuses another request, expires, and belongs to its API key",
    async ({ store }) => {
      const idempotency = {
        keyId: "key1",
        key: "once",
        fingerprint: Buffer.alloc(32, 1),
        expiresAtMs: NOW + 1000,
      };
      const request = write("ada", [[0, "Ada"]], { quota: quota(10), idempotency });
      assert.deepEqual(briefly(await store.write(request)), { outcome: "stored", channelCount: 1, used: 1 });
      await store.write(write("ada", [[1, "more"]]));
      assert.deepEqual(briefly(await store.write(request)), {
        outcome: "replayed",
        channelCount: 1,
        used: 1,
      });
      const other = { ...request, idempotency: { ...idempotency, fingerprint: Buffer.alloc(32, 2) } };
      assert.deepEqual(briefly(await store.write(other)), { outcome: "mismatch", used: 1 });
      const foreign = {
        ...request,
        quota: quota(10, "key9"),
        idempotency: { ...idempotency, keyId: "key9" },
      };
      assert.equal((await store.write(foreign)).outcome, "stored");
      assert.equal((await store.write({ ...request, nowMs: NOW + 1000 })).outcome, "stored");
      await store.sweep(NOW + 5000);
    },
  );

  check("two writes of the same idempotency key at once store once", async ({ store }) => {
    const idempotency = {
      keyId: "key1",
      key: "race",
      fingerprint: Buffer.alloc(32, 1),
      expiresAtMs: NOW + 1000,
    };
    const request = write("ada", [[0, "Ada"]], { quota: quota(10), idempotency });
    const outcomes = await Promise.all([store.write(request), store.write(request)]);
    outcomes.sort((a, b) => (a.outcome < b.outcome ? -1 : 1));
    assert.deepEqual(outcomes.map(briefly), [
      { outcome: "replayed", channelCount: 1, used: 1 },
      { outcome: "stored", channelCount: 1, used: 1 },
    ]);
    assert.equal(await store.readUsage("key1", "2026-11"), 1);
  });

  check(
    "concurrent writes of one user all survive, from two openings of the same data",
    async ({ store, second }) => {
      const other = (await second?.()) ?? store;
      await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? store : other).write(write("ada", [[i, `v${i}`]], { quota: quota(null) })),
        ),
      );
      for (const opened of [store, other]) {
        const state = await opened.readUser(viewOf("ada"));
        assert.deepEqual(
          rowsOf(state?.facts, "label", "value"),
          Array.from({ length: 40 }, (_, i) => [labelAt(i), `v${i}`]).sort(),
        );
        assert.equal(await opened.readUsage("key1", "2026-11"), 40);
      }
      if (other !== store) await other.close();
    },
  );

  check("forgetting takes facts away at once, and a stamp never comes back", async ({ store }) => {
    const forget = (number: number, ifRevision?: number) =>
      store.write(
        write("ada", [], {
          changes: changesOf([[number, null]]).map((change) => ({
            ...change,
            ...(ifRevision === undefined ? {} : { ifRevision }),
          })),
        }),
      );
    await store.write(
      write("ada", [
        [0, "Ada"],
        [1, "Engine"],
      ]),
    );
    const stamps = new Set([await store.readStamp("acme", "ada")]);
    const first = await forget(0);
    assert.ok(first.outcome === "stored");
    assert.deepEqual([forgottenIn(first), first.channelCount, beforeIn(first)[0]?.value], [1, 1, "Ada"]);
    assert.equal(await store.readFact(viewOf("ada"), labelAt(0)), undefined);
    stamps.add(await store.readStamp("acme", "ada"));
    const nothing = await forget(5);
    assert.ok(nothing.outcome === "stored");
    assert.deepEqual([forgottenIn(nothing), nothing.channelCount, beforeIn(nothing)], [0, 1, [undefined]]);
    stamps.add(await store.readStamp("acme", "ada"));
    assert.equal((await forget(1, 999)).outcome, "conflict");
    assert.ok(await store.forgetUser("acme", "ada"));
    assert.equal(await store.forgetUser("acme", "ada"), undefined);
    assert.equal(await store.readUser(viewOf("ada")), undefined);
    assert.equal(await store.readStamp("acme", "ada"), undefined);
    const gone = await forget(1);
    assert.ok(gone.outcome === "stored");
    assert.deepEqual([forgottenIn(gone), gone.channelCount], [0, 0]);
    assert.equal(await store.readStamp("acme", "ada"), undefined);
    for (let i = 0; i < 3; i++) {
      await store.write(write("ada", [[0, "Ada"]]));
      stamps.add(await store.readStamp("acme", "ada"));
    }
    assert.equal(stamps.size, 5);
  });

  check(
    "code bits are kept with their fact until it changes, and do not change the stamp",
    async ({ store }) => {
      await store.write(
        write("ada", [
          [0, "Ada"],
          [1, "Engine"],
        ]),
      );
      const before = await store.readUser(viewOf("ada"));
      const code = {
        version: 3,
        bits: { length: 13, bytes: Uint8Array.of(0xab, 0xc0) },
        checksum: 0xdeadbeef,
      };
      const codes = before!.facts.map(({ place, label, revision, value }) => ({
        place,
        label,
        revision,
        value,
        code,
      }));
      await store.write(write("ada", [[1, "Difference Engine"]]));
      const stamp = await store.readStamp("acme", "ada");
      await store.saveCodes("acme", "ada", codes);
      const after = await store.readUser(viewOf("ada"));
      assert.deepEqual(after?.facts[0].code, code);
      assert.equal(after?.facts[1].code, undefined);
      assert.equal(after?.facts[1].value, "Difference Engine");
      assert.equal(after?.stamp, stamp);
    },
  );

  check(
    "code bits of a forgotten user never reach the user that came back in its place",
    async ({ store }) => {
      await store.write(write("ada", [[0, "Ada"]]));
      const before = await store.readUser(viewOf("ada"));
      const code = {
        version: 3,
        bits: { length: 13, bytes: Uint8Array.of(0xab, 0xc0) },
        checksum: 0xdeadbeef,
      };
      await store.forgetUser("acme", "ada");
      await store.write(write("ada", [[0, "Grace"]]));
      await store.saveCodes("acme", "ada", [{ ...before!.facts[0], code }]);
      const after = await store.readUser(viewOf("ada"));
      assert.deepEqual([after?.facts[0].value, after?.facts[0].code], ["Grace", undefined]);
    },
  );

  check(
    "keys are found by hash, listed by account, changed for good, and every change is noticed",
    async ({ store, second }) => {
      const other = (await second?.()) ?? store;
      const [first, foreign] = [keyRecord("key1"), keyRecord("key2", "other")];
      const version = await other.keysVersion();
      await store.addKey(first);
      await store.addKey(foreign);
      assert.deepEqual(await store.findKey(first.hash), first);
      assert.equal(await store.findKey("00".repeat(32)), undefined);
      assert.equal(await store.readKey("nobody"), undefined);
      assert.deepEqual(await store.listKeys("nobody"), []);
      assert.deepEqual(fieldsOf(await store.listKeys("acme"), "id"), ["key1"]);
      assert.deepEqual((await store.listAccounts()).map(({ account }) => account).sort(), ["acme", "other"]);
      assert.equal((await store.changeKey("key1", { revokedAtMs: NOW }))?.revokedAtMs, NOW);
      assert.equal((await store.changeKey("key1", { revokedAtMs: NOW + 9 }))?.revokedAtMs, NOW);
      assert.equal(await store.changeKey("nobody", { revokedAtMs: NOW }), undefined);
      await store.touchKeys(
        new Map([
          ["key1", NOW + 5],
          ["nobody", 1],
        ]),
      );
      await store.touchKeys(new Map([["key1", NOW + 4]]));
      assert.equal(
        (await store.readKey("key1"))?.lastUsedAtMs,
        NOW + 5,
        "the last use is never an earlier one",
      );
      // At once on one machine, within five seconds on another: test/unit/store/keys-watch.test.ts has the clock.
      await until(async () => (await other.keysVersion()) !== version);
      if (other !== store) await other.close();
    },
  );

  check("a key with the id or the hash of another changes nothing", async ({ store }) => {
    const key = keyRecord("key1");
    assert.equal(await store.addKey(key), "added");
    assert.equal(await store.addKey(keyRecord("key1", "other")), "key_exists");
    assert.equal(await store.addKey({ ...keyRecord("key2", "other"), hash: key.hash }), "key_exists");
    assert.deepEqual(await store.listKeys(), [key]);
    assert.deepEqual(fieldsOf(await store.listAccounts(), "account"), ["acme"]);
  });

  check("everything is still there after closing and opening", async ({ store, reopen }) => {
    await store.addKey(keyRecord("key1"));
    await store.write(write("ada", [[0, "Ada"]], { quota: quota(10) }));
    const stamp = await store.readStamp("acme", "ada");
    const again = await reopen();
    assert.equal(await again.readStamp("acme", "ada"), stamp);
    assert.equal((await again.readFact(viewOf("ada"), labelAt(0)))?.value, "Ada");
    assert.equal(await again.readUsage("key1", "2026-11"), 1);
    assert.equal((await again.readKey("key1"))?.id, "key1");
    await again.probe();
    assert.ok((await again.statistics()).facts === 1);
  });
}
