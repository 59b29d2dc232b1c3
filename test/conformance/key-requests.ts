/** What every store must do with requests for keys, and with the approvals that add a key. */

import assert from "node:assert/strict";
import type { KeyRecord, KeyRequest } from "../../src/memory/records.ts";
import { rowsOf } from "../fixtures/fields.ts";
import { checksOf, keyRecord, NOW, type StoreUnderTest, write } from "./store-under-test.ts";

export function keyRequest(id: string): KeyRequest {
  return {
    id,
    name: "Ada",
    email: "ada@example.org",
    purpose: "notes",
    tier: "pro",
    createdAtMs: NOW,
    status: "open",
    decidedAtMs: null,
    keyId: null,
  };
}

export function keyRequestConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("a key request is decided once", async ({ store }) => {
    const request = keyRequest("r1");
    assert.deepEqual(await store.listKeyRequests(), []);
    await store.addKeyRequest(request);
    assert.deepEqual(await store.listKeyRequests(), [request]);
    const decision = { status: "approved", decidedAtMs: NOW, keyId: "key1" } as const;
    assert.equal((await store.decideKeyRequest("r1", decision))?.status, "approved");
    assert.equal(await store.decideKeyRequest("r1", { ...decision, status: "declined" }), undefined);
    assert.equal(await store.decideKeyRequest("r2", decision), undefined);
  });

  check("a key request that comes again changes nothing", async ({ store }) => {
    const request = keyRequest("r1");
    assert.deepEqual(await Promise.all([store.addKeyRequest(request), store.addKeyRequest(request)]), [
      true,
      false,
    ]);
    await store.decideKeyRequest("r1", { status: "declined", decidedAtMs: NOW, keyId: null });
    assert.equal(await store.addKeyRequest(request), false);
    assert.deepEqual(rowsOf(await store.listKeyRequests(), "id", "status"), [["r1", "declined"]]);
  });

  check("a key request is deleted once, open or decided", async ({ store }) => {
    for (const id of ["r1", "r2", "r3"]) await store.addKeyRequest(keyRequest(id));
    await store.decideKeyRequest("r2", { status: "declined", decidedAtMs: NOW, keyId: null });
    for (const id of ["r1", "r2"]) assert.equal(await store.deleteKeyRequest(id), true);
    for (const id of ["r1", "nothing"]) assert.equal(await store.deleteKeyRequest(id), false);
    assert.deepEqual(await store.listKeyRequests(), [keyRequest("r3")]);
  });

  check(
    "an approval adds its key and decides its request together, or changes nothing",
    async ({ store }) => {
      for (const id of ["r1", "r2"]) await store.addKeyRequest(keyRequest(id));
      const approve = (requestId: string, account: "new" | "existing", record: KeyRecord) =>
        store.addKey(record, { requestId, account });
      const key = keyRecord("key1");
      assert.equal(await approve("r1", "existing", key), "account_missing");
      assert.equal(await approve("nothing", "new", key), "request_not_open");
      assert.deepEqual([await store.listKeys(), await store.listAccounts()], [[], []]);
      assert.equal(await approve("r1", "new", key), "added");
      assert.deepEqual(await store.listKeys(), [key]);
      assert.deepEqual(await store.listAccounts(), [{ account: "acme", createdAtMs: NOW }]);
      assert.equal(await approve("r1", "existing", keyRecord("key2")), "request_not_open");
      assert.equal(await approve("r2", "new", keyRecord("key2")), "account_exists");
      assert.deepEqual(await store.listKeys(), [key]);
      const approved = { ...keyRequest("r1"), status: "approved", decidedAtMs: NOW, keyId: "key1" };
      assert.deepEqual(await store.listKeyRequests(), [approved, keyRequest("r2")]);
      assert.equal(await approve("r2", "existing", keyRecord("key2")), "added");
      assert.equal(await store.addKey(keyRecord("key3")), "added");
      assert.equal((await store.listKeys("acme")).length, 3);
    },
  );

  check("an account that holds facts and no key exists", async ({ store }) => {
    await store.addKeyRequest(keyRequest("r1"));
    await store.write(write("ada", [[0, "Ada"]]));
    const approve = (account: "new" | "existing", name: string) =>
      store.addKey(keyRecord("key1", name), { requestId: "r1", account });
    assert.equal(await approve("new", "acme"), "account_exists");
    for (const name of ["acm", "acme2"]) assert.equal(await approve("existing", name), "account_missing");
    assert.equal(await approve("existing", "acme"), "added");
  });

  check("of approvals for one new account at once, one gets it", async ({ store, second }) => {
    const other = (await second?.()) ?? store;
    const ids = Array.from({ length: 8 }, (_, i) => `r${i}`);
    for (const id of ids) await store.addKeyRequest(keyRequest(id));
    const outcomes = await Promise.all(
      ids.map((requestId, i) =>
        (i % 2 ? store : other).addKey(keyRecord(`key${i}`), { requestId, account: "new" }),
      ),
    );
    assert.deepEqual(outcomes.sort(), [...new Array(7).fill("account_exists"), "added"]);
    assert.equal((await store.listKeys()).length, 1);
    const statuses = (await store.listKeyRequests()).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), ["approved", ...new Array(7).fill("open")]);
    if (other !== store) await other.close();
  });
}
