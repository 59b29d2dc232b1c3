/** Who is told of an event, how often, and what a listener hears that comes back. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Heard, Listening } from "../../../src/memory/events.ts";
import { MEMORIES_MAX, UserEvents } from "../../../src/memory/events.ts";
import { forgetFact, forgetUser } from "../../../src/memory/facts.ts";
import type { Labels } from "../../../src/memory/labels.ts";
import type { EventLog, RecordedEvent } from "../../../src/memory/ports.ts";
import { SharedEvents } from "../../../src/memory/shared-events.ts";
import { FakeClock, settled } from "../blockwork/fake-workers.ts";
import { ACCOUNT, memoryServices } from "./memory-services.ts";

const HOUR_MS = 3_600_000;

function textOf(heard: Heard): string {
  if (typeof heard === "string") return heard;
  const { userId, label, kind } = heard.event;
  return `${userId} ${label} ${kind}`;
}

/** A listener that notes what it hears. */
function ears() {
  const heard: string[] = [];
  const ids: string[] = [];
  const hear = (event: Heard) => {
    heard.push(textOf(event));
    if (typeof event !== "string") ids.push(event.id);
  };
  return { heard, ids, hear };
}

test("a listener hears of its user, one of the account of all, and whoever asks twice is told once", async (context) => {
  const { services, write } = await memoryServices(context);
  const { events } = services;
  const [ada, all, twice, foreign] = [ears(), ears(), ears(), ears()];
  const listenings = [
    events.listen(ACCOUNT, "ada", ada.hear),
    events.listen(ACCOUNT, undefined, all.hear),
    events.listen(ACCOUNT, "ada", twice.hear),
    events.listen(ACCOUNT, "ada", twice.hear),
    events.listen("globex", "ada", foreign.hear),
  ];
  await Promise.all(listenings.map(({ ready }) => ready));
  await write("ada", "Ada");
  await write("eve", "Eve");
  assert.deepEqual(ada.heard, ["ada USER.name written"]);
  assert.deepEqual(twice.heard, ada.heard);
  assert.deepEqual(all.heard, ["ada USER.name written", "eve USER.name written"]);
  assert.deepEqual(foreign.heard, []);
  // It has asked twice, and hears until it has stopped twice; stopping again changes nothing.
  listenings[2].stop();
  listenings[2].stop();
  await write("ada", "again");
  listenings[3].stop();
  await write("ada", "and again");
  assert.equal(twice.heard.length, 2);
  assert.equal(ada.heard.length, 3);
});

test("a fact that is forgotten without history, and a user, are told as gone", async (context) => {
  const { services, write } = await memoryServices(context);
  const { heard, hear } = ears();
  await write("ada", "Ada", "Engine");
  await services.events.listen(ACCOUNT, "ada", hear).ready;
  await forgetFact(services, ACCOUNT, { userId: "ada", label: "USER.name" });
  await forgetUser(services, ACCOUNT, { userId: "ada" });
  assert.deepEqual(heard, ["ada USER.name forgotten", "ada undefined forgotten"]);
});

test("an account has listeners for so many memories and no more; a memory counts once", async (context) => {
  const { services } = await memoryServices(context);
  const { events } = services;
  const { hear } = ears();
  const held: Listening[] = Array.from({ length: MEMORIES_MAX }, (_, i) =>
    events.listen(ACCOUNT, `user${i}`, hear),
  );
  const tooMany = { code: "overloaded", message: /at most 1,024 memories at once/ };
  assert.throws(() => events.listen(ACCOUNT, "one more", hear), tooMany);
  assert.throws(() => events.listen(ACCOUNT, undefined, hear), tooMany);
  events.listen(ACCOUNT, "user7", hear).stop();
  events.listen("globex", "one more", hear);
  held[0].stop();
  events.listen(ACCOUNT, "one more", hear);
  assert.throws(() => events.listen(ACCOUNT, "user0", hear), tooMany);
});

test("who comes back within an hour goes on without a gap, later it is told of a reset", async (context) => {
  const { services, clock, write } = await memoryServices(context);
  const { events } = services;
  const first = ears();
  const { ready, stop } = events.listen(ACCOUNT, "ada", first.hear);
  await ready;
  await write("ada", "1");
  stop();
  await write("ada", "2");
  clock.advance(HOUR_MS - 1);
  const comeBack = async (id: string) => {
    const { heard, hear } = ears();
    const listening = events.listen(ACCOUNT, "ada", hear, id);
    await listening.ready;
    listening.stop();
    return heard;
  };
  assert.deepEqual(await comeBack(first.ids[0]), ["ada USER.name written"]);
  clock.advance(HOUR_MS);
  assert.deepEqual(await comeBack(first.ids[0]), ["reset"]);
  assert.deepEqual(await comeBack("no such id"), ["reset"]);
});

