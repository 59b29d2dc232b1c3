/** Events of a database that several nodes write to: what is read, told once, and known to one who comes back. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { sealedIds } from "../../../src/memory/event-ids.ts";
import { type EventMessage, UserEvents } from "../../../src/memory/events.ts";
import type { EventLog, RecordedEvent } from "../../../src/memory/records.ts";
import { SharedEvents } from "../../../src/memory/shared-events.ts";
import { FakeClock, settled } from "../blockwork/fake-workers.ts";
import { ACCOUNT } from "./memory-services.ts";

const HOUR_MS = 3_600_000;
const OTHER = "globex";
const idsOf = sealedIds([new Uint8Array(32)]);
const idOf = (number: number, log = "one") => idsOf(ACCOUNT, log).idOf(number);

/** A listener that notes what it hears. */
function ears() {
  const heard: string[] = [];
  const hear = (event: EventMessage) => {
    if (typeof event === "string") heard.push(event);
    else heard.push(`${event.event.userId} ${event.event.label} ${event.event.kind}`);
  };
  return { heard, hear };
}

/** A gate that is open until it is shut. */
function gate() {
  let opened = Promise.resolve();
  let open = () => {};
  const shut = () => {
    opened = new Promise((resolve) => {
      open = resolve;
    });
  };
  return { pass: () => opened, shut, open: () => open() };
}

/** Nodes that share what is recorded here. */
function setUp(context: TestContext) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const recorded: RecordedEvent[] = [];
  const database = {
    isAway: false,
    log: "one",
    first: 0,
    last: 0,
    /** What was asked for. */
    reads: [] as [accounts: readonly string[], after: number][],
    follows: [] as [account: string, untilMs: number][],
    following: gate(),
    reading: gate(),
  };
  const putBack = (last: number) => {
    database.last = last;
    recorded.splice(last);
  };
  const eventLog: EventLog = {
    readProjects: () => [],
    async followEvents(...asked) {
      database.follows.push(asked);
      if (database.isAway) throw new Error("away");
      await database.following.pass();
      return { log: database.log, last: database.last };
    },
    async readEvents(accounts, after, limit) {
      database.reads.push([accounts, after]);
      if (database.isAway) throw new Error("away");
      await database.reading.pass();
      const events = recorded.filter(({ account, number }) => accounts.includes(account) && number > after);
      return { first: database.first, last: database.last, events: events.slice(0, limit) };
    },
  };
  const clock = new FakeClock(0);
  const source = new SharedEvents(eventLog, clock, idsOf);
  const events = new UserEvents(source);
  context.after(() => events.close());
  const record = (userId: string, count = 1, more: Partial<RecordedEvent> = {}) => {
    for (let i = 0; i < count; i++) {
      database.last += 1;
      const fact = {
        place: "",
        label: "USER.name",
        revision: 1,
        writtenBy: null,
        atMs: 0,
        kind: "written",
      } as const;
      recorded.push({ account: ACCOUNT, number: database.last, userId, ...fact, ...more });
    }
  };
  const comeRound = async () => {
    context.mock.timers.tick(250);
    for (let i = 0; i < 50; i++) await settled();
  };
  return { database, source, events, clock, record, putBack, comeRound };
}

test("what is recorded is told once, page by page, and nothing from before", async (context) => {
  const { database, events, record, comeRound } = setUp(context);
  record("ada", 3);
  const { heard, hear } = ears();
  const { ready, stop } = events.listen(ACCOUNT, "ada", hear);
  await ready;
  record("ada", 2_500);
  await comeRound();
  await comeRound();
  assert.equal(heard.length, 2_500);
  stop();
  const reads = database.reads.length;
  await comeRound();
  assert.equal(database.reads.length, reads, "nobody listens, and nothing is read");
});

test("while the database is away nothing is lost", async (context) => {
  const { database, events, record, comeRound } = setUp(context);
  const { heard, hear } = ears();
  await events.listen(ACCOUNT, "ada", hear).ready;
  database.isAway = true;
  record("ada");
  await comeRound();
  assert.deepEqual(heard, []);
  database.isAway = false;
  await comeRound();
  assert.deepEqual(heard, ["ada USER.name written"]);
});

test("who began to listen while the database was away is told of a reset, and then of all", async (context) => {
  const { database, events, record, comeRound } = setUp(context);
  database.isAway = true;
  const { heard, hear } = ears();
  await assert.rejects(events.listen(ACCOUNT, "ada", hear).ready, /away/);
  database.isAway = false;
  await comeRound();
  record("ada");
  await comeRound();
  assert.deepEqual(heard, ["reset", "ada USER.name written"]);
});

