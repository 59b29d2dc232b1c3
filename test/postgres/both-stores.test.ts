/**
 * Both stores give the same answers to the same random writes: alone and many at once for the same facts, with ends,
 * conditions, forgetting, the sweep and several lengths of history. PostgreSQL with the functions of a single server and
 * with those of a cluster.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Metrics } from "../../src/base/metrics.ts";
import { type Random, seededRandom } from "../../src/base/random.ts";
import type { FactChange, Store, WriteOutcome, WriteRequest } from "../../src/memory/ports.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";
import { NOW } from "../conformance/store-under-test.ts";
import { labelAt } from "../fixtures/views.ts";
import { newDatabase, openStore } from "./server.ts";

const ROUNDS = 30;
const USERS = ["ada", "zoë"];
const PLACES = ["", "loom"];
const LIMIT = 110;

/** A write whose conditions still have to be filled in: the revisions of two stores are different numbers. */
type Drawn = Omit<WriteRequest, "changes"> & {
  readonly changes: readonly (FactChange & { readonly condition: "none" | "holds" | "absent" | "other" })[];
};

function drawWrite(random: Random, nowMs: number): Drawn {
  const targets = new Set(
    Array.from({ length: 1 + random.below(3) }, () => `${random.below(2)} ${random.pick(PLACES)}`),
  );
  const changes = [...targets].map((target) => {
    const [label, place] = [labelAt(Number(target[0])), target.slice(2)];
    const condition = random.pick(["none", "none", "none", "holds", "absent", "other"] as const);
    if (random.below(4) === 0)
      return { place, label, value: null, keepHistory: random.below(2) === 0, condition };
    const expiresAtMs = random.below(3) === 0 ? nowMs + 1 + random.below(4) : null;
    const updatedAtMs = nowMs - random.below(2);
    return { place, label, value: random.pick(["a", "b", "c"]), expiresAtMs, updatedAtMs, condition };
  });
  return {
    account: "acme",
    userId: random.pick(USERS),
    changes,
    places: PLACES.slice(0, 1 + random.below(2)),
    nowMs: nowMs + random.below(3),
    writtenBy: random.pick([null, "codex"]),
    sessionId: random.pick([null, "s1"]),
    quota: { keyId: "key1", month: "2026-11", day: "2026-11-15", limit: LIMIT },
  };
}

/** With the conditions as the store's facts were before the group. */
async function asRequest(store: Store, { changes, ...write }: Drawn): Promise<WriteRequest> {
  const life = await store.readLife(write.account, write.userId, { nowMs: write.nowMs });
  return {
    ...write,
    changes: changes.map(({ condition, ...change }) => {
      if (condition === "none") return change;
      const present = life?.facts.find(
        ({ place, label }) => place === change.place && label === change.label,
      );
      const revision = { holds: present?.revision ?? 0, absent: 0, other: 2 ** 52 }[condition];
      return { ...change, ifRevision: revision };
    }),
  };
}

/** Without revisions; the number of labels where the write was alone. */
function comparable(outcome: WriteOutcome, isAlone: boolean): unknown {
  const plain = (fact: object | undefined) => fact && { ...fact, revision: 0, code: 0 };
  if (outcome.outcome === "conflict") return { ...outcome, present: plain(outcome.present) };
  if (outcome.outcome !== "stored") return outcome;
  const channelCount = isAlone ? outcome.channelCount : 0;
  return {
    ...outcome,
    revision: 0,
    channelCount,
    changes: outcome.changes.map((change) => ({ ...change, revision: 0, before: plain(change.before) })),
    events: [],
  };
}

async function everythingOf(store: Store, nowMs: number): Promise<unknown> {
  const users = await store.listUsers("acme", { prefix: "", after: "", limit: 10 });
  const lives = await Promise.all(
    users.map(async (userId) => {
      const life = (await store.readLife("acme", userId, { nowMs }))!;
      const view = { account: "acme", userId, places: PLACES, nowMs };
      const state = await store.readUser(view);
      const all = [...life.facts, ...life.earlier].sort((a, b) => a.revision - b.revision);
      return {
        userId,
        // Revisions as what they are for: an order.
        ordered: all.map(({ revision: _, ...fact }) => fact),
        counting: state?.facts.map(({ place, label }) => [place, label]),
        nextEndMs: state?.nextEndMs,
      };
    }),
  );
  return { lives, used: await store.readUsage("key1", "2026-11") };
}

async function compare(clusterForms: boolean, historyMax: number, seed: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-both-"));
  const metrics = new Metrics();
  const embedded = await LmdbStore.open({ folder, create: true, queueMax: 1_000, metrics, historyMax });
  const postgres = await openStore(await newDatabase(), { historyMax, clusterForms });
  const random = seededRandom(seed);
  try {
    for (let round = 0, nowMs = NOW; round < ROUNDS; round++, nowMs += random.below(3)) {
      const drawn = Array.from({ length: random.pick([1, 1, 6]) }, () => drawWrite(random, nowMs));
      const isSwept = random.below(8) === 0;
      const [expected, actual] = await Promise.all(
        [embedded, postgres].map(async (store) => {
          const requests = await Promise.all(drawn.map((write) => asRequest(store, write)));
          const outcomes = await Promise.all(requests.map((request) => store.write(request)));
          if (isSwept) await store.sweep(nowMs);
          return {
            outcomes: outcomes.map((outcome) => comparable(outcome, drawn.length === 1)),
            stored: await everythingOf(store, nowMs),
          };
        }),
      );
      assert.deepEqual(actual, expected, `seed ${seed}, round ${round}`);
    }
  } finally {
    await Promise.all([embedded.close(), postgres.close()]);
    rmSync(folder, { recursive: true });
  }
}

for (const [forms, clusterForms] of [
  ["a single server", false],
  ["a cluster", true],
] as const)
  test(`both stores answer alike, PostgreSQL with the rows of ${forms}`, async () => {
    for (const [i, historyMax] of [0, 2, 8].entries()) await compare(clusterForms, historyMax, i + 1);
  });
