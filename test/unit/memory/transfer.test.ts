/** Export and import: what comes through unchanged, and which lines are refused. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CHANNELS } from "../../../src/base/channels.ts";
import { noStep } from "../../../src/base/steps.ts";
import { DEMO_ACCOUNT } from "../../../src/memory/demo.ts";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { rollBack } from "../../../src/memory/history.ts";
import type { Store } from "../../../src/memory/ports.ts";
import { importLines, lineImporter } from "../../../src/memory/transfer.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { caller, memoryServices, NEW_LABEL, temporaryStore } from "./memory-services.ts";
import {
  exported,
  FACT,
  IMPORT_MS,
  importInto,
  KEY,
  key,
  label,
  linesOf,
  REQUEST,
  request,
  USER,
} from "./transfer-lines.ts";

const write = (
  store: Store,
  account: string,
  userId: string,
  channel: number,
  value: string,
  nowMs: number,
) => store.write({ ...viewOf(userId, account, { nowMs }), changes: changesOf([[channel, value]]) });

/** A store with a key and two users of two accounts; the higher channel was written first. */
async function filledStore(context: TestContext): Promise<Store> {
  const store = await temporaryStore(context);
  await store.addKey(KEY);
  await write(store, "acme", "ada", 9, "English\u00a0😀", Date.parse("2026-11-15T12:00:00Z"));
  await write(store, "acme", "ada", 0, "Ada", Date.parse("2026-11-15T13:00:00Z"));
  await write(store, "globex", "eve", 0, "Eve", Date.parse("2026-11-15T14:00:00Z"));
  return store;
}

const NONE_LEFT = { keys: 0, requests: 0, settings: 0, users: 0 };
const NO_MORE = { keys: 0, requests: 0, leftOut: [], labelsAdded: [], notTaken: NONE_LEFT };

test("what is exported and imported is exported the same again", async (context) => {
  const lines = await exported(await filledStore(context));
  const copy = await temporaryStore(context);
  assert.deepEqual(await importInto(copy, ...lines), { ...NO_MORE, lines: 3, facts: 3, keys: 1 });
  assert.deepEqual(await exported(copy), lines);
});

test("a key's rights and an account's limit come through; a limit that is there stays, and without keys none comes", async (context) => {
  const store = await filledStore(context);
  const bound = { ...KEY, id: "b".repeat(16), hash: "b".repeat(64), groups: "LANG", write: "LANG.*" };
  await store.addKey(bound);
  await store.changeAccount("acme", 500, "2026-11");
  const lines = await exported(store);
  const copy = await temporaryStore(context);
  await importInto(copy, ...lines);
  assert.deepEqual(await exported(copy), lines);
  assert.deepEqual(await copy.readKey(bound.id), bound);
  assert.equal((await copy.readAccount("acme"))?.monthlyLimit, 500);
  await copy.changeAccount("acme", 7, "2026-11");
  await importInto(copy, ...lines);
  assert.equal((await copy.readAccount("acme"))?.monthlyLimit, 7);
  const other = await temporaryStore(context);
  const accountLine = lines.filter((line) => JSON.stringify(line).includes('"kind":"account"'));
  const { leftOut } = await importInto(other, ...accountLine);
  assert.match(leftOut[0], /the limit of account acme: it has no key/);
});

test("what keys have used and requests for keys are exported, and an import may be repeated", async (context) => {
  const store = await filledStore(context);
  await store.raiseUsage(KEY, [
    { day: "2026-10-31", count: 2 },
    { day: "2026-11-15", count: 3 },
  ]);
  const decided = { ...REQUEST, id: "request2", status: "approved", decidedAtMs: 6, keyId: "key1" } as const;
  for (const asked of [REQUEST, decided]) await store.addKeyRequest(asked);
  const lines = await exported(store);
  const copy = await temporaryStore(context);
  await importInto(copy, ...lines);
  assert.equal(await copy.readUsage("key1", "2026-11"), 3);
  await copy.decideKeyRequest("request1", { status: "declined", decidedAtMs: 7, keyId: null });
  await copy.raiseUsage(KEY, [{ day: "2026-11-16", count: 4 }]);
  assert.deepEqual((await importInto(copy, ...lines)).leftOut, []);
  assert.equal(await copy.readUsage("key1", "2026-11"), 7);
  assert.deepEqual(rowsOf(await copy.listKeyRequests(), "id", "status"), [
    ["request1", "declined"],
    ["request2", "approved"],
  ]);
  assert.ok(!JSON.stringify(await exported(store, "acme")).includes("grace"));
});

