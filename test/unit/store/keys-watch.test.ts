/** A node's copy of the keys' version on a database whose notices and polls do not arrive. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Authentication } from "../../../src/memory/authentication.ts";
import { hashOfKey, newApiKey } from "../../../src/memory/key-format.ts";
import type { KeyStore } from "../../../src/memory/ports.ts";
import { Tokens } from "../../../src/memory/tokens.ts";
import type { Database } from "../../../src/store/postgres/connection/database.ts";
import { KeysWatch } from "../../../src/store/postgres/queries/keys-watch.ts";
import { keyRecord } from "../../conformance/store-under-test.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";

/** Answers every query with its version, unless it is away, and never notifies by itself. */
class SilentDatabase {
  version = 1;
  notify: (() => void) | undefined;
  away = false;
  /** Called after the database has read its version, before the answer arrives. */
  beforeAnswer = () => {};

  async read(): Promise<number> {
    if (this.away) throw new Error("away");
    const { version } = this;
    this.beforeAnswer();
    return version;
  }

  async listen(_channel: string, notify: () => void): Promise<void> {
    this.notify = notify;
  }
}

async function startWatch(context: TestContext, listens = true) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const database = new SilentDatabase();
  const clock = new FakeClock(100_000);
  const watch = new KeysWatch(database as unknown as Database, clock);
  await watch.start(listens);
  return { database, clock, watch };
}

test("keys watch: a version is known without asking for four seconds", async (context) => {
  const { clock, watch } = await startWatch(context);
  assert.equal(watch.version(), 1);
  clock.advance(3_999);
  assert.equal(watch.version(), 1);
  clock.advance(1);
  assert.ok(watch.version() instanceof Promise);
});

test("keys watch: a notice and a poll bring a new version, and neither minds a database that is away", async (context) => {
  const { database, watch } = await startWatch(context);
  database.version = 2;
  database.notify?.();
  await setImmediate();
  assert.equal(watch.version(), 2);
  database.version = 3;
  context.mock.timers.tick(500);
  await setImmediate();
  assert.equal(watch.version(), 3);
  database.away = true;
  database.notify?.();
  context.mock.timers.tick(500);
  await setImmediate();
  assert.equal(watch.version(), 3);
});

test("keys watch: on a standby nothing is listened to, for it has no notices", async (context) => {
  const { database, watch } = await startWatch(context, false);
  assert.deepEqual([database.notify, watch.version()], [undefined, 1]);
});

test("keys watch: without notices and polls, a revocation holds within five seconds", async (context) => {
  const { database, clock, watch } = await startWatch(context);
  const key = newApiKey();
  let record = { ...keyRecord("key1"), hash: hashOfKey(key) };
  const keys = {
    keysVersion: () => watch.version(),
    findKey: () => record,
    readAccount: () => undefined,
  } as unknown as KeyStore;
  const node = new Authentication(keys, clock, new Tokens([new Uint8Array(32)]));
  assert.equal((await node.callerOf(key)).keyId, "key1");
  record = { ...record, revokedAtMs: 1 };
  database.version = 2;
  clock.advance(5_000);
  await assert.rejects(async () => node.callerOf(key), { code: "key_revoked" });
});

test("keys watch: a version that the database cannot confirm is not used for longer than five seconds", async (context) => {
  const { database, clock, watch } = await startWatch(context);
  database.away = true;
  clock.advance(5_000);
  await assert.rejects(async () => watch.version(), /away/);
});

test("keys watch: a slow answer counts from the moment of asking", async (context) => {
  const { database, clock, watch } = await startWatch(context);
  clock.advance(5_000);
  database.beforeAnswer = () => {
    database.beforeAnswer = () => {};
    database.version = 2;
    clock.advance(4_500);
  };
  assert.equal(await watch.version(), 1);
  clock.advance(500);
  assert.equal(await watch.version(), 2, "five seconds after the change");
});

test("keys watch: an older answer that arrives late does not bring the old version back", async (context) => {
  const { clock, watch } = await startWatch(context);
  watch.note(7);
  clock.advance(5_000);
  assert.equal(await watch.version(), 7);
});
