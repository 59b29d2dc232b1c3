/** What every store must do with labels that persons make by writing them: numbers, uses, descriptions, pages, and their end. */

import assert from "node:assert/strict";
import type { FactChange, Store } from "../../src/memory/ports.ts";
import type { FreeLabel } from "../../src/memory/records.ts";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { viewOf } from "../fixtures/views.ts";
import { checksOf, NOW, type StoreUnderTest, write } from "./store-under-test.ts";

const MAKE = { make: true };

function fact(label: string, value: string | null, more: Partial<FactChange> = {}): FactChange {
  return { place: "", label, value, ...more };
}

function change(store: Store, changes: WriteChanges, userId = "ada") {
  return store.write(write(userId, [], { changes }));
}
type WriteChanges = Parameters<Store["write"]>[0]["changes"];

/** Label, number and uses of each. */
async function labelsOf(store: Store, userId = "ada"): Promise<unknown[]> {
  const labels = await store.readFreeLabels("acme", userId, { prefix: "", limit: 100 });
  return labels.map(({ label, number, uses }: FreeLabel) => [label, number, uses]);
}

export function storeFreeLabelsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("a label is made by a write that says so, and only then", async ({ store, reopen }) => {
    const unknown = await change(store, [
      fact("USER.name", "Ada"),
      fact("FAMILY.wife", "x", { free: { make: false }, param: "facts[1]." }),
    ]);
    assert.deepEqual(unknown, {
      outcome: "label_unknown",
      used: 0,
      label: "FAMILY.wife",
      param: "facts[1].",
    });
    assert.equal(await store.readUser(viewOf("ada")), undefined, "nothing of it is stored");
    const made = await change(store, [
      fact("FAMILY.wife", "Grace", { free: { make: true, description: "Her name" } }),
      fact("FAMILY.son", "Tim", { free: MAKE }),
      fact("USER.name", "Ada"),
    ]);
    assert.ok(made.outcome === "stored");
    assert.deepEqual(fieldsOf(made.changes, "number"), [1, 2, undefined]);
    const again = await reopen();
    assert.deepEqual(await labelsOf(again), [
      ["FAMILY.son", 2, 1],
      ["FAMILY.wife", 1, 1],
    ]);
    const { facts } = (await again.readUser(viewOf("ada")))!;
    assert.deepEqual(rowsOf(facts, "label", "number"), [
      ["FAMILY.son", 2],
      ["FAMILY.wife", 1],
      ["USER.name", undefined],
    ]);
    assert.equal((await again.readFact(viewOf("ada"), "FAMILY.wife"))?.number, 1);
    const life = await again.readLife("acme", "ada", { nowMs: NOW });
    assert.deepEqual(fieldsOf(life?.facts, "number"), [2, 1, undefined]);
    await change(again, [fact("FAMILY.wife", "Grace H.", { free: { make: false } })]);
    assert.equal((await again.readFact(viewOf("ada"), "FAMILY.wife"))?.number, 1);
    const [, wife] = await again.readFreeLabels("acme", "ada", { prefix: "FAMILY.", limit: 9 });
    assert.equal(wife.description, "Her name");
    assert.deepEqual(await labelsOf(again, "bob"), [], "labels are one person's");
  });

  check(
    "a label counts the places where it has a fact or a history, and is gone with the last",
    async ({ store }) => {
      const at = (place: string, value: string | null, more: Partial<FactChange> = {}) =>
        change(store, [fact("HOME.city", value, { place, free: MAKE, ...more })]);
      for (const place of ["", "loom", "loom/a"]) await at(place, "Delft");
      await at("", "Leiden");
      assert.deepEqual(await labelsOf(store), [["HOME.city", 1, 3]]);
      await at("", null, { keepHistory: true });
      assert.deepEqual(await labelsOf(store), [["HOME.city", 1, 3]]);
      await change(store, [{ kind: "move", from: "loom", to: "ship" }]);
      assert.deepEqual(await labelsOf(store), [["HOME.city", 1, 3]]);
      assert.ok(await store.forgetUser("acme", "ada", "ship"));
      assert.deepEqual(await labelsOf(store), [["HOME.city", 1, 1]]);
      await at("", null);
      assert.deepEqual(await labelsOf(store), []);
      await change(store, [fact("USER.name", "Ada"), fact("HOME.street", "Canal", { free: MAKE })]);
      assert.deepEqual(await labelsOf(store), [["HOME.street", 1, 1]], "everything was gone: a new life");
      await at("", "Delft");
      await at("", null);
      await at("", "Delft");
      const labels = [
        ["HOME.city", 3, 1],
        ["HOME.street", 1, 1],
      ];
      assert.deepEqual(await labelsOf(store), labels, "a number is given once");
      await store.forgetUser("acme", "ada");
      assert.deepEqual(await labelsOf(store), []);
    },
  );

  check(
    "labels end and come back with their facts: expiry, a way back, a past that is imported",
    async ({ store }) => {
      const ends = { expiresAtMs: NOW + 1000, free: MAKE };
      await change(store, [fact("NOTE.a", "1", ends), fact("NOTE.b", "2", { free: MAKE })]);
      await store.sweep(NOW + 1000);
      assert.deepEqual(await labelsOf(store), [
        ["NOTE.a", 1, 1],
        ["NOTE.b", 2, 1],
      ]);
      const past = {
        ordinal: 1,
        revision: 1,
        updatedAtMs: NOW,
        sinceMs: NOW,
        writtenBy: null,
        sessionId: null,
      };
      const ended = { ...past, value: "old", ended: "forgotten", endedAtMs: NOW } as const;
      const free = { make: true, description: "What was" };
      const lives = [{ place: "", label: "NOTE.c", values: [ended], free }];
      await change(store, [{ kind: "import", lives }]);
      await change(store, [{ kind: "import", lives }]);
      assert.deepEqual((await labelsOf(store)).at(-1), ["NOTE.c", 3, 1], "a label may have a history alone");
      const [described] = await store.readFreeLabels("acme", "ada", { prefix: "NOTE.c", limit: 1 });
      assert.equal(described.description, "What was");
    },
  );

  check(
    "a rename, and another description, are kept with what was there before, and a way back undoes them",
    async ({ store, reopen }) => {
      const at = (ms: number, changes: WriteChanges, on: Store) =>
        on.write(write("ada", [], { changes, nowMs: NOW + ms }));
      const described = (value: string, description: string) =>
        fact("PET.cat", value, { free: { make: true, description } });
      await at(0, [described("Tom", "its näme")], store);
      await at(1, [described("Tom", "who it is")], store);
      const terms = { label: "HOME.cat", oneOf: null, maxBytes: null };
      const names = { label: "PET.cat", to: "HOME.cat", places: [""], terms, toFree: MAKE };
      await at(2, [{ kind: "rename", ...names, merge: false }], store);
      const again = await reopen();
      const life = await again.readLife("acme", "ada", { nowMs: NOW });
      assert.deepEqual(
        life?.earlier.map(({ label, value, ended, endedAtMs, former }) => {
          return [label, value, ended, endedAtMs - NOW, former];
        }),
        [
          ["HOME.cat", "Tom", "replaced", 1, { label: "PET.cat", description: "its näme" }],
          ["HOME.cat", "Tom", "renamed", 2, { label: "PET.cat", description: "who it is" }],
        ],
      );
      const [renamed] = life?.facts ?? [];
      assert.deepEqual([renamed.sinceMs - NOW, renamed.updatedAtMs - NOW], [2, 1], "it was written before");
      const back = { kind: "rollback", within: "", dryRun: false, partial: false } as const;
      // A label that is made again has its fact as it was; another description is written.
      for (const [toMs, description, writtenMs] of [
        [NOW + 1, "who it is", 1],
        [NOW, "its näme", 10],
      ] as const) {
        await at(10, [{ ...back, toMs }], again);
        const labels = await again.readFreeLabels("acme", "ada", { prefix: "", limit: 9 });
        assert.deepEqual(rowsOf(labels, "label", "description", "uses"), [["PET.cat", description, 1]]);
        const there = await again.readFact(viewOf("ada"), "PET.cat");
        assert.deepEqual([there?.value, there!.updatedAtMs - NOW], ["Tom", writtenMs]);
      }
      await again.forgetUser("acme", "ada");
      assert.equal(await again.readLife("acme", "ada", { nowMs: NOW }), undefined);
    },
  );

  check("labels are read by their beginning, page by page", async ({ store }) => {
    const names = Array.from({ length: 30 }, (_, i) => `L${i % 3}.n${String(i).padStart(2, "0")}`).sort();
    await change(
      store,
      names.map((label) => fact(label, "x", { free: MAKE })),
    );
    const read = async (asked: { prefix: string; after?: string; limit: number }) =>
      (await store.readFreeLabels("acme", "ada", asked)).map(({ label }) => label);
    assert.deepEqual(await read({ prefix: "", limit: 100 }), names);
    const ofGroup = names.filter((label) => label.startsWith("L1."));
    assert.deepEqual(await read({ prefix: "L1.", limit: 100 }), ofGroup);
    assert.deepEqual(await read({ prefix: "L1.", limit: 4 }), ofGroup.slice(0, 4));
    assert.deepEqual(await read({ prefix: "L1.", after: ofGroup[3], limit: 4 }), ofGroup.slice(4, 8));
    assert.deepEqual(await read({ prefix: "", after: names[27], limit: 4 }), names.slice(28));
    assert.deepEqual(await read({ prefix: names[5], limit: 1 }), [names[5]]);
  });

  check(
    "a label that the account has removed can be made, and one that it declares keeps its facts",
    async ({ store }) => {
      const terms = { description: "x", example: "", oneOf: null, maxBytes: null, ttlS: null, scope: null };
      await store.addLabel("acme", { ...terms, label: "OWN.a", hidden: false, createdAtMs: NOW });
      await store.removeLabel("acme", "OWN.a");
      assert.equal((await change(store, [fact("OWN.a", "x")])).outcome, "label_gone");
      assert.equal((await change(store, [fact("OWN.a", "x", { free: MAKE })])).outcome, "stored");
      await store.addLabel("acme", { ...terms, label: "OWN.a", hidden: false, createdAtMs: NOW });
      assert.equal((await change(store, [fact("OWN.a", "y", { place: "loom" })])).outcome, "stored");
      assert.deepEqual(await labelsOf(store), [["OWN.a", 1, 2]]);
      assert.equal(await store.removeLabel("acme", "OWN.a"), "in_use");
      await store.forgetUser("acme", "ada");
      assert.equal(await store.removeLabel("acme", "OWN.a"), "removed");
    },
  );

  check("a write that counts no place has no part in what another one counts", async ({ store }) => {
    const { places: _, ...own } = write("ada", [["USER.name", "Ada"]]);
    const changes = [{ kind: "expire", place: "", label: "USER.os" } as const];
    const writes = Array.from({ length: 24 }, (_, i) =>
      store.write(i % 2 === 0 ? { ...own, changes, places: [] } : { ...own, places: [""] }),
    );
    const counts = (await Promise.all(writes)).map(
      (outcome) => "channelCount" in outcome && outcome.channelCount,
    );
    assert.deepEqual(new Set(counts.filter((_, i) => i % 2 === 1)), new Set([1]));
  });
}
