/** Lists: items that are added at once, and again. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { decodeFact } from "../../../src/memory/decode.ts";
import { factHistory, restoreFact } from "../../../src/memory/history.ts";
import { addLabel } from "../../../src/memory/label-terms.ts";
import { changeList, type ItemInput } from "../../../src/memory/lists.ts";
import { readUsage } from "../../../src/memory/usage.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { viewOf } from "../../fixtures/views.ts";
import { ACCOUNT, caller, memoryServices, NEW_LABEL, requester } from "./memory-services.ts";

const list = { userId: "ada", label: "PREF.tools" };

/** Items of one list. */
async function listServices(context: TestContext) {
  const made = await memoryServices(context);
  const { services } = made;
  return {
    ...made,
    append: async (item: string, options: Partial<ItemInput> = {}) =>
      (await changeList(services, caller, "append", { ...list, item, ...options })).facts[0],
    remove: (item: string, options: Partial<ItemInput> = {}) =>
      changeList(services, caller, "remove", { ...list, item, ...options }),
    valueIn: async (project?: string) =>
      (await decodeFact(services, ACCOUNT, { ...list, project })).fact.value,
  };
}

test("an item is added behind the others, and once", async (context) => {
  const { append } = await listServices(context);
  assert.equal((await append("jq")).value, "jq");
  const { revision } = await append("npm");
  const again = await append("jq", { ttlS: 60 });
  assert.deepEqual([again.value, again.previous?.revision, again.expiresAtMs], ["jq; npm", revision, 60_000]);
  assert.equal((await append("git", { expiresAt: "1970-01-01T00:00:09Z" })).expiresAtMs, 9_000);
});

test("an item keeps the rules of values, has no separator, and says who wrote it in the form of any write", async (context) => {
  const { append, remove } = await listServices(context);
  await append("jq");
  const item = { code: "invalid_value", extra: { param: "item" } };
  for (const wrong of ["", "a;b", "a; b", "a\u0000b", "x".repeat(1025)]) {
    await assert.rejects(append(wrong), item);
    await assert.rejects(remove(wrong), item);
  }
  for (const change of [append, remove]) {
    const invalid = (param: string) => ({ code: "invalid_request", extra: { param } });
    await assert.rejects(change("jq", { sessionId: "a\u0000b" }), invalid("session_id"));
    await assert.rejects(change("jq", { writtenBy: "a\u0000b" }), invalid("written_by"));
  }
});

test("a list takes as many bytes as a value may have, or as its label allows, and a full one says what it has", async (context) => {
  const { services, append } = await listServices(context);
  const full = (...items: string[]) => ({ code: "invalid_value", extra: { param: "item", items } });
  await append("x".repeat(1000));
  await assert.rejects(append("y".repeat(23)), full("x".repeat(1000)));
  assert.equal((await append("é".repeat(11))).value.length, 1013);
  const own = { label: "TOY.names" };
  await addLabel(services, ACCOUNT, { ...NEW_LABEL, ...own, maxBytes: 6 });
  await append("ab", own);
  await assert.rejects(append("cde", own), full("ab"));
  assert.equal((await append("cd", own)).value, "ab; cd");
});

test("an item is removed from the innermost list, or from that of the scope", async (context) => {
  const { append, remove, valueIn } = await listServices(context);
  for (const item of ["jq", "npm"]) {
    await append(item, { project: "loom", scope: "person" });
    await append(item, { project: "loom", scope: "project" });
  }
  await append("jq", { project: "loom", scope: "project", ttlS: 60 });
  const removed = await remove("jq", { project: "loom" });
  assert.deepEqual([removed.facts[0].place, removed.facts[0].value], ["loom", "npm"]);
  assert.deepEqual([await valueIn("loom"), await valueIn()], ["npm", "jq; npm"]);
  await remove("npm", { project: "loom", scope: "person" });
  assert.deepEqual([await valueIn("loom"), await valueIn()], ["npm", "jq"]);
  // The label is the person's: what is added goes there, and where a project has no list, what is removed is of there.
  assert.equal((await append("git", { project: "loom" })).value, "jq; git");
  await remove("jq", { project: "other" });
  assert.equal(await valueIn(), "git");
});

