/** Moving to another store: everything comes over, and every difference is found. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Audit } from "../../../src/memory/audit.ts";
import { DEMO_ACCOUNT } from "../../../src/memory/demo.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import { compareStores, moveStore } from "../../../src/memory/move.ts";
import type { Store } from "../../../src/memory/ports.ts";
import type { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import { changesOf, labelAt, viewOf } from "../../fixtures/views.ts";
import { NEW_LABEL, temporaryStore } from "./memory-services.ts";
import { KEY as LINE_KEY, REQUEST as LINE_REQUEST } from "./transfer-lines.ts";

const KEY = { ...LINE_KEY, expiresAtMs: null, revokedAtMs: 2 };
const REQUEST = { ...LINE_REQUEST, status: "declined", decidedAtMs: 5 } as const;
const USED = { keyId: "key1", month: "2026-11", day: "2026-11-30", limit: null };
const MASTER = new KeyRing([{ id: 1, material: new Uint8Array(32) }]);
const LATER_MS = Date.parse("2027-01-01T00:00:00Z");

const write = (store: Store, userId: string, facts: readonly (readonly [number, string])[], nowMs: number) =>
  store.write({
    ...viewOf(userId, "acme", { nowMs }),
    changes: changesOf(facts),
    quota: USED,
  });

const move = (from: Store, to: Store) => moveStore(from, to, { nowMs: LATER_MS, step: () => {} });

async function filledStore(context: TestContext): Promise<LmdbStore> {
  const from = await temporaryStore(context);
  await from.addKey(KEY);
  await from.addKeyRequest(REQUEST);
  const facts = [
    [9, "English"],
    [0, "Ada"],
  ] as const;
  await write(from, "ada", facts, 1000);
  await write(from, "eve", [[0, "Eve"]], 2000);
  await from.write({
    ...viewOf("demo", DEMO_ACCOUNT, { nowMs: 3000 }),
    changes: changesOf([[0, "x"]]),
  });
  return from;
}

/** A store and its copy, and what is found different after a change of the copy. */
async function setUp(context: TestContext) {
  const from = await filledStore(context);
  const to = await temporaryStore(context);
  const report = await move(from, to);
  const differences = async () =>
    (await compareStores(from, to, { nowMs: LATER_MS, step: () => {} })).differences;
  return { from, to, report, differences };
}

test("everything but the demo is copied, and nothing differs", async (context) => {
  const { to, report } = await setUp(context);
  assert.deepEqual(report, { keys: 1, users: 2, facts: 3, leftOut: [], differences: [] });
  assert.deepEqual(await to.listKeys(), [KEY]);
  assert.deepEqual(await to.listKeyRequests(), [REQUEST]);
  assert.equal(to.readUser(viewOf("demo", DEMO_ACCOUNT)), undefined);
  const { facts } = (await to.readUser(viewOf("ada")))!;
  assert.deepEqual(rowsOf(facts, "label", "value", "updatedAtMs"), [
    ["USER.language", "English", 1000],
    ["USER.name", "Ada", 1000],
  ]);
});

test("values that were written after the clock was set back come over in the order of their writing", async (context) => {
  const from = await temporaryStore(context);
  const to = await temporaryStore(context);
  const change = (number: number, value: string, nowMs: number, expiresAtMs: number | null = null) =>
    from.write({
      ...viewOf("ada", "acme", { nowMs }),
      changes: [{ place: "", label: labelAt(number), value, expiresAtMs }],
    });
  // A value that was replaced before its time, and one that ended after the next began.
  await change(0, "old", 10_000);
  await change(0, "new", 9_000);
  await change(1, "short", 9_000, 10_000);
  await from.sweep(10_000);
  await change(1, "lasting", 8_000);
  // The same value again, before the moment at which it replaced another.
  await change(2, "a", 8_000);
  await change(2, "b", 9_000);
  await change(2, "b", 8_500);
  assert.deepEqual((await move(from, to)).differences, []);
  const state = await to.readUser(viewOf("ada", "acme", { nowMs: LATER_MS }));
  assert.deepEqual(fieldsOf(state?.facts, "value"), ["b", "new", "lasting"]);
});

test("what a key has used comes over, by day and by month", async (context) => {
  const { to } = await setUp(context);
  const days = await to.readDailyUsage("key1", "0000-01-01", "9999-12-31");
  assert.deepEqual(days, [{ day: "2026-11-30", count: 3 }]);
  assert.equal(to.readUsage("key1", "2026-11"), 3);
});

