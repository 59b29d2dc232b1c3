/** What changed for a user, page by page, and going back. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { forgetFact } from "../../../src/memory/facts.ts";
import {
  type FactEvent,
  factHistory,
  restoreFact,
  rollBack,
  userChanges,
} from "../../../src/memory/history.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

test("a value that is written and forgotten in one millisecond is in the changes twice, on pages of any length", async (context) => {
  const { services } = await memoryServices(context);
  const userId = "ada";
  const label = "USER.name";
  await encodeFacts(services, caller, { userId, facts: [{ label, value: "Ada" }], operation: "encode" });
  await forgetFact(services, ACCOUNT, { userId, label, keepHistory: true });
  for (const limit of [1, 2]) {
    const events: FactEvent[] = [];
    for (let isMore = true; isMore; ) {
      const page = await userChanges(services, ACCOUNT, { userId, limit, after: events.at(-1) });
      events.push(...page.events);
      isMore = page.isMore;
    }
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ["forgotten", "written"],
    );
  }
});

test("a history with a gap reaches back to the gap, and nobody is put back across it", async (context) => {
  const { services, store, clock } = await memoryServices(context);
  const userId = "ada";
  const label = "USER.name";
  for (const value of ["one", "two", "three", "four"]) {
    clock.advance(1000);
    await encodeFacts(services, caller, { userId, facts: [{ label, value }], operation: "encode" });
  }
  // As where fewer values were kept for a while.
  const readLife = store.readLife.bind(store);
  context.mock.method(store, "readLife", async (...args: Parameters<typeof readLife>) => {
    const life = (await readLife(...args))!;
    return { ...life, earlier: life.earlier.filter(({ value }) => value !== "two") };
  });
  const { revisions } = await factHistory(services, ACCOUNT, { userId, label });
  assert.deepEqual(
    revisions.map(({ value }) => value),
    ["four", "three"],
  );
  const result = await rollBack(services, caller, { userId, toMs: 2_500 });
  assert.deepEqual([result.isDone, result.unreached], [false, [{ place: "", label }]]);
});

test("a value beyond a lowered limit is not restored, also before the store has removed it", async (context) => {
  const { services } = await memoryServices(context);
  const userId = "ada";
  const label = "USER.name";
  const revisions: number[] = [];
  for (const value of ["one", "two", "three"]) {
    const { facts } = await encodeFacts(services, caller, {
      userId,
      facts: [{ label, value }],
      operation: "encode",
    });
    revisions.push(facts[0].revision);
  }
  const [one, two, three] = revisions;
  const restoreWith = (historyMax: number, revision: number) =>
    restoreFact({ ...services, historyMax }, caller, { userId, label, revision });
  const refused = { code: "not_found" };
  await assert.rejects(restoreWith(1, one), refused);
  await assert.rejects(restoreWith(0, two), refused);
  // The present value needs no history.
  assert.equal((await restoreWith(0, three)).facts[0].value, "three");
  assert.equal((await restoreWith(1, two)).facts[0].value, "two");
});
