/** What every store must do with the end of a fact that is moved: the history keeps the values beside it. */

import assert from "node:assert/strict";
import type { Store } from "../../src/memory/ports.ts";
import { labelAt, viewOf } from "../fixtures/views.ts";
import { checksOf, NOW, type StoreUnderTest, set, stored, write } from "./store-under-test.ts";

const earlierOf = async (store: Store, nowMs: number) =>
  (await store.readLife("acme", "ada", { nowMs }))?.earlier ?? [];

export function storeEndsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check(
    "an end that is moved again and again takes one earlier value, and other values stay",
    async ({ store }) => {
      const day = (n: number) => ({ expiresAtMs: NOW + n * 86_400_000 });
      await stored(store, [set(0, "Rome")], NOW);
      await stored(store, [set(0, "Oslo", day(1))], NOW + 1);
      for (let n = 2; n <= 12; n++) await stored(store, [set(0, "Oslo", day(n))], NOW + n);
      const ends = async () =>
        (await earlierOf(store, NOW + 50)).map(({ value, expiresAtMs, sinceMs, endedAtMs }) => [
          value,
          expiresAtMs === null ? null : (expiresAtMs - NOW) / 86_400_000,
          sinceMs - NOW,
          endedAtMs - NOW,
        ]);
      assert.deepEqual(await ends(), [
        ["Rome", null, 0, 1],
        ["Oslo", 11, 1, 12],
      ]);
      const back = (toMs: number, nowMs: number) =>
        store.write({
          ...write("ada", []),
          changes: [{ kind: "rollback", within: "", toMs, partial: false, dryRun: false }],
          nowMs,
        });
      const end = async () =>
        (await store.readFact(viewOf("ada", "acme", { nowMs: NOW + 50 }), labelAt(0)))?.expiresAtMs;
      // Taken back, and that as well.
      await back(NOW + 11, NOW + 20);
      assert.equal(await end(), day(11).expiresAtMs);
      await back(NOW + 19, NOW + 21);
      assert.equal(await end(), day(12).expiresAtMs);
      // An end that begins or is taken away is another value.
      await stored(store, [set(0, "Oslo")], NOW + 22);
      await stored(store, [set(0, "Oslo", day(5))], NOW + 23);
      assert.deepEqual(
        (await ends()).map(([value, ending]) => [value, ending]),
        [
          ["Rome", null],
          ["Oslo", 11],
          ["Oslo", 12],
          ["Oslo", null],
        ],
      );
    },
  );
}