test("all who listen are told of the end", async (context) => {
  const { services } = await memoryServices(context);
  const { heard, hear } = ears();
  await services.events.listen(ACCOUNT, undefined, hear).ready;
  services.events.close();
  assert.deepEqual(heard, ["end"]);
});

/** Nodes that share what is recorded here. */
function sharedSetUp(context: TestContext) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const recorded: RecordedEvent[] = [];
  const database = { isAway: false, log: "one", last: 0, reads: 0 };
  const putBack = (last: number) => {
    database.last = last;
    recorded.splice(last);
  };
  const eventLog: EventLog = {
    async followEvents() {
      if (database.isAway) throw new Error("away");
      return { log: database.log, last: database.last };
    },
    async readEvents(accounts, after, limit) {
      database.reads += 1;
      if (database.isAway) throw new Error("away");
      const events = recorded.filter(({ account, number }) => accounts.includes(account) && number > after);
      return { first: 0, last: database.last, events: events.slice(0, limit) };
    },
  };
  const labels = { namesOf: (_: string, channels: number[]) => channels.map(String) } as unknown as Labels;
  const clock = new FakeClock(0);
  const events = new UserEvents(new SharedEvents(eventLog, labels, clock));
  context.after(() => events.close());
  const record = (userId: string, count = 1) => {
    for (let i = 0; i < count; i++) {
      database.last += 1;
      const fact = { place: "", channel: 0, revision: 1, writtenBy: null, atMs: 0 };
      recorded.push({ account: ACCOUNT, number: database.last, userId, kind: "written", ...fact });
    }
  };
  const comeRound = async () => {
    context.mock.timers.tick(250);
    for (let i = 0; i < 50; i++) await settled();
  };
  return { database, events, clock, record, putBack, comeRound };
}

test("shared: what is recorded is told once, page by page, and nothing from before", async (context) => {
  const { database, events, record, comeRound } = sharedSetUp(context);
  record("ada", 3);
  const { heard, hear } = ears();
  const { ready, stop } = events.listen(ACCOUNT, "ada", hear);
  await ready;
  record("ada", 2_500);
  await comeRound();
  await comeRound();
  assert.equal(heard.length, 2_500);
  stop();
  const { reads } = database;
  await comeRound();
  assert.equal(database.reads, reads, "nobody listens, and nothing is read");
});

test("shared: while the database is away nothing is lost", async (context) => {
  const { database, events, record, comeRound } = sharedSetUp(context);
  const { heard, hear } = ears();
  await events.listen(ACCOUNT, "ada", hear).ready;
  database.isAway = true;
  record("ada");
  await comeRound();
  assert.deepEqual(heard, []);
  database.isAway = false;
  await comeRound();
  assert.deepEqual(heard, ["ada 0 written"]);
});

test("shared: who began to listen while the database was away is told of a reset, and then of all", async (context) => {
  const { database, events, record, comeRound } = sharedSetUp(context);
  database.isAway = true;
  const { heard, hear } = ears();
  await assert.rejects(events.listen(ACCOUNT, "ada", hear).ready, /away/);
  database.isAway = false;
  await comeRound();
  record("ada");
  await comeRound();
  assert.deepEqual(heard, ["reset", "ada 0 written"]);
});

test("shared: a log that has begun anew, and a database that was put back, are a reset", async (context) => {
  const { database, events, clock, record, putBack, comeRound } = sharedSetUp(context);
  const { heard, hear } = ears();
  await events.listen(ACCOUNT, undefined, hear).ready;
  record("ada", 5);
  await comeRound();
  heard.length = 0;
  putBack(2);
  await comeRound();
  assert.deepEqual(heard, ["reset"]);
  database.log = "two";
  clock.advance(HOUR_MS);
  await comeRound();
  assert.deepEqual(heard, ["reset", "reset"]);
});

test("shared: who comes back to another node hears what it has missed, and nothing twice", async (context) => {
  const { events, record, comeRound } = sharedSetUp(context);
  const other = ears();
  await events.listen(ACCOUNT, "eve", other.hear).ready;
  record("ada", 3);
  const { heard, hear } = ears();
  await events.listen(ACCOUNT, "ada", hear, "one-1").ready;
  assert.equal(heard.length, 2);
  record("ada");
  await comeRound();
  assert.equal(heard.length, 3);
});