test("an import of less use than was counted meanwhile takes none of it away", async (context) => {
  const store = await filledStore(context);
  await store.raiseUsage(KEY, [{ day: "2026-11-15", count: 3 }]);
  const lines = await exported(store);
  await store.raiseUsage(KEY, [{ day: "2026-11-15", count: 7 }]);
  await importInto(store, ...lines);
  assert.equal(await store.readUsage("key1", "2026-11"), 7);
});

test("a request for a key that comes twice in a file is one, and no fact", async (context) => {
  const store = await temporaryStore(context);
  const report = await importInto(store, request({}), request({}));
  assert.deepEqual(report, { ...NO_MORE, lines: 2, facts: 0, requests: 1 });
  assert.equal((await store.listKeyRequests()).length, 1);
});

test("what is changed while an import is under way stays as it was changed", async (context) => {
  const store = await temporaryStore(context);
  await store.addKey(KEY);
  const importLine = lineImporter(store, { nowMs: IMPORT_MS, withKeys: true });
  const importOf = (line: unknown) => importLine(JSON.stringify(line));
  const shared = { project: "loom", createdAtMs: 1 };
  const open = { ...shared, members: null, access: "write" };
  const use = { ...key({}), usage: [{ day: "2026-11-03", count: 7 }] };
  await importOf(request({ id: "other" }));
  await Promise.all([
    store.changeProject("acme", { ...shared, members: ["ada"], access: "read" }),
    importOf({ kind: "project", account: "acme", project: open }),
    store.changeAccount("acme", 7, "2026-11"),
    importOf({ kind: "account", account: "acme", monthlyLimit: 500 }),
    importOf(use),
    importOf(use),
    store.addKeyRequest({ ...REQUEST, status: "declined", decidedAtMs: 6 }),
  ]);
  await importOf(request({}));
  assert.deepEqual(await store.readProjects("acme"), [{ ...shared, members: ["ada"], access: "read" }]);
  assert.equal((await store.readAccount("acme"))?.monthlyLimit, 7);
  assert.deepEqual(await store.readDailyUsage("key1", "2026-01-01", "2026-12-31"), use.usage);
  assert.deepEqual(rowsOf(await store.listKeyRequests(), "id", "status"), [
    ["other", "open"],
    ["request1", "declined"],
  ]);
});

test("what is no fault of a line comes through as it is", async (context) => {
  const store = await temporaryStore(context);
  const fault = new TypeError("a mistake of ours");
  context.mock.method(store, "write", () => Promise.reject(fault));
  await assert.rejects(importInto(store, USER), (error) => error === fault);
});

test("a user with a fact on every channel, the first from the beginning of 1970, is imported", async (context) => {
  const store = await temporaryStore(context);
  const facts = CHANNELS.map(({ label }, revision) => ({
    ...FACT,
    label,
    revision,
    updated_at: new Date(revision).toISOString(),
  }));
  assert.equal((await importInto(store, { ...USER, facts })).facts, 40);
  assert.equal((await store.readFact(viewOf("ada"), "USER.name"))?.updatedAtMs, 0);
});

test("a request that breaks today's rules is left out and reported", async (context) => {
  const store = await temporaryStore(context);
  const { leftOut } = await importInto(store, request({ name: "Gr\u0000ace" }), request({ id: "request2" }));
  assert.match(leftOut.join(), /^line 1: the request request1 for a key: name/);
  assert.deepEqual(fieldsOf(await store.listKeyRequests(), "id"), ["request2"]);
});

test("an export after a way back that only forgot, on a day without encodes, is imported", async (context) => {
  const { services, store, clock } = await memoryServices(context, "2026-11-15T12:00:00Z");
  await store.addKey(KEY);
  const facts = [{ label: "USER.name", value: "Ada" }];
  await encodeFacts(services, caller, { userId: "ada", facts, operation: "encode" });
  clock.advance(86_400_000);
  await rollBack(services, caller, { userId: "ada", toMs: Date.parse("2026-11-15T11:00:00Z") });
  const other = await temporaryStore(context);
  assert.deepEqual((await importInto(other, ...(await exported(store)))).leftOut, []);
  assert.equal(await other.readUsage(KEY.id, "2026-11"), 1);
});

