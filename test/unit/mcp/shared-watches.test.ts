/** The watches that clients share: how often a stamp is read, who is told, and how many there may be. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ACCOUNT_WATCHED_MAX, SharedWatches } from "../../../src/mcp/shared-watches.ts";
import { WATCH_INTERVAL_MS } from "../../../src/mcp/watch.ts";
import { settled } from "../blockwork/fake-workers.ts";

/** A store of stamps, with what was asked of it. */
function setUp(context: TestContext) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const stamps = new Map<string, string>();
  const unreadable = new Set<string>();
  const asked = { one: [] as string[], many: [] as string[][] };
  const read = (userId: string) => {
    if (unreadable.has(userId)) throw new Error("damaged");
    return stamps.get(userId);
  };
  const watches = new SharedWatches({
    readStamp(_account, userId) {
      asked.one.push(userId);
      return read(userId);
    },
    async readStamps(users) {
      asked.many.push(users.map(({ userId }) => userId));
      return users.map(({ userId }) => read(userId));
    },
  });
  const comeRound = async () => {
    context.mock.timers.tick(WATCH_INTERVAL_MS);
    await settled();
  };
  const told: string[] = [];
  const tell = (userId: string) => void told.push(userId);
  /** Begins to listen. */
  const listen = async (userId: string, account = "acme", onChange = tell) => {
    const release = watches.hold(account, userId, onChange);
    await watches.check(account, userId);
    return release;
  };
  return { watches, stamps, unreadable, asked, comeRound, told, listen };
}

test("however many listen to a memory, its stamp is read once in a round, with those of all others", async (context) => {
  const { stamps, asked, comeRound, told, listen } = setUp(context);
  const releases = [await listen("ada"), await listen("ada"), await listen("ada", "globex")];
  releases.push(await listen("eve"));
  assert.deepEqual(asked.one, ["ada", "ada", "eve"]);
  await comeRound();
  assert.deepEqual(asked.many, [["ada", "ada", "eve"]]);
  stamps.set("eve", "1");
  await comeRound();
  assert.deepEqual(told, ["eve"]);
  for (const release of releases) release();
  await comeRound();
  assert.equal(asked.many.length, 2);
});

test("each who asked to be told is told once of a change, until the last of those that it asked for ends", async (context) => {
  const { stamps, comeRound, told, listen } = setUp(context);
  const others: string[] = [];
  const releases = [await listen("ada"), await listen("ada")];
  await listen("ada", "acme", (userId) => void others.push(userId));
  for (const [stamp, release] of ["1", "2", "3"].map((stamp, i) => [stamp, releases[i]] as const)) {
    stamps.set("ada", stamp);
    await comeRound();
    release?.();
  }
  assert.deepEqual(told, ["ada", "ada"]);
  assert.deepEqual(others, ["ada", "ada", "ada"]);
});

test("a memory that cannot be read keeps nobody else from hearing, and has changed when it is back", async (context) => {
  const { stamps, unreadable, comeRound, told, listen } = setUp(context);
  stamps.set("away", "1");
  unreadable.add("away");
  await listen("away");
  await listen("ada");
  stamps.set("ada", "1");
  await comeRound();
  assert.deepEqual(told, ["ada"]);
  unreadable.clear();
  await comeRound();
  assert.deepEqual(told, ["ada", "away"]);
  unreadable.add("away");
  await comeRound();
  unreadable.clear();
  await comeRound();
  assert.deepEqual(told, ["ada", "away"]);
});

test("an account has so many watches and no more, whatever other accounts have", async (context) => {
  const { watches, asked, comeRound, listen } = setUp(context);
  const releases = Array.from({ length: ACCOUNT_WATCHED_MAX }, (_, i) =>
    watches.hold("acme", `user${i}`, () => {}),
  );
  await assert.rejects(listen("one more"), {
    name: "TooManyWatches",
    message: /at most 1,024 memories at once/,
  });
  (await listen("user7"))();
  await listen("one more", "globex");
  releases[0]();
  await listen("one more");
  await assert.rejects(listen("user0"), { name: "TooManyWatches" });
  await comeRound();
  await settled();
  assert.equal(asked.many.flat().length, ACCOUNT_WATCHED_MAX + 1);
  assert.ok(asked.many.length < 10, `${asked.many.length} reads`);
});
