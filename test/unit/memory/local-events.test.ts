/** What a store of one process tells of its changes, and how much of it is kept. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { type EventIds, sealedIds } from "../../../src/memory/event-ids.ts";
import { type EventMessage, type NumberedEvent, UserEvents } from "../../../src/memory/events.ts";
import { forgetUser } from "../../../src/memory/facts.ts";
import { LocalEvents } from "../../../src/memory/local-events.ts";
import type { Store, WriteRequest } from "../../../src/memory/ports.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { until } from "../../fixtures/waiting.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

const isTold = (heard: EventMessage): heard is NumberedEvent => typeof heard !== "string";

test("an event says whose fact it is, where, which revision, who wrote it and when, and never the value", async (context) => {
  const { services, store, clock } = await memoryServices(context);
  const heard: EventMessage[] = [];
  await services.events.listen(ACCOUNT, undefined, (event) => heard.push(event)).ready;
  clock.advance(1000);
  const facts = [
    { label: "USER.name", value: "Ada" },
    { label: "PROJ.goal", value: "weave", ttlS: 1 },
  ];
  const input = { userId: "ada", project: "loom", writtenBy: "tests", facts } as const;
  await encodeFacts(services, caller, { ...input, operation: "encode/batch" });
  // One of the two is not there.
  await store.write({
    ...viewOf("ada"),
    nowMs: 1500,
    changes: changesOf([
      [5, null],
      [0, null],
    ]),
  });
  await store.sweep(2500);
  clock.advance(2000);
  await encodeFacts(services, caller, { ...input, operation: "encode/batch" });
  await forgetUser(services, ACCOUNT, { userId: "ada", project: "loom" });
  await forgetUser(services, ACCOUNT, { userId: "ada" });
  await assert.rejects(forgetUser(services, ACCOUNT, { userId: "ada" }), { code: "not_found" });
  const told = heard.filter(isTold);
  assert.deepEqual(
    told.map(({ event }) => event).filter(({ atMs }) => atMs < 3000),
    [
      ["", "USER.name", "written", 1000, 1, "tests"],
      ["loom", "PROJ.goal", "written", 1000, 2, "tests"],
      ["", "USER.name", "forgotten", 1500, 3, null],
      ["loom", "PROJ.goal", "expired", 2000, told[3].event.revision, null],
    ].map(([place, label, kind, atMs, revision, writtenBy]) => {
      return { userId: "ada", place, label, kind, atMs, revision, writtenBy };
    }),
  );
  assert.deepEqual(told.at(-2)?.event, {
    userId: "ada",
    place: "loom",
    label: undefined,
    kind: "forgotten",
    atMs: 3000,
    revision: 0,
    writtenBy: null,
  });
  assert.equal(told.at(-1)?.event.place, "");
  assert.deepEqual(
    fieldsOf(told, "number"),
    told.map((_, i) => i + 1),
  );
});

/** Events of a store that does nothing but answer. */
function eventsOf(context: TestContext) {
  class AnsweringStore {
    async write({ changes, nowMs }: WriteRequest) {
      return {
        outcome: "stored",
        channelCount: 1,
        used: 0,
        revision: changes.length,
        changes: [],
        events: changes.map((_, i) => ({
          place: "",
          label: "USER.name",
          revision: i + 1,
          kind: "written",
          writtenBy: null,
          atMs: nowMs,
        })),
      };
    }
  }
  context.mock.timers.enable({ apis: ["setInterval"] });
  const clock = new FakeClock(0);
  let ids: EventIds | undefined;
  const source = new LocalEvents(clock, (account, log) => {
    ids = sealedIds([new Uint8Array(32)])(account, log);
    return ids;
  });
  const events = new UserEvents(source);
  context.after(() => events.close());
  const store = source.withEvents(new AnsweringStore() as unknown as Store);
  const write = (count: number) =>
    store.write({
      ...viewOf("ada"),
      nowMs: clock.now(),
      changes: Array.from({ length: count }, () => ({ place: "", label: "USER.name", value: "x" })),
    });
  const listen = async (lastId?: string) => {
    const heard: EventMessage[] = [];
    const listening = events.listen(ACCOUNT, "ada", (event) => heard.push(event), lastId);
    await listening.ready;
    return { heard, stop: listening.stop };
  };
  /** What one hears who comes back: the number of events, or a reset. */
  const comeBack = async (lastId: string) => {
    const { heard, stop } = await listen(lastId);
    stop();
    return heard.every(isTold) ? heard.length : heard[0];
  };
  /** Time goes by, and then the log is looked through. */
  const goBy = (ms: number) => {
    clock.advance(ms);
    context.mock.timers.tick(10_000);
  };
  return { clock, write, listen, comeBack, goBy, idOf: (number: number) => ids!.idOf(number) };
}

test("of an account the last 10,000 events are kept", async (context) => {
  const { write, listen, comeBack, idOf } = eventsOf(context);
  const { heard } = await listen();
  await write(10_000);
  await until(() => heard.length === 10_000);
  const [first, second] = heard.filter(isTold).map(({ id }) => id);
  assert.equal(await comeBack(idOf(0)), 10_000);
  await write(1);
  assert.equal(await comeBack(idOf(0)), "reset");
  assert.deepEqual([await comeBack(first), await comeBack(second)], [10_000, 9_999]);
  assert.equal(await comeBack(idOf(10_001)), 0);
  for (const id of [idOf(10_002), `${first}x`, first.slice(1), "", "log-1"])
    assert.equal(await comeBack(id), "reset", id);
});

