/** One round of every pair of writes on each store, and a killed process on each; `npm run test:races` has 200 rounds. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "../../postgres/server.ts";
import { PAIRS } from "./calls.ts";
import { killRound } from "./kills.ts";
import { type Nodes, type Round, runAll, runRound } from "./round.ts";
import { inNewFolder, openNodes, type StoreName } from "./stores.ts";

const ROUNDS: readonly Round[] = PAIRS.map((pair, i) => ({ pair, seed: i + 1 }));
const KILLED: Round = { pair: ["batch", "move"], seed: 1 };

async function onNodes(store: StoreName, at: string, work: (nodes: Nodes) => Promise<void>): Promise<void> {
  const nodes = await openNodes(store, at);
  try {
    await work(nodes);
  } finally {
    await nodes.close();
  }
}

async function onePerPair(nodes: Nodes): Promise<void> {
  const found: unknown[] = [];
  await runAll(ROUNDS, (round) => runRound(nodes, round).catch((error) => found.push(error)));
  assert.deepEqual(found, []);
}

test("embedded: writes of every pair of kinds at once keep the rules, whatever their order", () =>
  inNewFolder((folder) => onNodes("embedded", folder, onePerPair)));

test("postgres: writes of every pair of kinds at once on two nodes keep the rules, whatever their order", async () =>
  onNodes("nodes", await newDatabase(), onePerPair));

test("embedded: a killed process leaves what it acknowledged, and of the rest all or nothing", () =>
  inNewFolder(async (folder) => void (await killRound("embedded", folder, KILLED))));

test("postgres: a killed node leaves what it acknowledged, and of the rest all or nothing", async () =>
  void (await killRound("postgres", await newDatabase(), KILLED)));
