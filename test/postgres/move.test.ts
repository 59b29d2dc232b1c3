/** Growing out of one machine: everything moves into the database and back, and a difference is noticed. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "../../src/base/metrics.ts";
import { readConfig } from "../../src/config.ts";
import { moveData } from "../../src/main/database-upkeep.ts";
import { compareStores } from "../../src/memory/move.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";
import { keyRecord, write } from "../conformance/store-under-test.ts";
import { temporaryFolder } from "../fixtures/ends.ts";
import { viewOf } from "../fixtures/views.ts";
import { newEmptyDatabase, openStore } from "./server.ts";

const openFolder = (folder: string) =>
  LmdbStore.open({ folder, create: true, queueMax: 10_000, metrics: new Metrics() });

/** With two facts each: more than a group of writes (256) and a page of histories (500) have. */
const USERS = 300;

test("move: a data folder goes into the database and back, with keys, use, requests, times and order", async (t) => {
  const root = temporaryFolder(t);
  const url = await newEmptyDatabase();
  const settings = { SIDEBAND_DATABASE_URL: url, SIDEBAND_MASTER_KEY: "ab".repeat(32) };
  const config = (folder: string) => readConfig({ ...settings, SIDEBAND_DATA: join(root, folder) });
  const embedded = await openFolder(join(root, "first"));
  for (const [id, tier] of [
    ["free-key", "free"],
    ["big-key", "unlimited"],
  ] as const) {
    await embedded.addKey({ ...keyRecord(id), tier });
    const limit = tier === "free" ? 1000 : null;
    const quota = { keyId: id, month: "2026-11", day: "2026-11-15", limit };
    await Promise.all(
      Array.from({ length: USERS / 2 }, (_, i) =>
        // The later channel first: the order of writing is not that of the channels.
        embedded.write(
          write(
            `${id}/user ${i} 🧠`,
            [
              [30, `value ${i}`],
              [2, "'; --"],
            ],
            { quota, nowMs: 1_700_000_000_000 + i },
          ),
        ),
      ),
    );
  }
  await embedded.changeKey("free-key", { revokedAtMs: 1_700_000_000_000 });
  await embedded.addKeyRequest({
    id: "r1",
    name: "Ada",
    email: "ada@example.org",
    purpose: "notes",
    tier: "pro",
    createdAtMs: 1,
    status: "open",
    decidedAtMs: null,
    keyId: null,
  });
  await embedded.write({ ...write("demo", [[0, "public"]]), account: "@demo" });
  await embedded.changeStrict("acme", true);
  await embedded.changeStrict("default", true);
  const terms = { description: "x", example: "", oneOf: null, maxBytes: null, ttlS: null, scope: null };
  await embedded.addLabel("default", { label: "FAMILY.wife", ...terms, hidden: false, createdAtMs: 1 });
  await embedded.close();

  const steps = { copied: 0, compared: 0 };
  const report = await moveData(config("first"), "into the database", (phase) => {
    steps[phase] += 1;
  });
  assert.deepEqual(report, { keys: 2, users: USERS, facts: 2 * USERS, leftOut: [], differences: [] });
  assert.deepEqual(steps, { copied: USERS, compared: USERS });
  const back = await moveData(config("second"), "out of the database", () => {});
  assert.deepEqual(back, { keys: 2, users: USERS, facts: 2 * USERS, leftOut: [], differences: [] });

  const [database, second] = [await openStore(url), await openFolder(join(root, "second"))];
  assert.equal(await database.readUsage("free-key", "2026-11"), USERS);
  assert.equal(await second.readUsage("big-key", "2026-11"), USERS);
  const user = "free-key/user 7 🧠";
  assert.equal((await second.readFact(viewOf(user), "PROJ.status"))?.updatedAtMs, 1_700_000_000_007);
  for (const store of [database, second]) {
    for (const account of ["acme", "default"]) assert.equal(await store.readStrict(account), true, account);
    assert.equal((await store.readLabels("default"))[0].label, "FAMILY.wife");
  }
  // One fact differs, one user is missing, one is too many; an account is not strict any more.
  await second.changeStrict("acme", false);
  await second.write(write(user, [[30, "another value"]]));
  await second.forgetUser("acme", "big-key/user 1 🧠");
  await database.write(write("stranger", [[0, "x"]]));
  const { differences } = await compareStores(database, second, { nowMs: 0, step: () => {} });
  assert.deepEqual([...differences].sort(), [
    "strict account acme",
    `the number of users: ${USERS + 1} and ${USERS - 1}`,
    "user big-key/user 1 🧠 of account acme",
    `user ${user} of account acme`,
    "user stranger of account acme",
  ]);
  await database.close();
  await second.close();
  await assert.rejects(
    moveData(config("first"), "into the database", () => {}),
    /holds keys or users already/,
  );
});

test("move: another master key than the database's nodes use is refused", async (t) => {
  const root = temporaryFolder(t);
  const url = await newEmptyDatabase();
  const config = (folder: string, masterKey: string) =>
    readConfig({
      SIDEBAND_DATABASE_URL: url,
      SIDEBAND_DATA: join(root, folder),
      SIDEBAND_MASTER_KEY: masterKey.repeat(32),
    });
  await (await openFolder(join(root, "first"))).close();
  await moveData(config("first", "ab"), "into the database", () => {});
  await assert.rejects(
    moveData(config("second", "cd"), "out of the database", () => {}),
    /master key 1 is not the one/,
  );
  assert.ok(!existsSync(join(root, "second")));
});
