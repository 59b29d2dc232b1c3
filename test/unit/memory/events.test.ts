/** Who is told of an event, how often, and what a listener hears that comes back. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EventMessage,
  type EventSource,
  type Listening,
  MEMORIES_MAX,
  type NumberedEvent,
  UserEvents,
} from "../../../src/memory/events.ts";
import { forgetFact, forgetUser } from "../../../src/memory/facts.ts";
import { sharedPlace } from "../../../src/memory/shared-places.ts";
import { ACCOUNT, memoryServices } from "./memory-services.ts";

const HOUR_MS = 3_600_000;

function textOf(heard: EventMessage): string {
  if (typeof heard === "string") return heard;
  const { userId, label, kind } = heard.event;
  return `${userId} ${label} ${kind}`;
}

/** A listener that notes what it hears. */
function ears() {
  const heard: string[] = [];
  const ids: string[] = [];
  const hear = (event: EventMessage) => {
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

/** A source that tells what it is told to, and knows what was missed when it is let. */
function sourceOf(missed: readonly NumberedEvent[]) {
  let tell: (account: string, heard: EventMessage) => void = () => {};
  let know = () => {};
  const known = new Promise<void>((resolve) => {
    know = resolve;
  });
  const calls: string[] = [];
  const source: EventSource = {
    begin: async () => {},
    end: () => void calls.push("end"),
    after: async () => known.then(() => missed),
    start: (to) => {
      tell = to;
    },
    close: () => void calls.push("close"),
  };
  return { events: new UserEvents(source), calls, know, tell: (heard: EventMessage) => tell(ACCOUNT, heard) };
}

test("who comes back hears what it has missed first, then what has come meanwhile, and nothing twice or of others", async () => {
  const told = (number: number, userId = "ada"): NumberedEvent => {
    const event = { userId, place: "", label: `${number}`, revision: 1, writtenBy: null, atMs: 0 };
    return { id: `log-${number}`, number, event: { ...event, kind: "written" } };
  };
  const { events, calls, know, tell } = sourceOf([told(1), told(2, "eve"), told(3)]);
  const [ada, all] = [ears(), ears()];
  const listenings = [
    events.listen(ACCOUNT, "ada", ada.hear, "log-0"),
    events.listen(ACCOUNT, undefined, all.hear, "log-0"),
  ];
  for (const event of [told(2, "eve"), told(3), told(4)]) tell(event);
  assert.deepEqual([ada.ids, all.ids], [[], []]);
  know();
  await Promise.all(listenings.map(({ ready }) => ready));
  tell(told(3));
  tell(told(5));
  assert.deepEqual(ada.ids, ["log-1", "log-3", "log-4", "log-5"]);
  assert.deepEqual(all.ids, ["log-1", "log-2", "log-3", "log-4", "log-5"]);
  events.close();
  for (const { stop } of listenings) stop();
  assert.deepEqual([calls, ada.heard.at(-1)], [["close"], "end"]);
});

/** What one who comes back hears of what it has missed. */
function comingBack() {
  const told = (number: number, userId: string, place: string, label?: string): NumberedEvent => {
    const event = { userId, place, label, revision: 1, writtenBy: null, atMs: 0 };
    const kind = label === undefined ? "forgotten" : "written";
    return { id: `${number}`, number, event: { ...event, kind } };
  };
  const heardAgain = async (missed: readonly NumberedEvent[]) => {
    const { events, know } = sourceOf(missed);
    const all = ears();
    const { ready } = events.listen(ACCOUNT, undefined, all.hear, "0");
    know();
    await ready;
    return all.ids;
  };
  return { heardAgain, told };
}

test("who comes back is told nothing of what was forgotten later, and of the forgetting once", async () => {
  const { heardAgain, told } = comingBack();
  const heard = await heardAgain([
    told(1, "ada", "loom", "x"),
    told(2, "ada", "loo", "x"),
    told(3, "eve", "loom", "x"),
    told(4, "ada", "loom/w", "x"),
    told(5, "ada", "loom/w"),
    told(6, "ada", "loom"),
    told(7, "ada", "loom", "x"),
    told(8, "bob", "", "x"),
    told(9, "bob", "loom", "x"),
    told(10, "bob", ""),
  ]);
  assert.deepEqual(heard, ["2", "3", "6", "7", "10"]);
});

test("who comes back is told nothing of what a person wrote in a shared project who was erased later", async () => {
  const { heardAgain, told } = comingBack();
  const [team, other] = [sharedPlace("loom"), sharedPlace("tent")];
  const heard = await heardAgain([
    told(1, "ada", team, "x"),
    told(2, "eve", team, "x"),
    told(3, "bob", team, "x"),
    told(4, "eve", other, "x"),
    told(5, "ada", ""),
    // Of a project of one's own, not of what is shared in it.
    told(6, "bob", "loom"),
    told(7, "ada", team, "x"),
    told(8, "", other),
  ]);
  assert.deepEqual(heard, ["2", "3", "5", "6", "7", "8"]);
});

test("all who listen are told of the end", async (context) => {
  const { services } = await memoryServices(context);
  const { heard, hear } = ears();
  await services.events.listen(ACCOUNT, undefined, hear).ready;
  services.events.close();
  assert.deepEqual(heard, ["end"]);
});
