/** What lists refuse; test/property/life has what is added to them and removed. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { decodeFact } from "../../../src/memory/decode.ts";
import { addLabel } from "../../../src/memory/label-terms.ts";
import { changeList, type ItemInput } from "../../../src/memory/lists.ts";
import { ACCOUNT, caller, memoryServices, NEW_LABEL } from "./memory-services.ts";

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