test("a log that has begun anew, and a database that was put back, are a reset", async (context) => {
  const { database, events, clock, record, putBack, comeRound } = setUp(context);
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

test("who comes back to another node hears what it has missed, and nothing twice", async (context) => {
  const { events, record, comeRound } = setUp(context);
  const other = ears();
  await events.listen(ACCOUNT, "eve", other.hear).ready;
  record("ada", 3);
  const { heard, hear } = ears();
  await events.listen(ACCOUNT, "ada", hear, idOf(1)).ready;
  assert.equal(heard.length, 2);
  record("ada");
  await comeRound();
  assert.equal(heard.length, 3);
});

test("who comes back is told what it has missed, or that it is not known", async (context) => {
  const { database, source, record } = setUp(context);
  assert.equal(await source.after(ACCOUNT, idOf(0)), undefined, "nobody listens to the account");
  await source.begin(ACCOUNT);
  record("ada", 3);
  database.first = 1;
  const missed = async (id: string) => (await source.after(ACCOUNT, id))?.map((told) => told.id);
  assert.deepEqual(await missed(idOf(1)), [idOf(2), idOf(3)]);
  assert.deepEqual(await missed(idOf(3)), []);
  const foreign = idsOf(OTHER, "one").idOf(1);
  for (const id of [idOf(0), idOf(4), idOf(1, "two"), foreign, "one-1", ""])
    assert.equal(await missed(id), undefined, id);
  record("ada", 9_998);
  assert.equal((await missed(idOf(2)))?.length, 9_999);
  assert.equal(await missed(idOf(1)), undefined, "too much to tell");
});

test("an account is followed once, for the hour in which one may come back, and again every five minutes", async (context) => {
  const { database, source, events, clock, record, comeRound } = setUp(context);
  const { heard, hear } = ears();
  await Promise.all([events.listen(ACCOUNT, "ada", hear).ready, source.begin(ACCOUNT)]);
  await source.begin(ACCOUNT);
  const untilMs = HOUR_MS + 600_000;
  assert.deepEqual(database.follows, [[ACCOUNT, untilMs]]);
  clock.advance(299_999);
  await comeRound();
  assert.equal(database.follows.length, 1);
  record("ada");
  clock.advance(1);
  await comeRound();
  assert.deepEqual(database.follows.slice(1), [[ACCOUNT, untilMs + 300_000]]);
  assert.deepEqual(heard, ["ada USER.name written"]);
});

test("while the database has not answered it is not asked again", async (context) => {
  const { database, events, record, comeRound } = setUp(context);
  const [first, second] = [ears(), ears()];
  database.following.shut();
  const listening = events.listen(ACCOUNT, "ada", first.hear);
  await comeRound();
  assert.deepEqual([database.follows.length, database.reads], [1, []]);
  database.following.open();
  await listening.ready;
  database.following.shut();
  events.listen(OTHER, "eve", second.hear);
  database.reading.shut();
  await comeRound();
  await comeRound();
  assert.deepEqual([database.follows.length, database.reads], [2, [[[ACCOUNT], 0]]]);
  record("ada");
  database.reading.open();
  database.following.open();
  await comeRound();
  assert.deepEqual([first.heard, second.heard], [["ada USER.name written"], []]);
});

test("each account is told what has happened since it is listened to, and goes on without the others", async (context) => {
  const { database, events, record, comeRound } = setUp(context);
  const [early, late] = [ears(), ears()];
  const { ready, stop } = events.listen(ACCOUNT, "ada", early.hear);
  await ready;
  record("ada", 1_500);
  record("eve", 1, { account: OTHER });
  await events.listen(OTHER, "eve", late.hear).ready;
  record("eve", 1, { account: OTHER, kind: "forgotten", label: null });
  await comeRound();
  assert.deepEqual([early.heard.length, late.heard], [1_500, ["eve undefined forgotten"]]);
  await comeRound();
  assert.deepEqual(database.reads.at(-1), [[ACCOUNT, OTHER], 1_502]);
  stop();
  record("ada");
  record("eve", 1, { account: OTHER });
  await comeRound();
  assert.deepEqual([early.heard.length, late.heard.length], [1_500, 2]);
});

test("one who stops while the database is read is told nothing, and the others are told all", async (context) => {
  const { database, events, record, comeRound } = setUp(context);
  const [going, staying] = [ears(), ears()];
  const { ready, stop } = events.listen(ACCOUNT, "ada", going.hear);
  await Promise.all([ready, events.listen(OTHER, "eve", staying.hear).ready]);
  record("ada");
  record("eve", 1, { account: OTHER });
  database.reading.shut();
  await comeRound();
  stop();
  database.reading.open();
  for (let i = 0; i < 10; i++) await settled();
  assert.deepEqual([going.heard, staying.heard], [[], ["eve USER.name written"]]);
});

test("after the end nothing is read", async (context) => {
  const { database, events, comeRound } = setUp(context);
  await events.listen(ACCOUNT, "ada", () => {}).ready;
  events.close();
  await comeRound();
  assert.deepEqual(database.reads, []);
});
