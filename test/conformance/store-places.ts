/**
 * What every store must keep in order when places, ends and histories meet: counts, stamps, the order of answers, who
 * wrote what. The rest of the suite is store.ts.
 */

import assert from "node:assert/strict";
import type { FactChange } from "../../src/memory/ports.ts";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { briefly, labelAt, numberOf, viewOf } from "../fixtures/views.ts";
import { keyRequest } from "./key-requests.ts";
import { storeBoundsConformance } from "./store-bounds.ts";
import {
  beforeIn,
  checksOf,
  forget,
  forgottenIn,
  keyRecord,
  NOW,
  type StoreUnderTest,
  set,
  stored,
  write,
} from "./store-under-test.ts";

export function storePlacesConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  storeBoundsConformance(name, open);
  const check = checksOf(name, open);

  check("facts of places are counted, and a user is gone with the last of them", async ({ store }) => {
    const counts = async () => {
      const { users, facts } = await store.statistics();
      return [users, facts];
    };
    await stored(store, [set(1, "a", { place: "loom" })]);
    await stored(store, [set(2, "b", { place: "loom" }), set(2, "c", { place: "loom/x" })]);
    assert.deepEqual(await counts(), [1, 3]);
    await stored(store, [forget(1, { place: "loom" }), forget(2, { place: "loom/x" })]);
    assert.deepEqual(await counts(), [1, 1]);
    await stored(store, [forget(2, { place: "loom" })]);
    assert.deepEqual(await counts(), [0, 0]);
    assert.equal(await store.readStamp("acme", "ada"), undefined);
  });

  check(
    "all places of a user are listed, also those with only a history, and no others",
    async ({ store }) => {
      assert.deepEqual(await store.listPlaces("acme", "ada"), []);
      const places = ["", "loom", "loom/x", "loom-2", "ζ"];
      for (const place of places) await stored(store, [set(1, "a", { place })]);
      await stored(store, [set(200, "b", { place: "loom" })], NOW, {
        // Its answer is kept beside the history.
        idempotency: { keyId: "key1", key: "k", fingerprint: Buffer.alloc(32, 1), expiresAtMs: NOW + 1_000 },
      });
      await store.write(write("eve", [], { changes: [set(1, "a", { place: "other" })] }));
      await stored(store, [forget(1, { place: "loom/x", keepHistory: true })], NOW + 1);
      assert.deepEqual(await store.listPlaces("acme", "ada"), ["", "loom", "loom-2", "loom/x", "ζ"]);
      await store.forgetUser("acme", "ada", "loom-2");
      assert.deepEqual(await store.listPlaces("acme", "ada"), ["", "loom", "loom/x", "ζ"]);
      await store.forgetUser("acme", "ada");
      assert.deepEqual(await store.listPlaces("acme", "ada"), []);
    },
  );

  check("the innermost place counts, whichever was written first", async ({ store }) => {
    await stored(store, [set(1, "the project's", { place: "loom" })]);
    await stored(store, [set(1, "the person's")]);
    const state = await store.readUser(viewOf("ada", "acme", { places: ["", "loom"] }));
    assert.deepEqual(rowsOf(state?.facts, "place", "value"), [["loom", "the project's"]]);
  });

  check("a write that changes nothing and counts no place says so", async ({ store }) => {
    await stored(store, [set(1, "a")]);
    const outcome = await stored(store, [], NOW, { places: [] });
    assert.deepEqual([outcome.changes, outcome.channelCount], [[], 0]);
  });

  check("a user whose last place is forgotten is gone, and nobody has a place", async ({ store }) => {
    assert.equal(await store.forgetUser("acme", "nobody", "loom"), undefined);
    await stored(store, [set(1, "a", { place: "loom" }), set(2, "x", { place: "loom/x" })]);
    await stored(store, [set(1, "b", { place: "loom" }), forget(2, { place: "loom/x", keepHistory: true })]);
    assert.equal(await store.forgetUser("acme", "ada", "loom2"), undefined);
    assert.ok(await store.forgetUser("acme", "ada", "loom"));
    assert.equal(await store.readStamp("acme", "ada"), undefined);
    assert.equal(await store.forgetUser("acme", "ada"), undefined);
    const { users, facts } = await store.statistics();
    assert.deepEqual([users, facts], [0, 0]);
  });

  check(
    "what is left of a user after a place was forgotten is whole, and goes as ever",
    async ({ store }) => {
      await stored(store, [
        set(0, "Ada"),
        set(1, "gone"),
        set(1, "a", { place: "loom" }),
        set(2, "b", { place: "loom" }),
      ]);
      await stored(store, [
        forget(1, { keepHistory: true }),
        set(1, "a2", { place: "loom" }),
        forget(2, { place: "loom", keepHistory: true }),
      ]);
      assert.ok(await store.forgetUser("acme", "ada", "loom"));
      assert.equal((await store.readFact(viewOf("ada"), labelAt(0)))?.value, "Ada");
      await stored(store, [forget(0), forget(1)]);
      assert.equal(await store.readStamp("acme", "ada"), undefined);
      assert.equal((await store.statistics()).users, 0);
    },
  );

  check("no stamp comes twice, whatever ends", async ({ store }) => {
    const stamps: (string | undefined)[] = [];
    const step = async (changes: FactChange[], nowMs: number) => {
      await stored(store, changes, nowMs);
      stamps.push(await store.readStamp("acme", "ada"));
    };
    await step([set(0, "Ada")], NOW);
    await step([set(1, "a", { place: "loom" })], NOW + 1);
    await step([set(2, "short", { expiresAtMs: NOW + 3 })], NOW + 2);
    await store.sweep(NOW + 3);
    stamps.push(await store.readStamp("acme", "ada"));
    await step([set(3, "kept")], NOW + 4);
    await step([forget(3, { keepHistory: true })], NOW + 5);
    await store.forgetUser("acme", "ada", "loom");
    stamps.push(await store.readStamp("acme", "ada"));
    assert.equal(new Set(stamps).size, 7);
    assert.ok(!stamps.includes(undefined));
  });

  check("no revision comes twice, however a user is removed", async ({ store }) => {
    const removals = [
      () => stored(store, [forget(0, { place: "loom" })]),
      () => store.forgetUser("acme", "ada", "loom"),
      () => store.forgetUser("acme", "ada"),
    ];
    let last = 0;
    for (const remove of [...removals, async () => {}]) {
      for (let i = 0; i < 3; i++) {
        const { revision } = await stored(store, [set(0, `${i}`, { place: "loom" })]);
        assert.ok(revision > last, `${revision} after ${last}`);
        last = revision;
      }
      await remove();
    }
  });

  check("forgetting counts nothing, and is not refused where the limit is passed", async ({ store }) => {
    const quota = { keyId: "key1", month: "2026-11", day: "2026-11-15", limit: 3 };
    await stored(store, [set(0, "a"), set(1, "b"), set(2, "c")], NOW, { quota });
    const full = await stored(store, [forget(0)], NOW, { quota });
    assert.deepEqual([full.used, forgottenIn(full)], [3, 1]);
    const passed = await stored(store, [forget(1)], NOW, { quota: { ...quota, limit: 1 } });
    assert.equal(passed.used, 3);
    const refused = await store.write(
      write("ada", [], { changes: [set(3, "d"), forget(2)], quota: { ...quota, limit: 3 } }),
    );
    assert.deepEqual(briefly(refused), { outcome: "limit", used: 3 });
    assert.equal(await store.readUsage("key1", "2026-11"), 3);
  });

  check("labels are counted over places, without facts that have expired", async ({ store }) => {
    const places = ["", "loom"];
    await stored(store, [set(200, "lasts"), set(7, "short", { expiresAtMs: NOW + 5 })]);
    await stored(store, [set(7, "loom's", { place: "loom", expiresAtMs: NOW + 9 })]);
    const countAt = async (nowMs: number) =>
      (await stored(store, [set(200, `at ${nowMs}`)], nowMs, { places })).channelCount;
    assert.equal(await countAt(NOW + 4), 2);
    assert.equal(await countAt(NOW + 5), 2, "that of the place lasts longer");
    assert.equal(await countAt(NOW + 9), 1);
  });

  for (const [how, ifRevision] of [
    ["a plain write", undefined],
    ["a write with a condition", 0],
  ] as const)
    check(`a fact that lasted, got an end by ${how} and has ended is not counted`, async ({ store }) => {
      /** The count after a write of a new fact; of a condition nothing is certain before the facts are read. */
      const countAt = async (number: number, nowMs: number, places = [""]) => {
        const condition = ifRevision === undefined ? {} : { ifRevision };
        const outcome = await stored(store, [set(number, "new", condition)], nowMs, { places });
        return outcome.channelCount;
      };
      const change = async (number: number, value: string, more: Partial<FactChange> = {}) => {
        const present = await store.readFact(viewOf("ada"), labelAt(number));
        const condition = ifRevision === undefined ? {} : { ifRevision: present?.revision ?? 0 };
        await stored(store, [set(number, value, { ...more, ...condition })]);
      };
      await change(0, "lasts");
      await change(1, "short", { expiresAtMs: NOW + 5 });
      await change(2, "lasts");
      await change(2, "ends", { expiresAtMs: NOW + 5 });
      await change(3, "ends", { expiresAtMs: NOW + 5 });
      await change(3, "lasts");
      assert.equal(await countAt(10, NOW + 4), 5);
      assert.equal(await countAt(11, NOW + 5), 4, "two have ended, and nobody has swept");
      await store.sweep(NOW + 5);
      assert.equal(await countAt(12, NOW + 6), 5, "0, 3 and the three new ones");
      assert.equal(await countAt(13, NOW + 6, ["", "loom"]), 6);
      await change(1, "ends first", { expiresAtMs: NOW + 8 });
      await change(2, "ends later", { expiresAtMs: NOW + 9 });
      await store.sweep(NOW + 8);
      assert.equal(await countAt(14, NOW + 8), 8, "2 goes on to count");
    });

  check("a user's facts are in the order of their labels, whatever their places", async ({ store }) => {
    await stored(store, [set(30, "person's"), set(20, "person's"), set(5, "loom's", { place: "loom" })]);
    const state = await store.readUser(viewOf("ada", "acme", { places: ["", "loom"] }));
    assert.deepEqual(rowsOf(state?.facts, "place", "label"), [
      ["", "PROJ.status"],
      ["", "TASK.current"],
      ["loom", "USER.os"],
    ]);
    for (const userId of ["nobody", "ada"])
      assert.equal(
        await store.readFact(viewOf(userId, "acme", { places: ["", "none"] }), labelAt(9)),
        undefined,
      );
  });

  check("a history is in order, with what has expired and was not swept yet", async ({ store }) => {
    const end = NOW + 10;
    const values = (value: string): FactChange[] => [
      set(7, value),
      set(5, value, { expiresAtMs: end }),
      set(9, value, { place: "loom" }),
      set(6, value, { place: "loom", expiresAtMs: end }),
    ];
    await stored(store, values("first"));
    await stored(store, values("second"), NOW + 1);
    const life = await store.readLife("acme", "ada", { nowMs: end });
    const first = ["first", "replaced"];
    const expired = ["second", "expired"];
    assert.deepEqual(rowsOf(life?.earlier, "place", "label", "ordinal", "value", "ended"), [
      ["", "USER.location", 1, ...first],
      ["", "USER.os", 1, ...first],
      ["", "USER.os", 2, ...expired],
      ["loom", "USER.language", 1, ...first],
      ["loom", "USER.role", 1, ...first],
      ["loom", "USER.role", 2, ...expired],
    ]);
    const present = await store.readLife("acme", "ada", { nowMs: end, isPresent: true });
    assert.deepEqual([present?.facts, present?.earlier], [life?.facts, []]);
    assert.deepEqual(
      life?.facts.map(({ place, label }) => [place, numberOf(label)]),
      [
        ["", 7],
        ["loom", 9],
      ],
    );
  });

  check(
    "a life is of one label at all places, or of one place, where that is asked for",
    async ({ store }) => {
      const all = [set(0, "a"), set(1, "b"), set(0, "c", { place: "loom" }), set(1, "d", { place: "loom" })];
      await stored(store, all);
      await stored(store, [set(0, "e", { place: "loom/x" })]);
      await stored(
        store,
        all.map((change) => ({ ...change, value: `${change.value}2` })),
      );
      const lifeOf = async (options: { place?: string; label?: string }) => {
        const life = await store.readLife("acme", "ada", { nowMs: NOW, ...options });
        return [life?.facts.map(({ value }) => value), life?.earlier.map(({ value }) => value)];
      };
      assert.deepEqual(await lifeOf({ label: labelAt(0) }), [
        ["a2", "c2", "e"],
        ["a", "c"],
      ]);
      assert.deepEqual(await lifeOf({ place: "loom" }), [
        ["c2", "d2"],
        ["c", "d"],
      ]);
      assert.deepEqual(await lifeOf({ place: "loom", label: labelAt(1) }), [["d2"], ["d"]]);
    },
  );

  check(
    "writer and session of a value are kept with it, and are nobody's where none was named",
    async ({ store }) => {
      await stored(store, [set(0, "a")], NOW, { writtenBy: "écrivain", sessionId: "sitzung-ü" });
      const named = await store.readFact(viewOf("ada"), labelAt(0));
      assert.deepEqual([named?.value, named?.writtenBy, named?.sessionId], ["a", "écrivain", "sitzung-ü"]);
      await stored(store, [set(0, "b")]);
      const unnamed = await store.readFact(viewOf("ada"), labelAt(0));
      assert.deepEqual([unnamed?.value, unnamed?.writtenBy, unnamed?.sessionId], ["b", null, null]);
      await stored(store, [set(0, "c")], NOW, { sessionId: "s" });
      const life = await store.readLife("acme", "ada", { nowMs: NOW });
      assert.deepEqual(rowsOf([...life!.earlier, ...life!.facts], "value", "writtenBy", "sessionId"), [
        ["a", "écrivain", "sitzung-ü"],
        ["b", null, null],
        ["c", null, "s"],
      ]);
    },
  );

  check("the writer of a value stays when another writes the same value again", async ({ store }) => {
    const first = { writtenBy: "codex", sessionId: "s1" };
    const writerOf = async () => {
      const fact = await store.readFact(viewOf("ada"), labelAt(0));
      return [fact?.value, fact?.writtenBy, fact?.sessionId];
    };
    await stored(store, [set(0, "a"), set(1, "x")], NOW, first);
    const again = await stored(store, [set(0, "a")], NOW + 1, { writtenBy: "console", sessionId: "s2" });
    assert.deepEqual([beforeIn(again)[0]?.writtenBy, beforeIn(again)[0]?.sessionId], ["codex", "s1"]);
    await stored(store, [set(0, "a")], NOW + 2);
    assert.deepEqual(await writerOf(), ["a", "codex", "s1"]);
    // In one group with the write that it repeats.
    await Promise.all(
      ["claude-code", "console"].map((writtenBy) => stored(store, [set(0, "b")], NOW + 3, { writtenBy })),
    );
    assert.deepEqual(await writerOf(), ["b", "claude-code", null]);
    await stored(store, [forget(0, { keepHistory: true })], NOW + 4);
    await stored(store, [set(0, "b")], NOW + 5, { writtenBy: "console" });
    assert.deepEqual(await writerOf(), ["b", "console", null]);
    // A value that nobody signed stays unsigned.
    await stored(store, [set(0, "c")], NOW + 6);
    await stored(store, [set(0, "c")], NOW + 7, { writtenBy: "console" });
    assert.deepEqual(await writerOf(), ["c", null, null]);
  });

  check("a sweep says which facts have ended", async ({ store }) => {
    const first = await stored(store, [set(1, "x", { place: "loom", expiresAtMs: NOW + 1 })]);
    await stored(store, [set(2, "y", { expiresAtMs: NOW + 3 })]);
    const place = { account: "acme", userId: "ada", place: "loom", label: labelAt(1) };
    const ended = { ...place, revision: first.revision, endedAtMs: NOW + 1 };
    assert.deepEqual(await store.sweep(NOW + 2), [ended]);
    assert.deepEqual(await store.sweep(NOW + 2), []);
  });

  check(
    "the next end is that of the fact that expires first, and known before it is ended",
    async ({ store }) => {
      assert.equal(await store.nextEndMs(), undefined);
      await stored(store, [set(1, "lasts"), set(2, "a", { expiresAtMs: NOW + 5 })]);
      await stored(store, [set(3, "b", { place: "loom", expiresAtMs: NOW + 3 })]);
      assert.equal(await store.nextEndMs(), NOW + 3);
      const endedAt = async (nowMs: number) => (await store.endFacts(nowMs)).map((fact) => fact.endedAtMs);
      assert.deepEqual(await endedAt(NOW + 2), []);
      assert.deepEqual(await endedAt(NOW + 4), [NOW + 3]);
      assert.deepEqual([await endedAt(NOW + 4), await store.nextEndMs()], [[], NOW + 5]);
      const life = await store.readLife("acme", "ada", { nowMs: NOW + 4 });
      assert.deepEqual(rowsOf(life?.earlier, "value", "ended", "endedAtMs"), [["b", "expired", NOW + 3]]);
      await stored(store, [set(2, "a")]);
      assert.equal(await store.nextEndMs(), undefined);
    },
  );

  check("256 labels are facts of their own, also one that begins like another", async ({ store }) => {
    const numbers = Array.from({ length: 256 }, (_, number) => number);
    const changes = numbers.map((number) => set(number, `${number}`));
    assert.equal((await stored(store, changes)).channelCount, 256);
    assert.deepEqual(
      rowsOf((await store.readUser(viewOf("ada")))?.facts, "label", "value"),
      numbers.map((number) => [labelAt(number), `${number}`]).sort(),
    );
    await stored(store, [set(12, "again"), set(123, "again"), set(124, "again")]);
    const earlierAt = async (number: number) => {
      const life = await store.readLife("acme", "ada", { nowMs: NOW, label: labelAt(number) });
      return life?.earlier.map(({ value }) => value);
    };
    assert.deepEqual([await earlierAt(12), await earlierAt(123)], [["12"], ["123"]]);
    // OWN.label_12 stands at the beginning of OWN.label_123.
    for (const place of ["", "loom"]) {
      await stored(store, [set(50, "a", { place }), set(500, "b", { place })]);
      await stored(store, [set(50, "a2", { place }), set(500, "b2", { place })]);
      await stored(store, [forget(50, { place })]);
      const life = await store.readLife("acme", "ada", { nowMs: NOW, place, label: labelAt(500) });
      assert.deepEqual([life?.facts[0].value, life?.earlier[0].value], ["b2", "b"]);
    }
  });

  check("users are listed from the prefix on, where the page before ended before it", async ({ store }) => {
    for (const userId of ["ada", "adam", "bob"]) await store.write(write(userId, [[0, "x"]]));
    const list = (prefix: string, after: string) => store.listUsers("acme", { prefix, after, limit: 9 });
    assert.deepEqual(await list("b", "ada"), ["bob"]);
    assert.deepEqual(await list("ada", "ada"), ["adam"]);
  });

  check(
    "keys and requests are listed as they came, and an account is as old as its first key",
    async ({ store }) => {
      const keys = [
        { ...keyRecord("b"), createdAtMs: NOW },
        { ...keyRecord("a"), createdAtMs: NOW + 1 },
        { ...keyRecord("d"), createdAtMs: NOW + 2 },
        { ...keyRecord("c"), createdAtMs: NOW + 2 },
      ];
      for (const key of keys) await store.addKey(key);
      assert.deepEqual(fieldsOf(await store.listKeys("acme"), "id"), ["b", "a", "c", "d"]);
      assert.deepEqual(await store.listAccounts(), [{ account: "acme", createdAtMs: NOW }]);
      for (const [id, createdAtMs] of [
        ["r2", NOW],
        ["r1", NOW + 1],
        ["r0", NOW + 2],
      ] as const)
        await store.addKeyRequest({ ...keyRequest(id), createdAtMs });
      assert.deepEqual(fieldsOf(await store.listKeyRequests(), "id"), ["r2", "r1", "r0"]);
    },
  );

  check("a key that is added beside other writes gives the keys another version", async ({ store }) => {
    const version = await store.keysVersion();
    await Promise.all([store.write(write("ada", [[0, "Ada"]])), store.addKey(keyRecord("key1"))]);
    assert.notEqual(await store.keysVersion(), version);
  });
}
