/** Lists: items that are added at once, and again. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeFact } from "../../../src/memory/decode.ts";
import { restoreFact } from "../../../src/memory/history.ts";
import { appendItem } from "../../../src/memory/lists.ts";
import { readUsage } from "../../../src/memory/usage.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

const list = { userId: "ada", label: "PREF.tools" };

test("an append that is repeated under its Idempotency-Key is answered again, and neither written nor counted", async (context) => {
  const { services } = await memoryServices(context);
  const once = { ...list, item: "jq", idempotencyKey: "once" };
  const first = await appendItem(services, caller, once);
  const again = await appendItem(services, caller, once);
  assert.deepEqual(
    [again.replayed, again.facts[0].value, again.facts[0].revision],
    [true, "jq", first.facts[0].revision],
  );
  assert.equal((await readUsage(services, caller)).used, 1);
  const mismatch = { code: "idempotency_mismatch" };
  await assert.rejects(appendItem(services, caller, { ...once, item: "npm" }), mismatch);
  await assert.rejects(
    appendItem(services, caller, { ...once, ifRevision: first.facts[0].revision }),
    mismatch,
  );
});

test("a restoring that is repeated under its Idempotency-Key is answered again; of another revision it is a mismatch", async (context) => {
  const { services } = await memoryServices(context);
  const first = await appendItem(services, caller, { ...list, item: "jq" });
  const second = await appendItem(services, caller, { ...list, item: "npm" });
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
  await Promise.all(items.map((item) => appendItem(services, caller, { ...list, item })));
  const { fact } = await decodeFact(services, ACCOUNT, list);
  assert.deepEqual(new Set(fact.value.split("; ")), new Set(items));
  assert.equal((await readUsage(services, caller)).used, items.length);
});
