/** What changed for a user, page by page. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { forgetFact } from "../../../src/memory/facts.ts";
import { type FactEvent, userChanges } from "../../../src/memory/history.ts";
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
