/** The users of an account, page by page. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { forgetFact } from "../../../src/memory/facts.ts";
import { type ListInput, listUsers } from "../../../src/memory/users.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

async function usersServices(context: TestContext) {
  const made = await memoryServices(context);
  const { services } = made;
  return {
    ...made,
    writeIn: (userId: string, project: string | undefined, label: string) =>
      encodeFacts(services, caller, { userId, project, facts: [{ label, value: "x" }], operation: "encode" }),
    list: ({ only = null, ...input }: Partial<ListInput> = {}) =>
      listUsers(services, ACCOUNT, { only, prefix: "", after: "", limit: 10, ...input }),
  };
}

test("a user is listed with projects, the number of own facts and the time of the last write", async (context) => {
  const { services, clock, writeIn, list } = await usersServices(context);
  await writeIn("ada", "loom", "PROJ.goal");
  await writeIn("ada", "loom", "PROJ.stack");
  clock.advance(1000);
  await writeIn("ada", undefined, "USER.name");
  await writeIn("ada", undefined, "USER.os");
  clock.advance(1000);
  await writeIn("ada", "loom/tree", "TASK.next");
  await writeIn("bea", undefined, "USER.name");
  const facts = [
    { label: "USER.name", value: "x", ttlS: 1 },
    { label: "USER.os", value: "x", ttlS: 2 },
  ];
  await encodeFacts(services, caller, { userId: "cleo", facts, operation: "encode/batch" });
  clock.advance(1000);
  await forgetFact(services, ACCOUNT, { userId: "bea", label: "USER.name", keepHistory: true });
  assert.deepEqual(await list(), {
    users: [
      { userId: "ada", projects: ["loom", "loom/tree"], channelCount: 2, updatedAtMs: 2000 },
      { userId: "bea", projects: [], channelCount: 0, updatedAtMs: null },
      // One of the two has expired, and was not swept yet.
      { userId: "cleo", projects: [], channelCount: 1, updatedAtMs: 2000 },
    ],
    isMore: false,
  });
});

test("pages follow one another, and the last one says so", async (context) => {
  const { write, list } = await usersServices(context);
  for (const user of ["ada", "bea", "bob", "cleo"]) await write(user, "x");
  const page = async (input: Partial<ListInput>) => {
    const { users, isMore } = await list(input);
    return [...users.map(({ userId }) => userId), isMore];
  };
  assert.deepEqual(await page({ limit: 2 }), ["ada", "bea", true]);
  assert.deepEqual(await page({ limit: 2, after: "bea" }), ["bob", "cleo", false]);
  assert.deepEqual(await page({ prefix: "b" }), ["bea", "bob", false]);
  assert.deepEqual(await page({ prefix: "b", limit: 1 }), ["bea", true]);
});

test("who may see one user sees that one alone, if there is anything", async (context) => {
  const { write, list } = await usersServices(context);
  for (const user of ["ada", "bea"]) await write(user, "x");
  const seen = async (input: Partial<ListInput>) => (await list(input)).users.map(({ userId }) => userId);
  assert.deepEqual(await seen({ only: "bea" }), ["bea"]);
  assert.deepEqual(await seen({ only: "bea", prefix: "b" }), ["bea"]);
  assert.deepEqual(await seen({ only: "bea", prefix: "a" }), []);
  assert.deepEqual(await seen({ only: "bea", after: "ada" }), []);
  assert.deepEqual(await seen({ only: "cleo" }), []);
});
