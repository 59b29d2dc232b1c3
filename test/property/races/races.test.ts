/**
 * A round of every pair of writes on the embedded store, of every third on two nodes with one PostgreSQL, and killed processes
 * on each; `npm run test:races` has 200 rounds of all, and kills in calls on 10,000 facts.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { newDatabase } from "../../postgres/server.ts";
import { killRound } from "./kills.ts";
import { PAIRS } from "./plans.ts";
import { type Nodes, type Round, runAll, runRound } from "./round.ts";
import { inNewFolder, openNodes, type StoreName } from "./stores.ts";
import { killWholeCalls, WHOLE_CALLS } from "./whole-kills.ts";

const ROUNDS: readonly Round[] = PAIRS.map((pair, i) => ({ pair, seed: i + 1 }));
const KILLED: Round = { pair: ["batch", "move"], seed: 1 };
/** Enough for many slices of work. */
const FACTS = 2_000;

async function onNodes(store: StoreName, at: string, work: (nodes: Nodes) => Promise<void>): Promise<void> {
  const nodes = await openNodes(store, at);
  try {
    await work(nodes);
  } finally {
    await nodes.close();
  }
}

async function keepRules(nodes: Nodes, rounds: readonly Round[]): Promise<void> {
  const errors: Error[] = [];
  const failed = (error: Error) => void errors.push(error);
  await runAll(rounds, (round) => runRound(nodes, round), failed);
  assert.deepEqual(errors, []);
}

test("embedded: writes of every pair of kinds at once keep the rules, whatever their order", () =>
  inNewFolder((folder) => onNodes("embedded", folder, (nodes) => keepRules(nodes, ROUNDS))));

test("postgres: writes of every third pair of kinds at once on two nodes keep the rules, whatever their order", async () => {
  const rounds = ROUNDS.filter((_, i) => i % 3 === 0);
  await onNodes("nodes", await newDatabase(), (nodes) => keepRules(nodes, rounds));
});

test("embedded: a killed process leaves what it acknowledged, and of the rest all or nothing", () =>
  inNewFolder(async (folder) => void (await killRound("embedded", folder, KILLED))));

test("postgres: a killed node leaves what it acknowledged, and of the rest all or nothing", async () =>
  void (await killRound("postgres", await newDatabase(), KILLED)));

async function killsWhole(store: StoreName, at: string): Promise<void> {
  const seed = Date.now() % 2 ** 32;
  const { done, undone } = await killWholeCalls(store, at, seededRandom(seed), 1, FACTS).catch((error) => {
    throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
  });
  assert.equal(done + undone, WHOLE_CALLS.length);
}

test("embedded: of a rollback, move, erasure or import of 2,000 facts a killed process leaves all or nothing", () =>
  inNewFolder((folder) => killsWhole("embedded", folder)));

test("postgres: of a rollback, move, erasure or import of 2,000 facts a killed node leaves all or nothing", async () =>
  killsWhole("postgres", await newDatabase()));
