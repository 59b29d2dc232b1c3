/** GET /users/events where the source of events fails: nobody is left listening. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { ANSWERS, ByteBudget } from "../../../src/http/request/byte-budget.ts";
import { eventRoutes } from "../../../src/http/routes/events.ts";
import type { HttpServices } from "../../../src/http/services.ts";
import { type EventSource, UserEvents } from "../../../src/memory/events.ts";
import { caller } from "../memory/memory-services.ts";

type EventsCall = Parameters<ReturnType<typeof eventRoutes>["events"]>[0];

for (const step of ["begin", "after"] as const)
  test(`a listener whose ${step} fails is refused, and is listened for no more`, async () => {
    const ended: string[] = [];
    const fail = async () => {
      throw new Error("away");
    };
    const source: EventSource = {
      begin: async () => {},
      after: async () => [],
      end: (account) => void ended.push(account),
      start: () => {},
      close: () => {},
      [step]: fail,
    };
    const events = new UserEvents(source);
    const authentication = { watch: () => assert.fail("nothing outlives the request") };
    const services = { memory: { events }, authentication } as unknown as HttpServices;
    const { events: answer } = eventRoutes(services, new ByteBudget(new Metrics(), ANSWERS));
    const call = { query: {}, caller, header: () => "an id" } as unknown as EventsCall;
    await assert.rejects(async () => answer(call), /away/);
    assert.deepEqual(ended, [caller.account]);
  });
