/** The rules of the lines of an export: which are refused, and what is written beside one that is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LABELS } from "../../../src/base/channel-labels.ts";
import { viewOf } from "../../fixtures/views.ts";
import { temporaryStore } from "./memory-services.ts";
import { exported, FACT, fact, importInto, KEY, key, label, request, USER } from "./transfer-lines.ts";

/** By the reason that is given. */
const BAD_LINES: Record<string, Record<string, unknown>> = {
  "it is not JSON": { "that is cut off": "{" },
  "neither a key, a label, an account, a project, a user, what is shared in a project, nor a request": {
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
