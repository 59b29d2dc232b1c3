/** What every store must refuse: more facts in a place, and facts in more places, than there may be. */

import assert from "node:assert/strict";
import { labelAt } from "../fixtures/views.ts";
import { checksOf, forget, NOW, type StoreUnderTest, set, stored, write } from "./store-under-test.ts";

export function storeBoundsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("a place that is full takes no further fact, and others do", async ({ store }) => {
    const numbers = Array.from({ length: 1_000 }, (_, number) => number);
    const full = numbers.map((number) => set(number, "x", { place: "loom" }));
    await stored(store, full);
    const more = [set(1_000, "one more", { place: "loom" })];
    const places = ["", "loom"];
    const refusal = { code: "memory_full" };
    await assert.rejects(store.write(write("ada", [], { changes: more, places })), refusal);
    assert.equal((await store.statistics()).facts, 1_000);
    assert.equal((await stored(store, [set(1_000, "own")], NOW, { places })).channelCount, 1_001);
    await stored(store, [set(5, "replaced", { place: "loom" })]);
    await stored(store, [set(5, "in another", { place: "loom/x" })]);
    await stored(store, [forget(5, { place: "loom", keepHistory: true })]);
    await stored(store, more);
    const life = await store.readLife("acme", "ada", { nowMs: NOW, place: "loom", label: labelAt(5) });
    const { revision } = life!.earlier[0];
    const terms = { label: labelAt(5), oneOf: null, maxBytes: null };
    const restore = {
      kind: "restore",
      ...terms,
      terms,
      places: ["loom"],
      revision,
      expiresAtMs: null,
    } as const;
    await assert.rejects(store.write(write("ada", [], { changes: [restore], places: [] })), refusal);
  });

  check(
    "a person has facts in 1,000 projects, and in one more after one was forgotten",
    async ({ store }) => {
      const places = Array.from({ length: 1_000 }, (_, i) => `project-${i}`);
      await stored(
        store,
        places.map((place) => set(0, "x", { place })),
      );
      await stored(store, [set(0, "the person's own")]);
      const more = [set(0, "one more", { place: "another" })];
      const refusal = { code: "memory_full" };
      await assert.rejects(store.write(write("ada", [], { changes: more })), refusal);
      await stored(store, [set(1, "a second one", { place: "project-7" })]);
      const moved = { kind: "move", from: "project-7", to: "renamed" } as const;
      await stored(store, [moved], NOW, { places: [] });
      await assert.rejects(store.write(write("ada", [], { changes: more })), refusal);
      assert.ok(await store.forgetUser("acme", "ada", "project-8"));
      await stored(store, more);
      await assert.rejects(
        store.write(write("ada", [], { changes: [set(0, "x", { place: "project-8" })] })),
        refusal,
      );
      await stored(store, [forget(0, { place: "another" }), set(0, "x", { place: "project-8" })]);
    },
  );
}