test("the audit comes over with its names, and an entry that the copy lacks is found", async (context) => {
  const from = await filledStore(context);
  const to = await temporaryStore(context);
  const audit = new Audit({ store: from, keyRing: MASTER, clock: { now: () => LATER_MS } });
  const note = audit.note("addLabel", { address: "", requestId: "1" }, { account: "acme", user: "ada" });
  await from.audit.add(note);
  assert.deepEqual((await move(from, to)).differences, []);
  assert.deepEqual(await to.audit.read({ sinceMs: 0, before: { atMs: LATER_MS + 1 }, limit: 9 }), [note]);
  const other = audit.note("changeStrict", { address: "", requestId: "2" }, { account: "acme" });
  await from.audit.add(other);
  const { differences } = await compareStores(from, to, { nowMs: LATER_MS, step: () => {} });
  assert.deepEqual(differences, [`the entry ${other.entry.id} of the audit, changeStrict`]);
});

test("a label that a person has made and the account has declared since comes over as the account's", async (context) => {
  const [from, to] = [await temporaryStore(context), await temporaryStore(context)];
  const made = (label: string, description: string) => ({
    ...{ place: "", label, value: "Rex" },
    free: { make: true, description },
  });
  const changes = [made("PET.name", "The dog."), made("PET.food", "What it eats.")];
  await from.write({ ...viewOf("ada", "acme", { nowMs: 1000 }), changes });
  await from.addLabel("acme", { ...NEW_LABEL, label: "PET.name", createdAtMs: 2000 });
  assert.deepEqual((await move(from, to)).differences, []);
  await to.write({ ...viewOf("ada", "acme", { nowMs: 3000 }), changes: [made("PET.food", "Its food.")] });
  const { differences } = await compareStores(from, to, { nowMs: LATER_MS, step: () => {} });
  assert.ok(differences.includes("the labels of user ada of account acme"), `${differences}`);
});

test("each user is told when copied and when compared", async (context) => {
  const [from, to] = [await filledStore(context), await temporaryStore(context)];
  await from.addKey({ ...KEY, id: "key2", hash: "cd".repeat(32) });
  const steps: string[] = [];
  await moveStore(from, to, { nowMs: LATER_MS, step: (phase) => void steps.push(phase) });
  assert.deepEqual(steps, ["copied", "copied", "compared", "compared"]);
});

test("a user that is forgotten during the comparison of both stores is no difference", async (context) => {
  const { from, to } = await setUp(context);
  context.mock.method(from, "readLife", async () => undefined);
  context.mock.method(to, "readLife", async () => undefined);
  const { facts, differences } = await compareStores(from, to, { nowMs: LATER_MS, step: () => {} });
  assert.deepEqual([facts, differences], [0, []]);
});

test("a write that fails while the next user is being read ends the move with its error", async (context) => {
  const [from, to] = [await filledStore(context), await temporaryStore(context)];
  const readLife = from.readLife.bind(from);
  // As from a database: the answer takes a while.
  context.mock.method(from, "readLife", async (...args: Parameters<Store["readLife"]>) => {
    await setImmediate();
    return readLife(...args);
  });
  context.mock.method(to, "addKey", async () => {
    throw new Error("the disk is full");
  });
  await assert.rejects(move(from, to), { message: "the disk is full" });
});

test("of more than 100 differences the first are told, and the demo of the copy is none", async (context) => {
  const { from, to, differences } = await setUp(context);
  await to.write({ ...viewOf("demo", DEMO_ACCOUNT), changes: changesOf([[0, "y"]]) });
  assert.deepEqual(await differences(), []);
  await Promise.all(Array.from({ length: 102 }, (_, i) => write(from, `user ${i}`, [[0, "Eve"]], 0)));
  assert.equal((await differences()).length, 100);
});

test("a store that holds a user or a key already is not copied into", async (context) => {
  const from = await filledStore(context);
  const [withUser, withKey] = [await temporaryStore(context), await temporaryStore(context)];
  await write(withUser, "bob", [[0, "Bob"]], 0);
  await withKey.addKey({ ...KEY, id: "key2", hash: "cd".repeat(32) });
  for (const to of [withUser, withKey]) {
    await assert.rejects(move(from, to), { code: "conflict" });
    assert.equal(to.readUser(viewOf("ada")), undefined);
  }
});

