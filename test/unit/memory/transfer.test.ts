/** Export and import: what comes through unchanged, and which lines are refused. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LABELS } from "../../../src/base/channel-labels.ts";
import { CHANNELS } from "../../../src/base/channels.ts";
import { noStep } from "../../../src/base/steps.ts";
import { DEMO_ACCOUNT } from "../../../src/memory/demo.ts";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { rollBack } from "../../../src/memory/history.ts";
import type { KeyRecord, KeyRequest, Store } from "../../../src/memory/ports.ts";
import { exportLines, importLines } from "../../../src/memory/transfer.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { caller, memoryServices, NEW_LABEL, temporaryStore } from "./memory-services.ts";

const KEY: KeyRecord = {
  id: "key1",
  account: "acme",
  tier: "pro",
  hash: "ab".repeat(32),
  prefix: "sb_live_abcd",
  note: "first",
  user: null,
  access: "write",
  createdAtMs: 1,
  expiresAtMs: 2,
  revokedAtMs: null,
  lastUsedAtMs: 3,
};
const REQUEST: KeyRequest = {
  id: "request1",
  name: "Grace",
  email: "grace@navy.example",
  purpose: "notes",
  tier: "free",
  createdAtMs: 5,
  status: "open",
  decidedAtMs: null,
  keyId: null,
};
const FACT = {
  label: "USER.name",
  value: "Ada",
  channel: 0,
  revision: 1,
  updated_at: "2026-11-15T12:00:00.000Z",
};
const USER = { kind: "user", account: "acme", user_id: "ada", facts: [FACT] };
const IMPORT_MS = Date.parse("2027-01-01T00:00:00Z");

async function* linesOf(...lines: unknown[]): AsyncGenerator<string> {
  for (const line of lines) yield typeof line === "string" ? line : JSON.stringify(line);
}

const importInto = (store: Store, ...lines: unknown[]) =>
  importLines(store, linesOf(...lines), { nowMs: IMPORT_MS, atStep: noStep, withKeys: true });

async function exported(store: Store, account?: string): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of exportLines(store, { nowMs: IMPORT_MS, account })) lines.push(line);
  return lines;
}

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

test("what keys have used and requests for keys are exported, and an import may be repeated", async (context) => {
  const store = await filledStore(context);
  await store.addUsage(KEY, [
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
  await copy.addUsage(KEY, [{ day: "2026-11-16", count: 4 }]);
  assert.deepEqual((await importInto(copy, ...lines)).leftOut, []);
  assert.equal(await copy.readUsage("key1", "2026-11"), 7);
  assert.deepEqual(
    (await copy.listKeyRequests()).map(({ id, status }) => [id, status]),
    [
      ["request1", "declined"],
      ["request2", "approved"],
    ],
  );
  assert.ok(!JSON.stringify(await exported(store, "acme")).includes("grace"));
});

test("an import of less use than was counted meanwhile takes none of it away", async (context) => {
  const store = await filledStore(context);
  await store.addUsage(KEY, [{ day: "2026-11-15", count: 3 }]);
  const lines = await exported(store);
  await store.addUsage(KEY, [{ day: "2026-11-15", count: 4 }]);
  await importInto(store, ...lines);
  assert.equal(await store.readUsage("key1", "2026-11"), 7);
});

test("a request for a key that comes twice in a file is one, and no fact", async (context) => {
  const store = await temporaryStore(context);
  const { mock } = context.mock.method(store, "addKeyRequest");
  const report = await importInto(store, request({}), request({}));
  assert.deepEqual(report, { ...NO_MORE, lines: 2, facts: 0, requests: 1 });
  assert.equal(mock.callCount(), 1);
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
  assert.equal((await store.readFact(viewOf("ada"), 0))?.updatedAtMs, 0);
});

test("a request that breaks today's rules is left out and reported", async (context) => {
  const store = await temporaryStore(context);
  const { leftOut } = await importInto(store, request({ name: "Gr\u0000ace" }), request({ id: "request2" }));
  assert.match(leftOut.join(), /^line 1: the request request1 for a key: name/);
  assert.deepEqual(
    (await store.listKeyRequests()).map(({ id }) => id),
    ["request2"],
  );
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

test("an export of the release before, without usage and requests, is imported", async (context) => {
  const store = await temporaryStore(context);
  assert.deepEqual(await importInto(store, key({}), USER), { ...NO_MORE, lines: 2, facts: 1, keys: 1 });
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
  assert.deepEqual(
    lines.map(({ kind, user_id }) => [kind, user_id]),
    [
      ["key", undefined],
      ["user", "ada"],
    ],
  );
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

test("an import keeps the order in which facts were written, and their times", async (context) => {
  const copy = await temporaryStore(context);
  await importInto(copy, ...(await exported(await filledStore(context))));
  const { facts } = (await copy.readUser(viewOf("ada")))!;
  assert.deepEqual(
    [...facts]
      .sort((a, b) => a.revision - b.revision)
      .map(({ channel, updatedAtMs }) => [channel, updatedAtMs]),
    [
      [9, Date.parse("2026-11-15T12:00:00Z")],
      [0, Date.parse("2026-11-15T13:00:00Z")],
    ],
  );
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
  assert.deepEqual(
    (await store.readLabels("acme")).map((known) => known.label),
    [NEW_LABEL.label],
  );
  assert.equal(await store.readUser(viewOf("ada", "globex")), undefined);
});

test("of a key, a request and their files only what is known of them is stored", async (context) => {
  const store = await temporaryStore(context);
  await importInto(store, key({ admin: true }), request({ admin: true }));
  assert.deepEqual([await store.listKeys(), await store.listKeyRequests()], [[KEY], [REQUEST]]);
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

const fact = (change: object) => ({ ...USER, facts: [FACT, { ...FACT, label: "USER.role", ...change }] });
const key = (change: object) => ({ kind: "key", key: { ...KEY, ...change } });
const label = (account: string) => {
  return { kind: "label", account, label: { ...NEW_LABEL, channel: 40, createdAtMs: 1 } };
};
const request = (change: object) => ({ kind: "request", request: { ...REQUEST, ...change } });

/** By the reason that is given. */
const BAD_LINES: Record<string, Record<string, unknown>> = {
  "it is not JSON": { "that is cut off": "{" },
  "neither a key, a label, a user nor a request": {
    "that is null": "null",
    "that is an array": [],
    "of an unknown kind": { ...USER, kind: "fact" },
  },
  "the usage has no day or count": {
    "with usage that is no list": { ...key({}), usage: 5 },
    "with usage that is null": { ...key({}), usage: [null] },
    "with usage of a day that is none": { ...key({}), usage: [{ day: "2026-02-30", count: 1 }] },
    "with usage of a moment": { ...key({}), usage: [{ day: "2026-02-03T00:00:00Z", count: 1 }] },
    "with usage of a day in a list": { ...key({}), usage: [{ day: ["2026-02-03"], count: 1 }] },
    "with usage below nothing": { ...key({}), usage: [{ day: "2026-02-03", count: -1 }] },
  },
  "the request has no": {
    "without its request": { kind: "request" },
    "whose request has no name": request({ name: undefined }),
    "whose request has no tier": request({ tier: "gold" }),
    "whose request has no status": request({ status: "lost" }),
    "whose request has a key_id that is none": request({ keyId: 5 }),
    "whose request has no time": request({ createdAtMs: null }),
  },
  "the request has a time": { "whose request is from before 1970": request({ decidedAtMs: -1 }) },
  "the facts of a user must be a list": {
    "without facts": { ...USER, facts: undefined },
    "whose facts are no array": { ...USER, facts: { length: 1 } },
    "whose earlier values are no array": { ...USER, earlier: {} },
  },
  "account and user_id must be texts": {
    "without an account": { ...USER, account: undefined },
    "whose account is a number": { ...USER, account: 5 },
    "without a user_id": { ...USER, user_id: undefined },
  },
  "An account is": {
    "of the demo's account": { ...USER, account: "@demo" },
    "of a key of the demo's account": key({ account: "@demo" }),
    "of a label of the demo's account": label("@demo"),
  },
  "user_id must have at most 128": { "with a user_id of 129 letters": { ...USER, user_id: "a".repeat(129) } },
  "labels and values must be texts": {
    "with a fact that is null": { ...USER, facts: [FACT, null] },
    "with an earlier value that is null": { ...USER, earlier: [null] },
    "with a label that is a number": fact({ label: 5 }),
    "with a value that is a number": fact({ value: 5 }),
  },
  "no such label": { "with an unknown label": fact({ label: "name" }) },
  "a label is given twice": {
    "with a label twice": fact({ label: "USER.name" }),
    "with 41 facts on 40 labels": {
      ...USER,
      facts: [...LABELS, "USER.name"].map((label) => ({ ...FACT, label })),
    },
  },
  "at least 1 byte": { "with an empty value": fact({ value: "" }) },
  "at most 1024 bytes": { "with a value of 1025 bytes": fact({ value: "a".repeat(1025) }) },
  "a fact has no revision or time": {
    "with a fact without a revision": fact({ revision: undefined }),
    "with a revision that is no integer": fact({ revision: 1.5 }),
    "with a fact without a time": fact({ updated_at: undefined }),
    "with a value since no time": fact({ since: "yesterday" }),
    "with an ordinal that is no integer": fact({ ordinal: 1.5 }),
    "with an ordinal of 0": fact({ ordinal: 0 }),
    "with an ordinal that no store can go on from": fact({ ordinal: 2 ** 32 - 1 }),
    "with a time that is none": fact({ updated_at: "yesterday" }),
    "with a time in a list": fact({ updated_at: [FACT.updated_at] }),
    "with a time before 1970": fact({ updated_at: "1969-12-31T23:59:59.999Z" }),
    "with a time that no store holds": fact({ updated_at: "+275760-09-13T00:00:00.000Z" }),
  },
  "a fact has no sound expires_at": {
    "with an end that is none": fact({ expires_at: "tomorrow" }),
    "with an end that is null": fact({ expires_at: null }),
  },
  "an earlier value has no end": {
    "with an earlier value that has not ended": { ...USER, earlier: [FACT] },
    "with an earlier value that ended somehow": {
      ...USER,
      earlier: [{ ...FACT, ended: "lost", ended_at: FACT.updated_at }],
    },
    "with an earlier value that ended at no time": { ...USER, earlier: [{ ...FACT, ended: "replaced" }] },
  },
  "a place must be a text": { "with a place that is a number": fact({ place: 5 }) },
  "project must be": { "with a place of three parts": fact({ place: "a/b/c" }) },
  "written_by and session_id must be texts": {
    "with a writer that is a number": fact({ written_by: 5 }),
    "with a session that is a list": fact({ session_id: ["a"] }),
  },
  "written_by must": { "with a writer of 65 letters": fact({ written_by: "a".repeat(65) }) },
  "session_id must": {
    "with a session of no letters": fact({ session_id: "" }),
    "with a session of two lines": fact({ session_id: "a\nb" }),
  },
  "the account must be a text": {
    "of a key that is missing": { kind: "key" },
    "of a key without an account": key({ account: undefined }),
    "of a label without an account": { ...label("acme"), account: undefined },
  },
  "has no label, description, example or hidden": {
    "of a label that is missing": { ...label("acme"), label: null },
  },
  "the key's access is neither read nor write": { "of a key for more": key({ access: "admin" }) },
  "user_id must": { "of a key for a user that cannot be": key({ user: "" }) },
  "the key has no hash or id": {
    "of a key without a hash": key({ hash: undefined }),
    "of a key with a hash in capitals": key({ hash: "AB".repeat(32) }),
    "of a key whose hash is in a list": key({ hash: [KEY.hash] }),
    "of a key with a short hash": key({ hash: "ab".repeat(31) }),
    "of a key with more before its hash": key({ hash: `x${KEY.hash}` }),
    "of a key with more after its hash": key({ hash: `${KEY.hash}x` }),
    "of a key without an id": key({ id: "" }),
    "of a key with an id that is too long": key({ id: "a".repeat(65) }),
  },
  "the key has no tier or prefix": {
    "of a key of an unknown tier": key({ tier: "gold" }),
    "of a key without a prefix": key({ prefix: undefined }),
  },
  "the key's prefix is not how a key begins": {
    "of a key whose prefix moves the cursor": key({ prefix: "sb_live_\u001b[2" }),
    "of a key with a long prefix": key({ prefix: "sb_live_abcde" }),
    "of a key with another prefix": key({ prefix: "" }),
  },
  "note must": {
    "of a key whose note has two lines": key({ note: "a\nb" }),
    "of a key whose note turns text around": key({ note: "a\u202eb" }),
    "of a key with a note of 513 letters": key({ note: "a".repeat(513) }),
  },
  "the key's user must be a text": { "of a key for a list of users": key({ user: ["ada"] }) },
  "one_of must be a list of texts": {
    "of a label whose one_of is a text": { ...label("acme"), label: { ...label("acme").label, oneOf: "ab" } },
    "of a label whose one_of has a number": {
      ...label("acme"),
      label: { ...label("acme").label, oneOf: ["a", 1] },
    },
  },
  "the key has no note or times": {
    "of a key without a note": key({ note: undefined }),
    "of a key without the time of its creation": key({ createdAtMs: undefined }),
    "of a key whose expiry is a text": key({ expiresAtMs: "2027-01-01" }),
    "of a key that does not say whether it is revoked": key({ revokedAtMs: undefined }),
    "of a key whose last use is a text": key({ lastUsedAtMs: "never" }),
  },
  "the key has a time that is not from 0 to 281474976710655": {
    "of a key that was made before 1970": key({ createdAtMs: -1 }),
    "of a key with an expiry that no store holds": key({ expiresAtMs: 2 ** 48 }),
    "of a key whose last use is no moment": key({ lastUsedAtMs: 1e16 }),
  },
};

for (const [reason, lines] of Object.entries(BAD_LINES)) {
  for (const [what, line] of Object.entries(lines)) {
    test(`a line ${what} is refused with its number, and nothing of it is written`, async (context) => {
      const store = await temporaryStore(context);
      const message = new RegExp(`^line 2: .*${reason}`);
      await assert.rejects(importInto(store, "", line), { name: "Failure", message });
      assert.deepEqual(await exported(store), []);
    });
  }
}

test("the first bad line of a page is named, and the good lines of its page are written", async (context) => {
  const store = await temporaryStore(context);
  const other = { ...USER, user_id: "eve" };
  await assert.rejects(importInto(store, USER, "bad", "worse", other), { message: /^line 2: / });
  assert.equal((await store.statistics()).users, 2);
});

test("nothing is written of the pages after a bad line", async (context) => {
  const store = await temporaryStore(context);
  const page = Array.from({ length: 255 }, (_, i) => ({ ...USER, user_id: `user ${i}` }));
  const lines = [...page, "bad", { ...USER, user_id: "late" }];
  await assert.rejects(importInto(store, ...lines), { message: /^line 256: / });
  assert.equal(await store.readUser(viewOf("late")), undefined);
});