test("with its last item a list is forgotten, and its history stays", async (context) => {
  const { services, blocks, append, remove } = await listServices(context);
  await append("jq");
  await append("npm");
  await remove("jq");
  await blocks.of(requester, viewOf(list.userId));
  const once = { idempotencyKey: "once" };
  const gone = await remove("npm", once);
  assert.deepEqual([gone.facts, gone.channelCount, gone.replayed, gone.used], [[], 0, false, 3]);
  assert.equal(blocks.cachedCount, 0);
  assert.deepEqual(await remove("npm", once), { ...gone, replayed: true });
  await assert.rejects(remove("npm"), { code: "fact_not_found", extra: { param: "label" } });
  const { revisions } = await factHistory(services, ACCOUNT, list);
  assert.deepEqual(fieldsOf(revisions, "value"), ["npm", "jq; npm", "jq"]);
});

test("what is not in a list cannot be removed, and the answer says what is", async (context) => {
  const { append, remove } = await listServices(context);
  await append("jq");
  await append("npm");
  const missing = { code: "fact_not_found", extra: { param: "item", items: ["jq", "npm"] } };
  await assert.rejects(remove("git"), missing);
});

test("with another revision than the expected one nothing is added or removed, and it is not tried again", async (context) => {
  const { store, append, remove, valueIn } = await listServices(context);
  const { revision } = await append("jq");
  await append("npm");
  const { mock } = context.mock.method(store, "write");
  const mismatch = { code: "revision_mismatch" };
  await assert.rejects(append("git", { ifRevision: revision }), mismatch);
  await assert.rejects(remove("jq", { ifRevision: revision }), mismatch);
  assert.deepEqual([mock.callCount(), await valueIn()], [2, "jq; npm"]);
});

test("an append that is repeated under its Idempotency-Key is answered again, and neither written nor counted", async (context) => {
  const { services } = await memoryServices(context);
  const once = { ...list, item: "jq", idempotencyKey: "once" };
  const first = await changeList(services, caller, "append", once);
  const again = await changeList(services, caller, "append", once);
  assert.deepEqual(again, { ...first, replayed: true });
  assert.equal((await readUsage(services, caller)).used, 1);
  const mismatch = { code: "idempotency_mismatch" };
  await assert.rejects(changeList(services, caller, "append", { ...once, item: "npm" }), mismatch);
  await assert.rejects(changeList(services, caller, "append", { ...once, project: "loom" }), mismatch);
  await assert.rejects(
    changeList(services, caller, "append", { ...once, ifRevision: first.facts[0].revision }),
    mismatch,
  );
});

test("a restoring that is repeated under its Idempotency-Key is answered again; of another revision it is a mismatch", async (context) => {
  const { services } = await memoryServices(context);
  const first = await changeList(services, caller, "append", { ...list, item: "jq" });
  const second = await changeList(services, caller, "append", { ...list, item: "npm" });
  const once = { ...list, revision: first.facts[0].revision, idempotencyKey: "once" };
  await restoreFact(services, caller, once);
  assert.equal((await restoreFact(services, caller, once)).replayed, true);
  await assert.rejects(restoreFact(services, caller, { ...once, revision: second.facts[0].revision }), {
    code: "idempotency_mismatch",
  });
});

test("of twenty items that are added at once none is lost", async (context) => {
  const { services } = await memoryServices(context);
  const items = Array.from({ length: 20 }, (_, i) => `item ${i}`);
  await Promise.all(items.map((item) => changeList(services, caller, "append", { ...list, item })));
  const { fact } = await decodeFact(services, ACCOUNT, list);
  assert.deepEqual(new Set(fact.value.split("; ")), new Set(items));
  assert.equal((await readUsage(services, caller)).used, items.length);
});
