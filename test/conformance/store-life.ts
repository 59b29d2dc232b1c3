/**
 * What every store must do with a fact's life: places, ends, history, writers, compare-and-set, the list of users (docs/decisions/0022). The rest of the suite is store.ts.
 */

import assert from "node:assert/strict";
import type { EarlierFact, FactChange, Store, WriteRequest } from "../../src/memory/ports.ts";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { labelAt, numberOf, viewOf } from "../fixtures/views.ts";
import { storeEndsConformance } from "./store-ends.ts";
import { storeFreeLabelsConformance } from "./store-free-labels.ts";
import { storeLabelsConformance } from "./store-labels.ts";
import {
  beforeIn,
  checksOf,
  forget,
  forgottenIn,
  NOW,
  type StoreUnderTest,
  set,
  stored,
  write,
} from "./store-under-test.ts";

const PROJECT = ["", "loom"];
const WORKTREE = ["", "loom", "loom/feature-x"];

function change(store: Store, changes: FactChange[], nowMs = NOW, more: Partial<WriteRequest> = {}) {
  return store.write(write("ada", [], { changes, nowMs, ...more }));
}

async function earlierOf(store: Store, nowMs = NOW): Promise<readonly EarlierFact[]> {
  return (await store.readLife("acme", "ada", { nowMs }))?.earlier ?? [];
}

const valuesAt = async (store: Store, places: string[], nowMs = NOW) =>
  ((await store.readUser(viewOf("ada", "acme", { places, nowMs })))?.facts ?? [])
    .map(({ place, label, value }) => [place, numberOf(label), value] as const)
    .sort(([, a], [, b]) => a - b);