test("a user's line has the facts in the form of GET /facts", async (context) => {
  const lines = await exported(await filledStore(context), "globex");
  const updated_at = "2026-11-15T14:00:00.000Z";
  assert.deepEqual(lines, [
    { kind: "user", account: "globex", user_id: "eve", facts: [{ ...FACT, value: "Eve", updated_at }] },
  ]);
});

test("an export of one account holds nothing of another", async (context) => {
  const lines = (await exported(await filledStore(context), "acme")) as { kind: string; user_id?: string }[];
  assert.deepEqual(rowsOf(lines, "kind", "user_id"), [
    ["key", undefined],
    ["user", "ada"],
  ]);
});

test("a user that is forgotten during the export is not in it", async (context) => {
  const store = await filledStore(context);
  for (const life of [undefined, { stamp: "", facts: [], earlier: [] }]) {
    const { mock } = context.mock.method(store, "readLife", async () => life);
    assert.equal((await exported(store)).length, 1);
    mock.restore();
  }
});

test("the demo is not exported", async (context) => {
  const store = await temporaryStore(context);
  await write(store, DEMO_ACCOUNT, "demo", 0, "Ada", 0);
  assert.deepEqual(await exported(store), []);
});

test("earlier values come through of places with facts and of places without", async (context) => {
  const store = await temporaryStore(context);
  const at = (place: string, value: string | null) =>
    store.write({
      ...viewOf("ada", "acme", { nowMs: Date.parse("2026-11-15T12:00:00Z") }),
      changes: [{ place, label: "USER.name", value, keepHistory: true }],
    });
  for (const place of ["anvil", "loom"]) for (const value of ["Ada", "Grace"]) await at(place, value);
  await at("anvil", null);
  const copy = await temporaryStore(context);
  await importInto(copy, ...(await exported(store)));
  const { earlier } = (await copy.readLife("acme", "ada", { nowMs: IMPORT_MS }))!;
  assert.deepEqual(rowsOf(earlier, "place", "value"), [
    ["anvil", "Ada"],
    ["anvil", "Grace"],
    ["loom", "Ada"],
  ]);
});

test("what has expired stays so where the clock of the import is behind", async (context) => {
  const store = await temporaryStore(context);
  const [ended, ended_at] = ["expired", new Date(IMPORT_MS + 60_000).toISOString()];
  await importInto(store, key({}), { ...USER, facts: [], earlier: [{ ...FACT, ended, ended_at }] });
  const { facts, earlier } = (await store.readLife("acme", "ada", { nowMs: IMPORT_MS }))!;
  assert.deepEqual(facts, []);
  assert.deepEqual(rowsOf(earlier, "value", "ended", "endedAtMs"), [["Ada", "expired", IMPORT_MS + 60_000]]);
});

test("without its keys, an import takes facts of accounts that are there, and counts the rest", async (context) => {
  const store = await temporaryStore(context);
  await store.addKey(KEY);
  const setting = {
    ...label("acme"),
    label: { ...label("acme").label, channel: 4, label: "USER.os", hidden: true },
  };
  const unlimited = { ...KEY, id: "key2", hash: "cd".repeat(32), account: "globex", tier: "unlimited" };
  const lines = [
    { kind: "key", key: unlimited },
    // What is not taken need not be sound.
    { kind: "key", key: { ...unlimited, prefix: "\u001b[2J" } },
    request({}),
    setting,
    label("acme"),
    label("globex"),
    USER,
    { ...USER, account: "globex" },
    { ...USER, account: "default" },
  ];
  const options = { nowMs: IMPORT_MS, atStep: noStep };
  assert.deepEqual(await importLines(store, linesOf(...lines), options), {
    ...NO_MORE,
    lines: 9,
    facts: 2,
    labelsAdded: [NEW_LABEL.label],
    notTaken: { keys: 2, requests: 1, settings: 2, users: 1 },
  });
  assert.deepEqual(await store.listKeys(), [KEY]);
  assert.deepEqual(await store.listKeyRequests(), []);
  assert.deepEqual(fieldsOf(await store.readLabels("acme"), "label"), [NEW_LABEL.label]);
  assert.equal(await store.readUser(viewOf("ada", "globex")), undefined);
});

test("of a key, a request and their files only what is known of them is stored", async (context) => {
  const store = await temporaryStore(context);
  await importInto(store, key({ admin: true }), request({ admin: true }));
  assert.deepEqual([await store.listKeys(), await store.listKeyRequests()], [[KEY], [REQUEST]]);
});

