/** Receipts of erasures: what they count, that only their service makes them, and that every change of one is noticed. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Receipts } from "../../src/memory/receipts.ts";
import { endAfter } from "../fixtures/ends.ts";
import { sharedRunning, startPortless } from "./running-service.ts";

const running = sharedRunning(startPortless);

async function write(user_id: string, label: string, value: string, more: object = {}): Promise<void> {
  const body = { user_id, label, value, new_label: true, ...more };
  assert.equal((await running.call("POST", "/encode", { body })).status, 200);
}

const erase = (query: string) => running.call("DELETE", `/users?${query}`);
const isGenuine = (receipt: object) => {
  const {
    user_id: userId,
    keys_left: keysLeft,
    erased_at,
    tokens_until,
    backups_until,
    ...rest
  } = receipt as Record<string, never>;
  const { memory } = running.service.core;
  const times = {
    erasedAtMs: Date.parse(erased_at),
    tokensUntilMs: Date.parse(tokens_until),
    backupsUntilMs: backups_until === null ? null : Date.parse(backups_until),
  };
  return new Receipts(memory.keyRing, null).isGenuine({ ...rest, userId, keysLeft, ...times } as never);
};

/** An erasure takes less than one. */
const secondsBetween = (from: string, to: string) => Math.floor((Date.parse(to) - Date.parse(from)) / 1_000);

test("a receipt has what was there, of all places, and a second erasure has none", async () => {
  const bound = { account: "acme", tier: "unlimited", user: "ada" } as const;
  await running.service.core.keys.create(bound);
  await write("ada", "USER.name", "Ada");
  await write("ada", "USER.name", "Ada Lovelace");
  await write("ada", "PETS.dog", "Rex");
  await write("ada", "PROJ.repo", "loom.git", { project: "loom" });
  await write("ada", "TASK.current", "weave", { project: "loom/spike" });
  const kept = "/facts?user_id=ada&label=PETS.dog&keep_history=true";
  assert.equal((await running.call("DELETE", kept)).status, 200);
  const part = (await erase("user_id=ada&project=loom&details=true")).json.receipt;
  const countsOf = ({ facts, earlier, labels, places, connections, keys_left }: Record<string, number>) => [
    ...[facts, earlier, labels, places],
    ...[connections, keys_left],
  ];
  assert.equal(part.project, "loom");
  assert.deepEqual(countsOf(part), [2, 0, 2, 2, 0, 0]);
  const { status, receipt } = (await erase("user_id=ada&details=true")).json;
  assert.equal(status, "ok");
  const { account, user_id, project } = receipt;
  assert.deepEqual([account, user_id, project], ["acme", "ada", null]);
  // The first value of USER.name, and that of PETS.dog, which was forgotten with its history kept.
  assert.deepEqual(countsOf(receipt), [1, 2, 2, 1, 0, 1]);
  assert.equal(secondsBetween(receipt.erased_at, receipt.tokens_until), 86_400);
  assert.equal(receipt.backups_until, null);
  assert.equal(isGenuine(receipt), true);
  assert.equal((await erase("user_id=ada&details=true")).status, 404);
});

test("what is written while the rest of an erasure is done is not said to be erased, and what it leaves is counted from its end", async (context) => {
  const time = { aheadMs: 0 };
  const clock = { now: () => Date.now() + time.aheadMs };
  const other = endAfter(context, await startPortless({}, undefined, { clock }));
  const encode = (value: string) =>
    other.call("POST", "/encode", { body: { user_id: "fay", label: "USER.name", value } });
  await encode("Fay");
  const { store } = other.service.core.memory;
  const forget = store.forgetUser;
  context.mock.method(store, "forgetUser", async (...given: Parameters<typeof forget>) => {
    const erased = await forget.apply(store, given);
    time.aheadMs += 5_000;
    await encode("Fay again");
    time.aheadMs += 5_000;
    return erased;
  });
  const begunMs = clock.now();
  const { receipt } = (await other.call("DELETE", "/users?user_id=fay&details=true")).json;
  assert.equal((await other.call("GET", "/decode?user_id=fay&label=USER.name")).json.value, "Fay again");
  assert.equal(secondsBetween(new Date(begunMs).toISOString(), receipt.erased_at), 0);
  assert.equal(secondsBetween(receipt.erased_at, receipt.tokens_until), 86_410);
});

test("without details the answer is that of the interface", async () => {
  await write("eve", "USER.name", "Eve");
  assert.equal((await erase("user_id=eve")).text, '{"status":"ok"}');
});

test("a receipt in which anything was changed is not genuine, nor one of another service", async () => {
  await write("bea", "USER.name", "Bea");
  const { receipt } = (await erase("user_id=bea&details=true")).json;
  assert.equal(isGenuine(receipt), true);
  for (const change of [
    { account: "globex" },
    { user_id: "bob" },
    { project: "loom" },
    { facts: 2 },
    { labels: 0 },
    { places: 2 },
    { earlier: 1 },
    { connections: 1 },
    { keys_left: 1 },
    { erased_at: "2026-01-01T00:00:00.000Z" },
    { tokens_until: receipt.erased_at },
    { backups_until: receipt.erased_at },
    { signature: receipt.signature.replace(/^./, (c: string) => (c === "A" ? "B" : "A")) },
    { signature: "" },
  ])
    assert.equal(isGenuine({ ...receipt, ...change }), false, JSON.stringify(change));
  assert.equal(isGenuine({ ...receipt, key: 250 }), undefined, "a master key that is not here");
});

test("a service that makes backups says until when they are kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sideband-backups-"));
  const other = await startPortless({
    SIDEBAND_BACKUP_DIR: folder,
    SIDEBAND_BACKUP_EVERY_H: "12",
    SIDEBAND_BACKUP_KEEP: "4",
  });
  try {
    const body = { user_id: "ada", label: "USER.name", value: "Ada" };
    await other.call("POST", "/encode", { body });
    const { receipt } = (await other.call("DELETE", "/users?user_id=ada&details=true")).json;
    assert.equal(secondsBetween(receipt.erased_at, receipt.backups_until), 48 * 3_600);
  } finally {
    await other.end();
    rmSync(folder, { recursive: true });
  }
});