export function storeLifeConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  storeLabelsConformance(name, open);
  storeFreeLabelsConformance(name, open);
  storeEndsConformance(name, open);
  const check = checksOf(name, open);

  check("the innermost place counts, and a place is nobody else's", async ({ store }) => {
    const outcome = await stored(
      store,
      [
        set(0, "Ada"),
        set(20, "everywhere"),
        set(20, "loom's", { place: "loom" }),
        set(20, "the worktree's", { place: "loom/feature-x" }),
        set(255, "own label", { place: "loom" }),
        set(30, "other", { place: "loom2" }),
      ],
      NOW,
      { places: WORKTREE },
    );
    assert.equal(outcome.channelCount, 3);
    assert.equal((await store.readUser(viewOf("ada")))?.nextEndMs, null);
    assert.deepEqual(await valuesAt(store, [""]), [
      ["", 0, "Ada"],
      ["", 20, "everywhere"],
    ]);
    assert.deepEqual(await valuesAt(store, PROJECT), [
      ["", 0, "Ada"],
      ["loom", 20, "loom's"],
      ["loom", 255, "own label"],
    ]);
    assert.deepEqual(await valuesAt(store, WORKTREE), [
      ["", 0, "Ada"],
      ["loom/feature-x", 20, "the worktree's"],
      ["loom", 255, "own label"],
    ]);
    const fact = await store.readFact(viewOf("ada", "acme", { places: WORKTREE }), labelAt(20));
    assert.equal(fact?.value, "the worktree's");
    assert.equal((await store.readFact(viewOf("ada", "acme", { places: PROJECT }), labelAt(0)))?.place, "");
    assert.equal(await store.readUser(viewOf("ada/loom")), undefined);
    assert.equal((await store.statistics()).users, 1);
    assert.equal((await store.statistics()).facts, 6);
  });

  check("forgetting a place takes those inside it, and no other", async ({ store }) => {
    await stored(store, [
      set(0, "Ada"),
      set(1, "a", { place: "loom" }),
      set(1, "b", { place: "loom/x" }),
      set(1, "c", { place: "loom2" }),
      set(1, "d", { place: "loo" }),
    ]);
    await stored(store, [set(1, "a2", { place: "loom" }), set(1, "b2", { place: "loom/x" })]);
    const stamp = await store.readStamp("acme", "ada");
    const none = { connections: 0, keysLeft: 0 };
    const ofLoom = await store.forgetUser("acme", "ada", "loom");
    assert.deepEqual(ofLoom, { facts: 2, earlier: 2, labels: 2, places: 2, ...none });
    assert.notEqual(await store.readStamp("acme", "ada"), stamp);
    assert.equal(await store.forgetUser("acme", "ada", "loom"), undefined);
    const life = await store.readLife("acme", "ada", { nowMs: NOW });
    assert.deepEqual(rowsOf(life?.facts, "place", "value"), [
      ["", "Ada"],
      ["loo", "d"],
      ["loom2", "c"],
    ]);
    assert.deepEqual(life?.earlier, []);
    assert.equal((await store.statistics()).facts, 3);
    const all = await store.forgetUser("acme", "ada");
    assert.deepEqual(all, { facts: 3, earlier: 0, labels: 3, places: 3, ...none });
    assert.equal(await store.readLife("acme", "ada", { nowMs: NOW }), undefined);
  });

  check(
    "a fact is gone at its moment, in every answer and count, before and after the sweep",
    async ({ store }) => {
      const end = NOW + 5_000;
      await stored(store, [
        set(0, "Ada"),
        set(1, "short", { expiresAtMs: end }),
        set(41, "own", { expiresAtMs: end + 1 }),
      ]);
      const at = (nowMs: number) => viewOf("ada", "acme", { nowMs });
      const before = await store.readUser(at(end - 1));
      assert.deepEqual([before?.facts.length, before?.nextEndMs], [3, end]);
      assert.equal((await store.readFact(at(end - 1), labelAt(1)))?.expiresAtMs, end);
      for (const swept of [false, true]) {
        if (swept) await store.sweep(end);
        assert.equal(await store.readFact(at(end), labelAt(1)), undefined);
        const state = await store.readUser(at(end));
        assert.deepEqual(fieldsOf(state?.facts, "label"), [labelAt(41), labelAt(0)]);
        assert.equal(state?.nextEndMs, end + 1);
        const [entry, ...others] = await earlierOf(store, end);
        assert.deepEqual(
          [entry?.value, entry?.ended, entry?.endedAtMs, others],
          ["short", "expired", end, []],
        );
      }
      assert.notEqual(await store.readStamp("acme", "ada"), before?.stamp);
      assert.equal((await stored(store, [set(2, "x")], end + 1)).channelCount, 2);
      await store.sweep(end + 1);
      assert.equal((await store.statistics()).facts, 2);
    },
  );

  check(
    "writing again without an end makes a fact lasting; one that has expired was never there",
    async ({ store }) => {
      await stored(store, [set(0, "a", { expiresAtMs: NOW + 10 })]);
      await stored(store, [set(0, "a")], NOW + 5);
      await store.sweep(NOW + 20);
      assert.equal(
        (await store.readFact(viewOf("ada", "acme", { nowMs: NOW + 20 }), labelAt(0)))?.value,
        "a",
      );
      await stored(store, [set(0, "b", { expiresAtMs: NOW + 30 })], NOW + 21);
      const outcome = await stored(store, [set(0, "c", { ifRevision: 0 })], NOW + 30);
      assert.deepEqual(beforeIn(outcome), [undefined]);
      assert.deepEqual(
        rowsOf(await earlierOf(store, NOW + 30), "ordinal", "value", "ended"),
        [
          [1, "a", "replaced"],
          [2, "a", "replaced"],
          [3, "b", "expired"],
        ],
        "another end is another entry",
      );
      assert.equal((await store.readLife("acme", "ada", { nowMs: NOW + 30 }))?.facts[0].ordinal, 4);
    },
  );

  check("a user whose only fact expires is gone with the sweep where nothing is kept", async ({ store }) => {
    await stored(store, [set(0, "a", { expiresAtMs: NOW + 10 })]);
    assert.equal(await store.readUser(viewOf("ada", "acme", { nowMs: NOW + 10 })), undefined);
    await store.sweep(NOW + 10);
    assert.equal((await store.statistics()).facts, 0);
    assert.ok(await store.forgetUser("acme", "ada"));
    assert.equal(await store.readStamp("acme", "ada"), undefined);
    assert.equal((await store.statistics()).users, 0);
  });

  check(
    "the last eight values are kept with writer, session and times; the same value again is no other",
    async ({ store }) => {
      for (let i = 1; i <= 12; i++) {
        await stored(store, [set(0, `v${i}`)], NOW + i, { writtenBy: `agent ${i}`, sessionId: `s${i}` });
        await stored(store, [set(0, `v${i}`)], NOW + i, { writtenBy: `again ${i}` });
      }
      const life = await store.readLife("acme", "ada", { nowMs: NOW + 99 });
      assert.deepEqual(
        rowsOf(life?.earlier, "ordinal", "value", "ended"),
        Array.from({ length: 8 }, (_, i) => [i + 4, `v${i + 4}`, "replaced"]),
      );
      const [first] = life!.earlier;
      assert.deepEqual(
        [first.writtenBy, first.sessionId, first.sinceMs, first.updatedAtMs, first.endedAtMs],
        ["agent 4", "s4", NOW + 4, NOW + 4, NOW + 5],
      );
      assert.deepEqual([life!.facts[0].ordinal, life!.facts[0].writtenBy], [12, "agent 12"]);
      const revisions = [...life!.earlier.map(({ revision }) => revision), life!.facts[0].revision];
      assert.deepEqual(
        revisions,
        [...revisions].sort((a, b) => a - b),
      );
      assert.equal(new Set(revisions).size, revisions.length);
      // Another fact's values are counted by themselves.
      await stored(store, [set(1, "one")], NOW + 12);
      for (let i = 13; i <= 16; i++) {
        await stored(store, [set(0, `v${i}`)], NOW + i);
        assert.equal((await earlierOf(store)).length, 8, `${i} values`);
      }
    },
  );

  check(
    "the origin of a value is kept with it, and another one for the same value is a change",
    async ({ store }) => {
      const origins = async () => {
        const life = await store.readLife("acme", "ada", { nowMs: NOW });
        return [...life!.earlier, ...life!.facts].map(({ value, origin }) => [value, origin]);
      };
      await stored(store, [set(0, "a", { origin: "read" })], NOW, {
        writtenBy: "codex",
        sessionId: "sitzung-ü",
      });
      await stored(store, [set(0, "a")]);
      assert.deepEqual(await origins(), [["a", "read"]], "who says nothing changes nothing");
      await stored(store, [set(0, "a", { origin: "said" })], NOW, { writtenBy: "console" });
      const fact = await store.readFact(viewOf("ada"), labelAt(0));
      assert.deepEqual([fact?.origin, fact?.writtenBy, fact?.sessionId], ["said", "codex", "sitzung-ü"]);
      await stored(store, [set(0, "b", { origin: "concluded" })]);
      await stored(store, [set(0, "c")]);
      await stored(store, [forget(0, { keepHistory: true })]);
      await stored(store, [set(0, "d", { origin: "read" })]);
      const all = [
        ["a", "read"],
        ["a", "said"],
        ["b", "concluded"],
        ["c", undefined],
        ["d", "read"],
      ];
      assert.deepEqual(await origins(), all);
      const state = await store.readUser(viewOf("ada"));
      assert.deepEqual(fieldsOf(state?.facts, "origin"), ["read"]);
      assert.ok(!("origin" in (await store.readLife("acme", "ada", { nowMs: NOW }))!.earlier[3]));
    },
  );

  check("a pin stays with its label until a write takes it away", async ({ store }) => {
    await stored(store, [set(0, "a", { origin: "read" })], NOW, { sessionId: "s" });
    await stored(store, [set(0, "a", { pinned: true })]);
    await stored(store, [set(0, "b")]);
    const { pinned } = (await store.readFact(viewOf("ada"), labelAt(0)))!;
    assert.deepEqual([pinned, (await store.readUser(viewOf("ada")))?.facts[0].pinned], [true, true]);
    await stored(store, [set(0, "b", { pinned: false })]);
    const { earlier, facts } = (await store.readLife("acme", "ada", { nowMs: NOW }))!;
    const pins = [...earlier, ...facts].map((fact) => fact.value + (fact.pinned ?? ""));
    assert.deepEqual(pins, ["a", "atrue", "btrue", "b"]);
    assert.deepEqual([earlier[1].origin, earlier[1].sessionId], ["read", "s"]);
  });

  check("since when a value holds stays when it is written again", async ({ store }) => {
    const end = { expiresAtMs: NOW + 100 };
    await stored(store, [set(0, "a", end)], NOW);
    await stored(store, [set(0, "a", end)], NOW + 7);
    const fact = await store.readFact(viewOf("ada"), labelAt(0));
    assert.deepEqual([fact?.sinceMs, fact?.updatedAtMs, fact?.ordinal], [NOW, NOW + 7, 1]);
    // The clock was set back.
    await stored(store, [set(0, "a", end)], NOW - 5);
    const back = await store.readFact(viewOf("ada"), labelAt(0));
    assert.deepEqual([back?.sinceMs, back?.updatedAtMs], [NOW - 5, NOW - 5]);
    assert.deepEqual(await earlierOf(store), []);
  });

  check("forgetting takes the history along, or keeps it with what was forgotten", async ({ store }) => {
    await stored(store, [set(0, "a"), set(1, "x")]);
    await stored(store, [set(0, "b"), set(1, "y")], NOW + 1);
    const outcome = await stored(store, [forget(0, { keepHistory: true }), forget(1)], NOW + 2);
    assert.deepEqual([forgottenIn(outcome), outcome.channelCount], [2, 0]);
    assert.deepEqual(
      beforeIn(outcome).map((fact) => fact?.value),
      ["b", "y"],
    );
    assert.deepEqual(
      (await earlierOf(store)).map(({ label, ordinal, value, ended, endedAtMs }) => [
        numberOf(label),
        ordinal,
        value,
        ended,
        endedAtMs,
      ]),
      [
        [0, 1, "a", "replaced", NOW + 1],
        [0, 2, "b", "forgotten", NOW + 2],
      ],
    );
    assert.equal(await store.readUser(viewOf("ada")), undefined);
    // It is written again: the history goes on.
    await stored(store, [set(0, "c")], NOW + 3);
    assert.equal((await store.readFact(viewOf("ada"), labelAt(0)))?.ordinal, 3);
    assert.equal((await earlierOf(store)).length, 2);
    // A fact that is gone, and has a history, can be forgotten.
    await stored(store, [forget(0, { keepHistory: true })], NOW + 4);
    assert.equal(forgottenIn(await stored(store, [forget(0, { keepHistory: true })], NOW + 5)), 0);
    assert.equal(forgottenIn(await stored(store, [forget(0)], NOW + 5)), 1);
    assert.equal(await store.readStamp("acme", "ada"), undefined);
    assert.deepEqual(await earlierOf(store), []);
    assert.equal((await store.statistics()).users, 0);
  });

  check(
    "a change whose revision does not hold refuses the whole write, and counts nothing",
    async ({ store }) => {
      const first = await stored(store, [set(0, "a"), set(1, "x")]);
      const quota = { keyId: "key1", month: "2026-11", day: "2026-11-15", limit: 5 };
      const idempotency = {
        keyId: "key1",
        key: "k",
        fingerprint: Buffer.alloc(32, 1),
        expiresAtMs: NOW + 1000,
      };
      const attempt = (ifRevision: number) =>
        store.write(
          write("ada", [], {
            changes: [set(2, "new", { ifRevision: 0 }), set(0, "b", { ifRevision })],
            quota,
            idempotency,
          }),
        );
      const refused = await attempt(first.revision);
      assert.ok(refused.outcome === "conflict");
      assert.deepEqual([refused.label, refused.present?.value, refused.used], [labelAt(0), "a", 0]);
      assert.equal(refused.present?.revision, first.revision - 1);
      assert.equal(await store.readFact(viewOf("ada"), labelAt(2)), undefined);
      assert.equal(await store.readUsage("key1", "2026-11"), 0);
      const done = await attempt(first.revision - 1);
      assert.ok(done.outcome === "stored");
      assert.equal(done.used, 2);
      const again = await attempt(first.revision - 1);
      assert.ok(again.outcome === "replayed");
      assert.equal(again.revision, done.revision);
      for (const changes of [[set(0, "c", { ifRevision: 0 })], [set(3, "d"), set(0, "c", { ifRevision: 0 })]])
        assert.equal((await change(store, changes)).outcome, "conflict");
      assert.equal(await store.readFact(viewOf("ada"), labelAt(3)), undefined);
    },
  );

  check("of many writers with the same revision one wins, in each round", async ({ store, second }) => {
    const other = (await second?.()) ?? store;
    let { revision } = await stored(store, [set(0, "start")]);
    for (let round = 0; round < 10; round++) {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          change(i % 2 ? store : other, [set(0, `r${round} w${i}`, { ifRevision: revision })], NOW + round),
        ),
      );
      const won = outcomes.flatMap((outcome, i) => (outcome.outcome === "stored" ? [{ outcome, i }] : []));
      assert.equal(won.length, 1);
      revision = won[0].outcome.revision;
      assert.equal((await store.readFact(viewOf("ada"), labelAt(0)))?.value, `r${round} w${won[0].i}`);
      for (const outcome of outcomes) {
        if (outcome.outcome === "conflict") assert.equal(outcome.present?.revision, revision);
      }
    }
    if (other !== store) await other.close();
  });

  check("writes of one group see one another, in their order", async ({ store }) => {
    const outcomes = await Promise.all([
      change(store, [set(0, "a")]),
      change(store, [set(0, "b")]),
      change(store, [forget(0, { keepHistory: true })]),
      change(store, [set(0, "c"), set(0, "own", { place: "loom" })]),
      change(store, [set(0, "d"), set(1, "e")]),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.outcome === "stored" && beforeIn(outcome).map((fact) => fact?.value)),
      [[undefined], ["a"], ["b"], [undefined, undefined], ["c", undefined]],
    );
    const life = await store.readLife("acme", "ada", { nowMs: NOW });
    assert.deepEqual(rowsOf(life?.earlier, "ordinal", "value", "ended"), [
      [1, "a", "replaced"],
      [2, "b", "forgotten"],
      [3, "c", "replaced"],
    ]);
    assert.deepEqual(
      life?.facts.map(({ place, label, value, ordinal }) => [place, numberOf(label), value, ordinal]),
      [
        ["", 0, "d", 4],
        ["", 1, "e", 1],
        ["loom", 0, "own", 1],
      ],
    );
  });

  check("the life of one place and label can be asked for alone", async ({ store }) => {
    await stored(store, [set(0, "a"), set(0, "p", { place: "loom" }), set(1, "x")]);
    await stored(store, [set(0, "b"), set(0, "q", { place: "loom" }), set(1, "y")], NOW + 1);
    const life = await store.readLife("acme", "ada", { nowMs: NOW, place: "loom", label: labelAt(0) });
    assert.deepEqual(
      [life?.facts.map(({ value }) => value), life?.earlier.map(({ value }) => value)],
      [["q"], ["p"]],
    );
  });

  check("users are listed in the order of their bytes, by prefix, page after page", async ({ store }) => {
    const names = ["ada", "ada/loom", "adab", "b", "Z", "é", "zoë", "\u{1f9e0}"];
    for (const userId of names) await stored(store, [set(0, "x", { place: "p" })], NOW, { userId });
    await store.write({ ...write("ada", [[0, "x"]]), account: "acme2" });
    const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const list = (prefix = "", after = "", limit = 100) => store.listUsers("acme", { prefix, after, limit });
    assert.deepEqual(await list(), sorted);
    assert.deepEqual(await list("ada"), ["ada", "ada/loom", "adab"]);
    assert.deepEqual(await list("ada", "ada", 1), ["ada/loom"]);
    assert.deepEqual(await list("", sorted[2], 2), sorted.slice(3, 5));
    assert.deepEqual(await list("%"), []);
    assert.deepEqual(await list("", "\u{1f9e0}"), []);
  });

  check("code bits go to the fact of their place", async ({ store }) => {
    await stored(store, [set(0, "same"), set(0, "same", { place: "loom" })]);
    const code = { version: 3, bits: { length: 3, bytes: Uint8Array.of(0xa0) }, checksum: 7 };
    const life = await store.readLife("acme", "ada", { nowMs: NOW });
    await store.saveCodes("acme", "ada", [{ ...life!.facts[1], code }]);
    assert.equal((await store.readUser(viewOf("ada")))?.facts[0].code, undefined);
    assert.deepEqual((await store.readUser(viewOf("ada", "acme", { places: PROJECT })))?.facts[0].code, code);
  });
}
