/** Fifty random sequences of a fact's life agree with the model, and five on PostgreSQL; `npm run test:life` does 10,000. */

import { test } from "node:test";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { newDatabase, openStore } from "../../postgres/server.ts";
import { appendAtOnce, raceForRevision } from "./race.ts";
import { callerOf, runOrShrink, servicesOf } from "./sequence.ts";
import { embeddedWorld, StoreWorld, type World } from "./world.ts";

const SEED = 1;
const ROUNDS = 100;
const ROUNDS_OF_NODES = 20;

async function runAll(world: World, count: number): Promise<void> {
  try {
    for (let seed = SEED; seed < SEED + count; seed++) await runOrShrink(world, `q${seed}`, seed);
  } finally {
    await world.end();
  }
}

test("embedded: 50 random sequences of all that can happen to facts agree with the model", () =>
  runAll(embeddedWorld(), 50));

test("postgres: 5 random sequences of all that can happen to facts agree with the model", async () => {
  // One has the rows of a single server, the other those of a cluster.
  const openers = [
    { url: await newDatabase(), clusterForms: false },
    { url: await newDatabase(), clusterForms: true },
  ].map(
    ({ url, clusterForms }) =>
      (historyMax: number, clock: Clock) =>
        openStore(url, { historyMax, clock, clusterForms }),
  );
  await runAll(new StoreWorld(openers, (store) => store.compact()), 5);
});

test("of twenty writers that name a fact's revision one wins each round, and of twenty appends none is lost", async () => {
  const world = embeddedWorld();
  try {
    const services = servicesOf(await world.open(8), world.clock, 8);
    await raceForRevision([services], callerOf("race", null), ROUNDS);
    await appendAtOnce([services], callerOf("race", null), ROUNDS / 10);
  } finally {
    await world.end();
  }
});

test("postgres: the same of twenty writers on two nodes; npm run test:life has 1,000 rounds", async () => {
  const url = await newDatabase();
  const [one, other] = [await openStore(url), await openStore(url)];
  try {
    const nodes = [servicesOf(one, systemClock, 8), servicesOf(other, systemClock, 8)] as const;
    await raceForRevision(nodes, callerOf("race", null), ROUNDS_OF_NODES);
    await appendAtOnce(nodes, callerOf("race", null), ROUNDS_OF_NODES / 10);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
});
