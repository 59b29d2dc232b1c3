/** The list of erasures: what is noted of whom, that it names nobody, and what is forgotten again by it. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import { Audit } from "../../../src/memory/audit.ts";
import { erasuresIn } from "../../../src/memory/erasure-lines.ts";
import { notedErasures } from "../../../src/memory/erasures.ts";
import { forgetUser } from "../../../src/memory/facts.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import type { Change, Store } from "../../../src/memory/ports.ts";
import { disown } from "../../../src/memory/project-sharing.ts";
import { eraseAgain } from "../../../src/memory/repeated-erasures.ts";
import { projectUser, sharedPlace } from "../../../src/memory/shared-places.ts";
import { SharedProjects } from "../../../src/memory/shared-projects.ts";
import { keyRecord } from "../../conformance/store-under-test.ts";
import { viewOf } from "../../fixtures/views.ts";
import { ACCOUNT, memoryServices } from "./memory-services.ts";

async function setUp(context: TestContext) {
  const memory = await memoryServices(context, "2026-11-18T20:00:00Z");
  const { store, clock, write } = memory;
  const keyRing = new KeyRing([{ id: 7, material: new Uint8Array(32).fill(7) }]);
  const lines: string[] = [];
  const add = async (line: string) => void lines.push(line);
  const noted = notedErasures(store, { keyRing, clock, add });
  await write("ada", "Ada");
  await write("eve", "Eve");
  const inPlaces = ["", "loom", "loom/tree", "tent"].map((place) => ({
    place,
    label: "USER.name",
    value: "Bob",
  }));
  for (const change of inPlaces) await store.write({ ...viewOf("bob"), changes: [change] });
  return { ...memory, keyRing, lines, noted };
}

test("an erasure is noted before it is done, with its moment and a hash, and without a name; an unknown user is not", async (context) => {
  const { noted, lines, store, clock, keyRing } = await setUp(context);
  assert.equal(await noted.forgetUser(ACCOUNT, "nobody"), undefined);
  assert.deepEqual(lines, []);
  assert.ok(await noted.forgetUser(ACCOUNT, "ada"));
  assert.match(lines[0], /^2026-11-18T20:00:00\.000Z 7 [0-9a-f]{64}\n$/);
  assert.equal(store.readUser(viewOf("ada")), undefined);
  const failing = notedErasures(store, { keyRing, clock, add: () => Promise.reject(new Error("ENOSPC")) });
  await assert.rejects(
    failing.forgetUser(ACCOUNT, "eve"),
    (error: { code: string; extra: { reason: string } }) => {
      assert.equal(error.code, "store_unavailable");
      return /list of erasures cannot be written.*ENOSPC/.test(error.extra.reason);
    },
  );
  assert.ok(store.readUser(viewOf("eve")), "what cannot be noted is not erased");
});

test("who was written while an erasure found nobody is erased, and noted", async (context) => {
  const { noted, lines, store } = await setUp(context);
  const { mock } = context.mock.method(
    store,
    "forgetUser",
    async (...given: Parameters<Store["forgetUser"]>) => {
      mock.restore();
      await store.write({
        ...viewOf("nobody"),
        changes: [{ place: "", label: "USER.name", value: "Nobody" }],
      });
      return store.forgetUser(...given);
    },
  );
  assert.equal((await noted.forgetUser(ACCOUNT, "nobody"))?.facts, 1);
  assert.match(lines[0], /^2026-11-18T20:00:00\.000Z 7 [0-9a-f]{64}\n$/);
});

test("erasures and moves are under way until they are done, or have failed; other writes are not", async (context) => {
  const { store, clock, keyRing } = await setUp(context);
  const underWay = new Set<Promise<unknown>>();
  const counts: number[] = [];
  const commit = async () => {
    counts.push(underWay.size);
    throw new Error("EIO");
  };
  const failing = Object.assign(Object.create(store), { write: commit, forgetUser: commit });
  const noted = notedErasures(failing, { keyRing, clock, add: async () => {}, underWay });
  const change = (...changes: Change[]) => noted.write({ ...viewOf("bob"), changes });
  await assert.rejects(noted.forgetUser(ACCOUNT, "ada"), /EIO/);
  await assert.rejects(change({ kind: "move", from: "loom", to: "ship" }), /EIO/);
  await assert.rejects(change({ kind: "disown", author: "eve" }), /EIO/);
  await assert.rejects(change({ place: "", label: "USER.name", value: "Bo" }), /EIO/);
  assert.deepEqual(counts, [1, 1, 1, 0]);
  assert.equal(underWay.size, 0);
});

test("who has a connected application and no fact is noted too, and a restored connection ends again", async (context) => {
  const { noted, lines, store, keyRing, clock } = await setUp(context);
  const grant = { keyId: "k1", resource: "https://m.example/mcp", client: "c", returnsTo: "app.example" };
  const record = {
    ...keyRecord("g1", ACCOUNT, { user: "gil", prefix: "sba_" }),
    grant: { ...grant, refreshes: 0, recentMs: [] },
  };
  assert.equal(await store.addKey(record), "added");
  const erased = await noted.forgetUser(ACCOUNT, "gil");
  assert.deepEqual([erased?.connections, erased?.facts, lines.length], [1, 0, 1]);
  assert.equal(await store.addKey(record), "added");
  const erasures = erasuresIn(lines.join(""));
  assert.deepEqual(await eraseAgain({ store, keyRing, clock }, erasures), { erased: 1, unreadable: 0 });
  assert.equal(await store.readKey("g1"), undefined);
});

test("who is on the list is forgotten again, with a project alone where that was erased, and nobody else", async (context) => {
  const { noted, lines, store, keyRing, clock, write } = await setUp(context);
  await noted.forgetUser(ACCOUNT, "ada");
  await noted.forgetUser(ACCOUNT, "bob", "loom");
  // As a restored backup has them.
  await write("ada", "Ada");
  const back = ["loom/tree", "loom"].map((place) => ({ place, label: "USER.name", value: "Bob" }));
  for (const change of back) await store.write({ ...viewOf("bob"), changes: [change] });
  const erasures = erasuresIn(lines.join(""));
  assert.deepEqual(await eraseAgain({ store, keyRing, clock }, erasures), { erased: 2, unreadable: 0 });
  assert.equal(store.readUser(viewOf("ada")), undefined);
  assert.ok(store.readUser(viewOf("eve")));
  assert.deepEqual(await store.listPlaces(ACCOUNT, "bob"), ["", "tent"]);
  assert.deepEqual(
    await eraseAgain({ store, keyRing, clock }, erasures),
    { erased: 0, unreadable: 0 },
    "it may be repeated",
  );
});

test("who shares a project and has no fact is noted too, and a restored member goes again", async (context) => {
  const { noted, lines, store, keyRing, clock } = await setUp(context);
  const share = (members: string[]) =>
    store.changeProject(ACCOUNT, { project: "loom", members, createdAtMs: 1 });
  await share(["gil", "ada"]);
  assert.ok(await noted.forgetUser(ACCOUNT, "gil"));
  assert.equal(lines.length, 1);
  await share(["gil", "ada"]);
  const erasures = erasuresIn(lines.join(""));
  assert.deepEqual(await eraseAgain({ store, keyRing, clock }, erasures), { erased: 1, unreadable: 0 });
  assert.deepEqual((await store.readProjects(ACCOUNT))[0]?.members, ["ada"]);
});

test("a name that the audit alone has is noted too, once, and a restored one goes again", async (context) => {
  const { noted, lines, store, keyRing, clock } = await setUp(context);
  const audit = new Audit({ store, keyRing, clock });
  const changed = { account: ACCOUNT, members: ["zed", "ada"] };
  const notes = Array.from({ length: 501 }, (_, i) =>
    audit.note(`share${i}`, { address: "", requestId: "" }, { account: ACCOUNT, ...(i === 0 && changed) }),
  );
  const fill = () => Promise.all(notes.map((note) => audit.add(note)));
  const names = async () =>
    (await audit.list({ limit: 1000 })).notes.flatMap((note) => note.names.map(({ name }) => name));
  await fill();
  for (let i = 0; i < 2; i++) assert.equal(await noted.forgetUser(ACCOUNT, "zed"), undefined);
  assert.equal(lines.length, 1);
  assert.deepEqual(await names(), ["ada"]);
  // As a restored backup has them.
  await store.forgetUser(ACCOUNT, "ada");
  await fill();
  assert.deepEqual((await names()).sort(), ["ada", "zed"]);
  const erasures = erasuresIn(lines.join(""));
  assert.deepEqual(await eraseAgain({ store, keyRing, clock }, erasures), { erased: 1, unreadable: 0 });
  assert.deepEqual(await names(), ["ada"]);
  assert.equal((await eraseAgain({ store, keyRing, clock }, erasures)).erased, 0);
});

test("a name that a restored backup has in what is shared goes again, also of one who has nothing else", async (context) => {
  const { noted, lines, store, keyRing, clock, write } = await setUp(context);
  await store.changeProject(ACCOUNT, { project: "loom", members: null, createdAtMs: 1 });
  const at = sharedPlace("loom");
  const team = projectUser("loom");
  const bySomeone = async (userId: string, value: string | null) => {
    const view = { ...viewOf(userId), places: ["", at, "loom"], shared: { project: "loom" } };
    await store.write({ ...view, changes: [{ place: at, label: "PROJ.goal", value, keepHistory: true }] });
  };
  // As it is before the erasures, and again in the restored backup.
  const writeAll = async () => {
    await write("ada", "Ada");
    for (const [userId, value] of [
      ["ada", "hers"],
      ["kay", "kay's"],
      ["bob", "bob's"],
      ["lin", null],
    ] as const)
      await bySomeone(userId, value);
  };
  const names = async () => {
    const { facts, earlier } = (await store.readLife(ACCOUNT, team, { nowMs: clock.now() }))!;
    return [...earlier, ...facts].map(({ value, author, ...more }) => [
      value,
      author,
      "endedBy" in more ? more.endedBy : undefined,
    ]);
  };
  await writeAll();
  const services = { store: noted, clock, projects: new SharedProjects(store) };
  for (const userId of ["ada", "kay", "lin"]) await disown(services, ACCOUNT, userId);
  await noted.forgetUser(ACCOUNT, "ada");
  const erasures = erasuresIn(lines.join(""));
  assert.deepEqual(new Set(erasures.map(({ marks }) => marks[0]?.hash)).size, 3);
  await store.forgetUser(ACCOUNT, team);
  await writeAll();
  assert.deepEqual(await eraseAgain({ store, keyRing, clock }, erasures), { erased: 3, unreadable: 0 });
  assert.deepEqual(await names(), [
    ["hers", undefined, undefined],
    ["kay's", undefined, undefined],
    ["bob's", "bob", undefined],
  ]);
  assert.equal(store.readUser(viewOf("ada")), undefined);
});

test("an erasure that was cut off before the names went is asked for again, and takes those that are left", async (context) => {
  const { services, store } = await setUp(context);
  const at = sharedPlace("loom");
  await store.changeProject(ACCOUNT, { project: "loom", members: ["ada"], createdAtMs: 1 });
  const view = { ...viewOf("ada"), places: ["", at, "loom"], shared: { project: "loom" } };
  await store.write({ ...view, changes: [{ place: at, label: "PROJ.goal", value: "hers" }] });
  const authors = async () =>
    (await store.readLife(ACCOUNT, projectUser("loom"), { nowMs: 1 }))?.facts.map(({ author }) => author);
  const cut = Object.assign(Object.create(store), {
    write: async () => {
      throw new Failure("outcome_unknown", "The connection was lost.");
    },
  });
  const erase = (through = store) => forgetUser({ ...services, store: through }, ACCOUNT, { userId: "ada" });
  await assert.rejects(erase(cut), { code: "outcome_unknown" });
  assert.equal(store.readUser(viewOf("ada")), undefined);
  assert.deepEqual(await authors(), ["ada"]);
  const { erased, left } = await erase();
  assert.deepEqual([erased.labels, left], [0, [{ project: "loom", values: 1 }]]);
  assert.deepEqual(await authors(), [undefined]);
  await assert.rejects(erase(), { code: "not_found" });
});

test("a hash of another master key tells nothing, and is counted; a line that was cut off is left out", async (context) => {
  const { noted, lines, store, clock, write } = await setUp(context);
  await noted.forgetUser(ACCOUNT, "ada");
  await write("ada", "Ada");
  const other = new KeyRing([{ id: 8, material: new Uint8Array(32).fill(8) }]);
  const erasures = erasuresIn(`${lines[0]}${lines[0].slice(0, 50)}`);
  assert.deepEqual(await eraseAgain({ store, keyRing: other, clock }, erasures), {
    erased: 0,
    unreadable: 1,
  });
  const impostor = new KeyRing([{ id: 7, material: new Uint8Array(32).fill(9) }]);
  assert.deepEqual(await eraseAgain({ store, keyRing: impostor, clock }, erasures), {
    erased: 0,
    unreadable: 0,
  });
  assert.ok(store.readUser(viewOf("ada")));
});
