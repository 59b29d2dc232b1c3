/** GET /users/events without a network: what many streams of one change share, and a source of events that fails. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import type { Answer } from "../../../src/http/request/answer.ts";
import { ANSWERS, ByteBudget } from "../../../src/http/request/byte-budget.ts";
import { eventRoutes } from "../../../src/http/routes/events.ts";
import type { HttpServices } from "../../../src/http/services.ts";
import { type EventSource, UserEvents } from "../../../src/memory/events.ts";
import { caller, memoryServices } from "../memory/memory-services.ts";

test("a change is encoded once for all streams that tell of it", async (context) => {
  const { services, write } = await memoryServices(context);
  const authentication = { watch: () => () => {} };
  const { events } = eventRoutes(
    { authentication } as unknown as HttpServices,
    new ByteBudget(new Metrics(), ANSWERS),
  );
  const queries = [{}, {}, { user_id: "ada" }];
  const streams = await Promise.all(
    queries.map(async (query) => {
      const call = {
        query,
        caller,
        memory: services,
        header: () => undefined,
        isGone: false,
        holdAnswer() {},
      };
      return ((await events(call as never)) as Answer).body as Readable;
    }),
  );
  context.after(() => {
    for (const stream of streams) stream.destroy();
  });
  for (const stream of streams) assert.match(String(stream.read()), /^: listening/);
  const told = Promise.all(streams.map((stream) => once(stream, "data")));
  await write("ada", "one");
  const [[first], ...others] = await told;
  assert.match(String(first), /^id: .*\nevent: change\ndata: \{"user_id":"ada"/);
  for (const [other] of others) assert.equal(other, first, "another encoding of the same event");
});

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
    const memory = { events: new UserEvents(source) };
    const authentication = { watch: () => assert.fail("nothing outlives the request") };
    const services = { authentication } as unknown as HttpServices;
    const { events: answer } = eventRoutes(services, new ByteBudget(new Metrics(), ANSWERS));
    const call = { query: {}, caller, memory, header: () => "an id" } as unknown as EventsCall;
    await assert.rejects(async () => answer(call), /away/);
    assert.deepEqual(ended, [caller.account]);
  });
