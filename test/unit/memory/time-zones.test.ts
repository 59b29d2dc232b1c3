/** Ends, counts and ways back in processes of other time zones: at the turn of a month, and where the clocks change. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { listFacts } from "../../../src/memory/facts.ts";
import { rollBack } from "../../../src/memory/history.ts";
import { readUsage } from "../../../src/memory/usage.ts";
import { rowsOf } from "../../fixtures/fields.ts";
import { inOtherTimeZones } from "../../fixtures/time-zones.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

const DAY_S = 86_400;
const label = "USER.name";

test("a month's limit begins anew with the month of UTC, to the millisecond", (context) =>
  inOtherTimeZones(async () => {
    // New York puts its clocks back six hours later.
    const { services, clock } = await memoryServices(context, "2026-10-31T23:59:59.999Z");
    const poor = { ...caller, limit: 1 };
    const encode = (value: string) =>
      encodeFacts(services, poor, { userId: "ada", facts: [{ label, value }], operation: "encode" });
    await encode("one");
    await assert.rejects(encode("two"), { code: "monthly_limit_exceeded" });
    const { used, resetsAtMs } = await readUsage(services, poor);
    assert.deepEqual([used, resetsAtMs], [1, Date.parse("2026-11-01T00:00:00Z")]);
    clock.advance(1);
    assert.equal((await readUsage(services, poor)).used, 0);
    await encode("two");
    await assert.rejects(encode("three"), { code: "monthly_limit_exceeded" });
  }));

test("a day of life is 24 hours, also where the clocks change meanwhile", (context) =>
  inOtherTimeZones(async () => {
    for (const time of ["2026-03-07T12:00:00Z", "2026-10-31T12:00:00Z"]) {
      const { services, clock } = await memoryServices(context, time);
      await encodeFacts(services, caller, {
        userId: "ada",
        facts: [{ label, value: "Ada", ttlS: DAY_S }],
        operation: "encode",
      });
      clock.advance(DAY_S * 1000 - 1);
      const [fact] = await listFacts(services, ACCOUNT, { userId: "ada" });
      assert.equal(fact.expiresAtMs, Date.parse(time) + DAY_S * 1000);
      clock.advance(1);
      assert.deepEqual(await listFacts(services, ACCOUNT, { userId: "ada" }), []);
    }
  }));

test("a way back across a change of the clocks leads to the moment that was named", (context) =>
  inOtherTimeZones(async () => {
    const { services, clock } = await memoryServices(context, "2026-11-01T05:30:00Z");
    const encode = (value: string) =>
      encodeFacts(services, caller, { userId: "ada", facts: [{ label, value }], operation: "encode" });
    await encode("at the first half past one");
    clock.advance(3_600_000);
    await encode("at the second");
    clock.advance(DAY_S * 1000);
    const toMs = Date.parse("2026-11-01T06:29:59Z");
    const { changes } = await rollBack(services, caller, { userId: "ada", toMs });
    assert.deepEqual(rowsOf(changes, "from", "to"), [["at the second", "at the first half past one"]]);
  }));
