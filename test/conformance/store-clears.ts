/**
 * A place that is cleared but for some values: what goes is decided while the user is locked, so that a write at the same time
 * comes before it or after it. An erasure that is done again after a restore, and the demo's sandboxes, do so.
 */

import assert from "node:assert/strict";
import type { Clock } from "../../src/base/clock.ts";
import { Demo } from "../../src/memory/demo.ts";
import { type Erasure, erasuresIn } from "../../src/memory/erasure-lines.ts";
import { notedErasures } from "../../src/memory/erasures.ts";
import { KeyRing } from "../../src/memory/key-ring.ts";
import { Labels } from "../../src/memory/labels.ts";
import type { Change, Store } from "../../src/memory/ports.ts";
import { eraseAgain } from "../../src/memory/repeated-erasures.ts";
import type { MemoryServices } from "../../src/memory/services.ts";
import { projectUser, sharedPlace } from "../../src/memory/shared-places.ts";
import { StoreLayer } from "../../src/memory/store-layer.ts";
import { checksOf, NOW, type StoreUnderTest, stored, write } from "./store-under-test.ts";

const AT_NOW = { now: () => NOW };

const set = (label: string, value: string, place = "loom"): Change => ({ place, label, value });

/** Does something just before the next write, whoever makes it. */
function disturbed(store: Store, disturb: () => Promise<unknown>): Store {
  const layer = new StoreLayer(store);
  let isDone = false;
  const first = async () => {
    if (!isDone) await disturb();
    isDone = true;
  };
  layer.write = async (request) => {
    await first();
    return store.write(request);
  };
  layer.forgetUser = async (...given) => {
    await first();
    return store.forgetUser(...given);
  };
  return layer;
}

/** The goal was taken from ada's project into what is shared, and erased there. The repository stayed. */
async function takenAndErased(store: Store, keyRing: KeyRing): Promise<readonly Erasure[]> {
  const lines: string[] = [];
  const add = async (line: string) => void lines.push(line);
  const noted = notedErasures(store, { keyRing, clock: AT_NOW, add });
  await stored(store, [set("PROJ.goal", "to go"), set("PROJ.repo", "to stay")]);
  await store.changeProject("acme", { project: "loom", createdAtMs: NOW });
  const only = { isMeant: (label: string) => label === "PROJ.goal", named: [] };
  const move: Change = { kind: "move", from: "loom", to: sharedPlace("loom"), only };
  await stored(noted, [move], NOW, { shared: { project: "loom", isForAccount: true } });
  await noted.forgetUser("acme", projectUser("loom"));
  return erasuresIn(...lines);
}

export function storeClearsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("what an erasure wants again is gone, also where it was renamed meanwhile", async ({ store }) => {
    const keyRing = new KeyRing([{ id: 7, material: new Uint8Array(32).fill(7) }]);
    const erasures = await takenAndErased(store, keyRing);
    // As a backup has it: with what was taken.
    await stored(store, [set("PROJ.goal", "to go"), set("PROJ.repo", "to stay")]);
    const terms = { label: "PROJ.stack", oneOf: null, maxBytes: null };
    const rename = { kind: "rename", label: "PROJ.goal", to: "PROJ.stack", merge: false } as const;
    const meanwhile = disturbed(store, () => stored(store, [{ ...rename, terms, places: ["loom"] }]));
    const { erased } = await eraseAgain({ store: meanwhile, keyRing, clock: AT_NOW }, erasures);
    const life = await store.readLife("acme", "ada", { nowMs: NOW });
    assert.deepEqual([life?.facts.map(({ value }) => value), life?.earlier, erased], [["to stay"], [], 1]);
  });

  check(
    "what comes into a sandbox of the demo after it has ended is not forgotten with it",
    async ({ store }) => {
      const hourMs = 3_600_000;
      let nowMs = NOW;
      const clock = { now: () => nowMs } as Clock;
      const written = (value: string) =>
        store.write(write("demo-0af", [["USER.name", value]], { account: "@demo", nowMs }));
      const services = { store, clock, labels: new Labels(store), blocks: { forget() {} } };
      const demo = new Demo(services as unknown as MemoryServices, hourMs);
      await demo.encode("USER.name", "old", await demo.userOf("0af"));
      nowMs += hourMs;
      services.store = disturbed(store, () => written("new"));
      await demo.userOf(undefined);
      const life = await store.readLife("@demo", "demo-0af", { nowMs });
      assert.deepEqual(
        life?.facts.map(({ value }) => value),
        ["new"],
      );
    },
  );
}
