/**
 * What every store must do with the labels of an account: their channels, their limits, their removal, and a removal
 * beside writes.
 */

import assert from "node:assert/strict";
import type { FactChange, PastValue, Store } from "../../src/memory/ports.ts";
import type { LabelRecord } from "../../src/memory/records.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { viewOf } from "../fixtures/views.ts";
import { checksOf, NOW, type StoreUnderTest, write } from "./store-under-test.ts";

function label(name: string, more: Partial<LabelRecord> = {}): Omit<LabelRecord, "channel"> {
  return {
    label: name,
    description: "A label",
    example: "x",
    oneOf: null,
    maxBytes: null,
    ttlS: null,
    scope: null,
    hidden: false,
    createdAtMs: NOW,
    ...more,
  };
}

const PAST: PastValue = {
  value: "x",
  revision: 1,
  ordinal: 1,
  updatedAtMs: NOW,
  sinceMs: NOW,
  writtenBy: null,
  sessionId: null,
};

function fact(name: string, value: string | null, more: Partial<FactChange> = {}): FactChange {
  return { place: "", label: name, value, ...more };
}

async function change(store: Store, changes: FactChange[]): Promise<void> {
  assert.equal((await store.write(write("ada", [], { changes }))).outcome, "stored");
}

export function storeLabelsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check(
    "a label's one_of fits its max_bytes, also where another has just changed that",
    async ({ store }) => {
      const added = await store.addLabel("acme", label("TASK.size"));
      assert.ok(added.outcome === "added");
      const { label: base } = added;
      assert.equal((await store.changeLabel("acme", base, { maxBytes: 4 })).outcome, "changed");
      assert.equal(
        (await store.changeLabel("acme", base, { oneOf: ["small", "big"] })).outcome,
        "one_of_long",
      );
      assert.deepEqual(await store.readLabels("acme"), [{ ...base, maxBytes: 4 }]);
      assert.equal((await store.changeLabel("acme", base, { oneOf: ["tiny", "big"] })).outcome, "changed");
      assert.equal((await store.changeLabel("acme", base, { maxBytes: 3 })).outcome, "one_of_long");
    },
  );

  check(
    "an account is strict until it is told otherwise, on every node, and no other is",
    async ({ store, second }) => {
      const other = (await second?.()) ?? store;
      assert.equal(await store.readStrict("acme"), false);
      const version = await store.keysVersion();
      for (const isStrict of [true, true, false, false, true]) {
        await store.changeStrict("acme", isStrict);
        assert.deepEqual(
          [await store.readStrict("acme"), await other.readStrict("acme")],
          [isStrict, isStrict],
        );
        assert.equal(await store.readStrict("acm"), false);
      }
      assert.notEqual(await store.keysVersion(), version);
      assert.deepEqual(await store.readLabels("acme"), [], "no label");
    },
  );

  check("labels keep their channels, and are the account's own", async ({ store, second }) => {
    const version = await store.keysVersion();
    const added = await store.addLabel("acme", label("FAMILY.wife"));
    assert.ok(added.outcome === "added");
    assert.equal(added.label.channel, 40);
    assert.notEqual(await store.keysVersion(), version);
    const again = await store.addLabel("acme", label("FAMILY.wife", { description: "another" }));
    assert.deepEqual(again, { outcome: "exists", label: added.label });
    const other = (await second?.()) ?? store;
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? store : other).addLabel("acme", label(`OWN.l${i}`))),
    );
    const channels = outcomes.map((outcome) => ("label" in outcome ? outcome.label.channel : -1));
    assert.deepEqual(
      channels.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => 41 + i),
    );
    assert.equal((await store.addLabel("other", label("FAMILY.wife"))).outcome, "added");
    const change = { hidden: true, oneOf: ["a", "b"], ttlS: 60 };
    assert.equal((await store.changeLabel("acme", added.label, change)).outcome, "changed");
    const standard: LabelRecord = { ...label("USER.gpu", { hidden: true }), channel: 3 };
    await store.changeLabel("acme", standard, { hidden: true });
    const labels = await other.readLabels("acme");
    assert.deepEqual(labels[0], standard);
    assert.deepEqual(labels[1], { ...added.label, ...change });
    assert.deepEqual(fieldsOf(await store.readLabels("other"), "channel"), [40]);
    assert.deepEqual(await store.readLabels("nobody"), []);
    if (other !== store) await other.close();
  });

  check("an account has 216 labels of its own at most", async ({ store }) => {
    for (let i = 0; i < 216; i++) await store.addLabel("acme", label(`OWN.l${i}`));
    assert.deepEqual(await store.addLabel("acme", label("OWN.more")), { outcome: "full" });
    assert.equal((await store.readLabels("acme")).at(-1)?.channel, 255);
  });

  check(
    "the labels of an account have 256 KiB together at most, however many are added at once",
    async ({ store, second }) => {
      const other = (await second?.()) ?? store;
      const long = (name: string) =>
        label(name, { oneOf: Array.from({ length: 30 }, (_, i) => `${i}`.padEnd(1_000, "x")) });
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, i) => (i % 2 ? store : other).addLabel("acme", long(`OWN.l${i}`))),
      );
      const added = outcomes.filter(({ outcome }) => outcome === "added").length;
      assert.deepEqual([added, outcomes.filter(({ outcome }) => outcome === "text_full").length], [8, 4]);
      const [first] = await store.readLabels("acme");
      const texts = Array.from({ length: 32 }, (_, i) => `${i}`.padEnd(1_024, "x"));
      assert.equal((await store.changeLabel("acme", first, { oneOf: texts })).outcome, "changed");
      const [, next] = await store.readLabels("acme");
      for (const oneOf of [
        [...texts, "x".repeat(60_000)],
        [...texts, "é".repeat(20_000)],
      ])
        assert.equal((await store.changeLabel("acme", next, { oneOf })).outcome, "text_full");
      assert.equal((await store.changeLabel("acme", next, { oneOf: null })).outcome, "changed");
      assert.equal((await store.addLabel("globex", long("OWN.l0"))).outcome, "added");
      if (other !== store) await other.close();
    },
  );

  check("a label that nothing has is removed, and keeps its channel", async ({ store }) => {
    for (const name of ["OWN.a", "OWN.b", "OWN.c"]) await store.addLabel("acme", label(name));
    await store.addLabel("globex", label("OWN.b"));
    await store.write({ ...write("ada", [["OWN.b", "x"]]), account: "globex" });
    await store.write(write("bob", [["OWN.bc", "x"]]));
    const version = await store.keysVersion();
    assert.equal(await store.removeLabel("acme", "OWN.b"), "removed", "another account has a fact on it");
    assert.notEqual(await store.keysVersion(), version);
    assert.equal(await store.removeLabel("acme", "OWN.b"), "missing");
    assert.equal(await store.removeLabel("acme", "OWN.none"), "missing");
    const [, gone] = await store.readLabels("acme");
    assert.deepEqual([gone.label, gone.removed, gone.channel], ["OWN.b", true, 41]);
    assert.equal((await store.changeLabel("acme", gone, { hidden: true })).outcome, "missing");
    assert.deepEqual(
      await store.write(
        write("ada", [
          ["OWN.a", "1"],
          ["OWN.b", "2"],
        ]),
      ),
      { outcome: "label_gone", used: 0, label: "OWN.b", param: "" },
    );
    assert.equal(await store.readUser(viewOf("ada")), undefined, "nothing of the write is stored");
    const d = await store.addLabel("acme", label("OWN.d"));
    assert.equal("label" in d && d.label.channel, 43, "the channel is given to no other label");
    const again = await store.addLabel("acme", label("OWN.b", { description: "another" }));
    assert.deepEqual(again, {
      outcome: "added",
      label: { ...label("OWN.b", { description: "another" }), channel: 41 },
    });
    assert.equal((await store.write(write("ada", [["OWN.b", "2"]]))).outcome, "stored");
  });

  check("a label with a fact or a history at any place is not removed", async ({ store }) => {
    await store.addLabel("acme", label("OWN.a"));
    await change(store, [fact("USER.name", "x"), fact("OWN.a", "1", { place: "loom" })]);
    assert.equal(await store.removeLabel("acme", "OWN.a"), "in_use");
    await change(store, [fact("OWN.a", null, { place: "loom", keepHistory: true })]);
    assert.equal(await store.removeLabel("acme", "OWN.a"), "in_use", "its history is left");
    await change(store, [fact("OWN.a", null, { place: "loom" })]);
    assert.equal(await store.removeLabel("acme", "OWN.a"), "removed");
  });

  check(
    "of a write and a removal at once one comes first: no fact is left on a label that is gone",
    async ({ store, second }) => {
      const other = (await second?.()) ?? store;
      const seen = new Set<string>();
      for (let round = 0; round < 40; round++) {
        const name = `OWN.l${round}`;
        await store.addLabel("acme", label(name));
        const users = Array.from({ length: 4 }, (_, i) => `u${round}-${i}`);
        // Each at another moment in each round, while the store has something else to write.
        const after = async <T>(turns: number, work: () => Promise<T>) => {
          for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
          return work();
        };
        const busy = store.write(write("busy", [[0, `${round}`]]));
        const [removed, ...written] = await Promise.all([
          after(round % 8, () => other.removeLabel("acme", name)),
          ...users.map((user, i) =>
            after(1 + (round >> 3) + 2 * i, () => store.write(write(user, [[name, "x"]]))),
          ),
        ]);
        await busy;
        const facts = await Promise.all(users.map((user) => store.readFact(viewOf(user), name)));
        written.forEach(({ outcome }, i) => {
          assert.equal(outcome === "stored", facts[i] !== undefined, `${name}: ${outcome}`);
          assert.ok(outcome === "stored" || outcome === "label_gone", outcome);
        });
        const isGone = (await store.readLabels("acme")).some(
          (one) => one.label === name && one.removed === true,
        );
        assert.equal(removed === "removed", isGone);
        if (isGone)
          assert.ok(
            facts.every((fact) => fact === undefined),
            `${name} has a fact and is gone`,
          );
        seen.add(removed);
      }
      assert.ok(seen.has("in_use"), [...seen].join());
      if (other !== store) await other.close();
    },
  );

  check("a move takes no fact past the removal of its label", async ({ store, second }) => {
    const other = (await second?.()) ?? store;
    // There is much to look at between the two places.
    for (const place of ["m1", "m2", "m3"]) {
      const lives = Array.from({ length: 900 }, (_, i) => ({ place, label: `F.l${i}`, values: [PAST] }));
      assert.equal(
        (await store.write(write("ada", [], { changes: [{ kind: "import", lives }] }))).outcome,
        "stored",
      );
    }
    for (let round = 0; round < 8; round++) {
      const name = `OWN.l${round}`;
      await store.addLabel("acme", label(name));
      await change(store, [fact(name, "x", { place: "z" })]);
      let removed: string | undefined;
      const removing = other.removeLabel("acme", name).then((outcome) => {
        removed = outcome;
      });
      // The event loop is busy, so that a commit is no longer than a part of the search.
      const busy = (ms: number) => {
        for (const endMs = performance.now() + ms; performance.now() < endMs; );
        return new Promise((resolve) => setImmediate(resolve));
      };
      for (let turn = 0; turn < round; turn++) await busy(1);
      const moving = store.write(write("ada", [], { changes: [{ kind: "move", from: "z", to: "a" }] }));
      while (removed === undefined) await busy(2);
      await Promise.all([removing, moving]);
      assert.equal(removed, "in_use", name);
      await change(store, [fact(name, null, { place: "a" })]);
    }
    if (other !== store) await other.close();
  });
}
