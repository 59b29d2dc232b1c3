/**
 * A round of every pair of writes of one user, and of every second of a team, on the embedded store, of every third and sixth on two nodes with one
 * PostgreSQL, and killed processes on each; `npm run test:races` has 200 rounds of all, and kills in calls on 10,000 facts.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { newDatabase } from "../../postgres/server.ts";
import { killRound, killSharedRound } from "./kills.ts";
import { PAIRS } from "./plans.ts";
import { type Nodes, type Round, runAll, runRound } from "./round.ts";
import { runSharedRound, SHARED_PAIRS, type SharedPair } from "./shared-calls.ts";
import { inNewFolder, openNodes, type StoreName } from "./stores.ts";
import { killWholeCalls, WHOLE_CALLS } from "./whole-kills.ts";

const ROUNDS: readonly Round[] = PAIRS.map((pair, i) => ({ pair, seed: i + 1 }));
const KILLED: Round = { pair: ["batch", "move"], seed: 1 };
const OF_TEAM: readonly Round<SharedPair>[] = SHARED_PAIRS.map((pair, i) => ({ pair, seed: i + 1 }));
const TEAM_KILLED: Round<SharedPair> = { pair: ["share", "unshare"], seed: 1 };
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

async function keepRules<P extends readonly string[]>(
  rounds: readonly Round<P>[],
  run: (round: Round<P>) => Promise<void>,
): Promise<void> {
  const errors: Error[] = [];
  await runAll(rounds, run, (error) => void errors.push(error));
  assert.deepEqual(errors, []);
}

async function keepAllRules(nodes: Nodes, every: number): Promise<void> {
  await keepRules(
    ROUNDS.filter((_, i) => i % every === 0),
    (round) => runRound(nodes, round),
  );
  // These take twice as long.
  await keepRules(
    OF_TEAM.filter((_, i) => i % (2 * every) === 0),
    (round) => runSharedRound(nodes, round),
  );
}

test("embedded: writes of every pair of kinds at once keep the rules, whatever their order", () =>
  inNewFolder((folder) => onNodes("embedded", folder, (nodes) => keepAllRules(nodes, 1))));

test("postgres: writes of every third pair of kinds at once on two nodes keep the rules, whatever their order", async () => {
  await onNodes("nodes", await newDatabase(), (nodes) => keepAllRules(nodes, 3));
});

test("embedded: a killed process leaves what it acknowledged, and of the rest all or nothing", () =>
  inNewFolder(async (folder) => {
    await killRound("embedded", folder, KILLED);
    await killSharedRound("embedded", folder, TEAM_KILLED);
  }));

test("postgres: a killed node leaves what it acknowledged, and of the rest all or nothing", async () => {
  await killRound("postgres", await newDatabase(), KILLED);
  await killSharedRound("postgres", await newDatabase(), TEAM_KILLED);
});

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