test("who comes back hears events under the ids that they had, and a refused write is none", async (context) => {
  const { services, store } = await memoryServices(context);
  const heard: EventMessage[] = [];
  const hear = (event: EventMessage) => heard.push(event);
  await services.events.listen(ACCOUNT, "ada", hear).ready;
  const change = { place: "", label: "USER.name", value: "x" };
  for (let i = 0; i < 3; i++) await store.write({ ...viewOf("ada"), changes: [change] });
  await store.write({ ...viewOf("ada"), changes: [{ ...change, ifRevision: 9 }] });
  const ids = heard.filter(isTold).map(({ id }) => id);
  assert.equal(ids.length, 3);
  assert.match(ids[0], /^[\w-]{22}$/);
  const again: EventMessage[] = [];
  const listening = services.events.listen(ACCOUNT, "ada", (event) => again.push(event), ids[0]);
  await listening.ready;
  assert.deepEqual(again, heard.slice(1));
});

test("events are kept for an hour, and those of an account for an hour after the last listener", async (context) => {
  const { clock, write, listen, comeBack, goBy, idOf } = eventsOf(context);
  const { heard, stop } = await listen();
  await write(1);
  clock.advance(1);
  await write(1);
  const [first] = heard.filter(isTold).map(({ id }) => id);
  clock.advance(3_599_998);
  assert.equal(await comeBack(idOf(0)), 2);
  clock.advance(1);
  assert.deepEqual([await comeBack(idOf(0)), await comeBack(first)], ["reset", 1]);
  clock.advance(1);
  assert.deepEqual([await comeBack(first), await comeBack(idOf(2))], ["reset", 0]);
  stop();
  goBy(3_599_999);
  assert.equal(await comeBack(idOf(2)), 0);
  goBy(3_600_000);
  assert.equal(await comeBack(idOf(2)), "reset");
});

test("what nobody listens to is not kept, and a log that has ended has another name when it begins anew", async (context) => {
  const { write, listen, comeBack, goBy } = eventsOf(context);
  const before = await listen();
  await write(1);
  before.stop();
  const [{ id }] = before.heard.filter(isTold);
  goBy(3_600_000);
  assert.equal(await comeBack(id), "reset");
  const after = await listen();
  await write(1);
  assert.notEqual(after.heard.filter(isTold)[0].id, id);
});

test("a memory has 1,024 listeners and no more", async (context) => {
  const { services } = await memoryServices(context);
  const { events } = services;
  const listenings = Array.from({ length: 1_024 }, () => events.listen(ACCOUNT, "ada", () => {}));
  const tooMany = { code: "overloaded", extra: { retryAfterS: 5 } };
  assert.throws(() => events.listen(ACCOUNT, "ada", () => {}), tooMany);
  listenings[0].stop();
  events.listen(ACCOUNT, "ada", () => {});
});

test("what is kept of a user goes when the user is forgotten, and the other events keep their ids", async (context) => {
  const { services, store } = await memoryServices(context);
  const heard: EventMessage[] = [];
  await services.events.listen(ACCOUNT, undefined, (event) => heard.push(event)).ready;
  const changes = [{ place: "", label: "USER.name", value: "x" }];
  for (const user of ["eve", "ada", "eve", "ada"]) await store.write({ ...viewOf(user), changes });
  await forgetUser(services, ACCOUNT, { userId: "ada" });
  const told = heard.filter(isTold);
  const again: EventMessage[] = [];
  await services.events.listen(ACCOUNT, undefined, (event) => again.push(event), told[0].id).ready;
  assert.deepEqual(again, [told[2], told[4]]);
});

test("what is kept of a project goes when the project is forgotten, and one event tells of it", async (context) => {
  const { services, store } = await memoryServices(context);
  const heard: EventMessage[] = [];
  await services.events.listen(ACCOUNT, undefined, (event) => heard.push(event)).ready;
  const places = ["", "loom", "loom/w", "loom2", "loom"];
  for (const place of places)
    await store.write({ ...viewOf("ada"), changes: [{ place, label: "USER.name", value: "x" }] });
  await store.write({ ...viewOf("eve"), changes: [{ place: "loom", label: "USER.name", value: "x" }] });
  await forgetUser(services, ACCOUNT, { userId: "ada", project: "loom" });
  const told = heard.filter(isTold);
  const again: EventMessage[] = [];
  await services.events.listen(ACCOUNT, undefined, (event) => again.push(event), told[0].id).ready;
  assert.deepEqual(
    again.filter(isTold).map(({ event: { userId, place, kind } }) => `${userId} ${place} ${kind}`),
    ["ada loom2 written", "eve loom written", "ada loom forgotten"],
  );
});

test("a write and a forgetting in one commit are told in their order", async (context) => {
  const { services, store } = await memoryServices(context);
  const kinds: (string | undefined)[] = [];
  const hear = (heard: EventMessage) => kinds.push(isTold(heard) ? heard.event.kind : heard);
  await services.events.listen(ACCOUNT, "ada", hear).ready;
  const write = () =>
    store.write({ ...viewOf("ada"), changes: [{ place: "", label: "USER.name", value: "x" }] });
  await Promise.all([write(), store.forgetUser(ACCOUNT, "ada"), write()]);
  assert.deepEqual(kinds, ["written", "forgotten", "written"]);
});