test("a request for a key that breaks today's rules is left out and named, and the rest is copied", async (context) => {
  const [from, to] = [await filledStore(context), await temporaryStore(context)];
  await from.addKeyRequest({ ...REQUEST, id: "old1", name: "A\u0000da" });
  await from.addKeyRequest({ ...REQUEST, id: "old2", email: "ada@localhost" });
  const { users, leftOut, differences } = await move(from, to);
  assert.deepEqual([users, differences], [2, []]);
  assert.deepEqual(leftOut, [
    "the request old1 for a key: name must not contain control characters (U+0000 to U+001F, U+007F to U+009F, U+2028, U+2029)",
    "the request old2 for a key: email must have an @ and a dot behind it",
  ]);
  assert.deepEqual(await to.listKeyRequests(), [REQUEST]);
});

type Change = (to: LmdbStore) => Promise<unknown>;

/** Writes a user's facts anew, in this order. They count for no key. */
const rewrite =
  (userId: string, ...facts: [number: number, value: string, updatedAtMs: number][]): Change =>
  async (to) => {
    await to.forgetUser("acme", userId);
    const changes = facts.map(([number, value, updatedAtMs]) => ({
      place: "",
      label: labelAt(number),
      value,
      updatedAtMs,
    }));
    await to.write({ ...viewOf(userId, "acme", { nowMs: LATER_MS }), changes });
  };

for (const [what, change, difference] of [
  ["a fact with another value", rewrite("eve", [0, "Mallory", 2000]), "user eve of account acme"],
  ["a fact with another time", rewrite("eve", [0, "Eve", 2001]), "user eve of account acme"],
  ["a fact on another label", rewrite("eve", [1, "Eve", 2000]), "user eve of account acme"],
  [
    "another order of the facts",
    rewrite("ada", [0, "Ada", 1000], [9, "English", 1000]),
    "user ada of account acme",
  ],
  ["a fact too few", rewrite("ada", [9, "English", 1000]), "user ada of account acme"],
  ["a user too many", rewrite("bob", [0, "Bob", 0]), "the number of users: 2 and 3"],
  ["a key that was changed", (to) => to.changeKey("key1", { expiresAtMs: 9 }), "the list of keys"],
  [
    "another use of a key",
    (to) => to.raiseUsage(KEY, [{ day: "2026-11-30", count: 4 }]),
    "the use of key key1",
  ],
  [
    "a request for a key that was changed",
    async (to) => {
      await to.deleteKeyRequest(REQUEST.id);
      await to.addKeyRequest({ ...REQUEST, status: "open" });
    },
    "the requests for keys",
  ],
] as const satisfies [string, Change, string][]) {
  test(`${what} in the copy is found, and nothing else`, async (context) => {
    const { to, differences } = await setUp(context);
    await change(to);
    assert.deepEqual(await differences(), [difference]);
  });
}

test("what has expired and was not swept comes over as history, and another history or label is found", async (context) => {
  const from = await filledStore(context);
  const to = await temporaryStore(context);
  const changes = [
    { place: "", label: "USER.project", value: "Engine", expiresAtMs: 9000 },
    { place: "", label: "USER.gpu", value: "to come", expiresAtMs: LATER_MS + 1 },
  ];
  await from.write({ ...viewOf("eve", "acme", { nowMs: 3000 }), changes });
  assert.deepEqual((await move(from, to)).differences, []);
  const { earlier } = (await to.readLife("acme", "eve", { nowMs: LATER_MS }))!;
  assert.deepEqual(rowsOf(earlier, "value", "ended", "endedAtMs"), [["Engine", "expired", 9000]]);
  const more = { ...viewOf("eve", "acme", { nowMs: 9000 }) };
  await to.write({ ...more, changes: [{ place: "", label: "USER.affiliation", value: "gone" }] });
  await to.write({
    ...more,
    changes: [{ place: "", label: "USER.affiliation", value: null, keepHistory: true }],
  });
  await to.addLabel("acme", { ...NEW_LABEL, createdAtMs: 1 });
  const { differences } = await compareStores(from, to, { nowMs: LATER_MS, step: () => {} });
  assert.deepEqual(differences, ["the labels of account acme", "user eve of account acme"]);
});

test("a user that the copy lacks is found", async (context) => {
  const { to, differences } = await setUp(context);
  await to.forgetUser("acme", "eve");
  assert.deepEqual(await differences(), ["user eve of account acme", "the number of users: 2 and 1"]);
});