test("a key keeps its groups and what it may write, and what an application was allowed goes on in another store", async (context) => {
  const store = await temporaryStore(context);
  const grant = {
    keyId: "key1",
    resource: "https://memory.example/mcp",
    client: "c".repeat(64),
    returnsTo: "app.example",
    refreshes: 2,
    recentMs: [4, 5],
  };
  const limited = { ...KEY, groups: "PREF,USER", write: "PREF.*" };
  const granted = { ...KEY, id: "grant1", hash: "cd".repeat(32), user: "ada", prefix: "sba_", grant };
  const unused = { ...granted, id: "grant2", hash: "ef".repeat(32) };
  const notBegun = { ...unused, grant: { ...grant, refreshes: -1, recentMs: [] } };
  await importInto(store, key(limited), key(granted), key(notBegun));
  assert.deepEqual(await store.listKeys(), [granted, notBegun, limited]);
  for (const wrong of [
    { ...granted, user: null },
    { ...granted, prefix: KEY.prefix },
    { ...granted, grant: { ...grant, client: "x" } },
    { ...granted, grant: { ...grant, refreshes: 1 } },
    { ...granted, grant: { ...grant, refreshes: -2, recentMs: [] } },
    { ...notBegun, grant: { ...notBegun.grant, recentMs: [4] } },
    { ...granted, grant: { ...grant, recentMs: ["x"] } },
    { ...granted, grant: null },
  ])
    await assert.rejects(importInto(store, { kind: "key", key: wrong }), /line 1/i, JSON.stringify(wrong));
});

test("a key that is known already stays as it is", async (context) => {
  const store = await filledStore(context);
  await importInto(store, { kind: "key", key: { ...KEY, tier: "unlimited" } });
  assert.deepEqual(await store.readKey("key1"), KEY);
});

test("a key with another key's id is left out and reported, and the other stays as it is", async (context) => {
  const store = await filledStore(context);
  const foreign = { ...KEY, account: "eve", hash: "cd".repeat(32) };
  const { leftOut } = await importInto(store, USER, { kind: "key", key: foreign });
  assert.deepEqual(leftOut, ["line 2: the key key1 of account eve: another key has this id"]);
  assert.deepEqual(await store.listKeys(), [KEY]);
  assert.equal(await store.findKey(foreign.hash), undefined);
});

test("of two keys with one id in a file, one is imported and the other is reported", async (context) => {
  const store = await temporaryStore(context);
  const lines = ["ab", "cd"].map((byte) => ({ kind: "key", key: { ...KEY, hash: byte.repeat(32) } }));
  const { leftOut } = await importInto(store, ...lines, ...lines);
  assert.equal((await store.listKeys()).length, 1);
  assert.equal(new Set(leftOut.map((what) => what.replace(/^line \d+: /, ""))).size, 1);
  assert.equal(leftOut.length, 2);
});

test("a key with the first and the last time that a store holds is imported", async (context) => {
  const store = await temporaryStore(context);
  const extreme = { ...KEY, createdAtMs: 0, expiresAtMs: 2 ** 48 - 1 };
  await importInto(store, { kind: "key", key: extreme });
  assert.deepEqual(await store.listKeys(), [extreme]);
});

test("empty lines are passed over, and count as lines", async (context) => {
  const store = await temporaryStore(context);
  assert.deepEqual(await importInto(store, "", USER, " "), { lines: 3, facts: 1, ...NO_MORE });
});

test("a user without facts is imported as nothing", async (context) => {
  const store = await temporaryStore(context);
  assert.deepEqual(await importInto(store, { ...USER, facts: [] }), { lines: 1, facts: 0, ...NO_MORE });
  assert.equal((await store.statistics()).users, 0);
});

test("more lines than a page are imported, each page at its step", async (context) => {
  const store = await temporaryStore(context);
  const users = Array.from({ length: 300 }, (_, i) => ({ ...USER, user_id: `user ${i}` }));
  const steps: string[] = [];
  const atStep = (step: string) => void steps.push(step);
  const report = await importLines(store, linesOf(...users), { nowMs: IMPORT_MS, atStep, withKeys: true });
  assert.deepEqual(report, { lines: 300, facts: 300, ...NO_MORE });
  assert.equal((await store.statistics()).users, 300);
  assert.deepEqual(steps, ["import: page written", "import: page written"]);
});
