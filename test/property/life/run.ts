/**
 * Random sequences against the model: npm run test:life -- [SEED] [COUNT] [embedded|postgres]. 10,000 of them on each store
 * by default, from seeds that follow one another, then writers that race; with a store named, the sequences on that store
 * alone. At the first difference it says the seed, and the fewest steps that show it.
 */

import assert from "node:assert/strict";
import { PostgresServer } from "../../../bench/store/postgres-server.ts";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { ProgressLine } from "../../../src/cli/printed.ts";
import { PostgresStore, type PostgresStoreOptions } from "../../../src/store/postgres/postgres-store.ts";
import { appendAtOnce, raceForRevision } from "./race.ts";
import { callerOf, runOrShrink, servicesOf } from "./sequence.ts";
import { embeddedWorld, StoreWorld, type World } from "./world.ts";

/** A store does not become so large that compactions take long. */
const SEQUENCES_PER_WORLD = 100;
/** A sequence on PostgreSQL mostly waits for it. */
const WORLDS_AT_ONCE = 4;
const RACES = 1_000;

const [seed = 1, count = 10_000] = process.argv.slice(2, 4).map(Number);
const chosen = process.argv[4];
assert.ok(chosen === undefined || chosen === "embedded" || chosen === "postgres", `no such store: ${chosen}`);
console.log(`seeds ${seed} to ${seed + count - 1}`);
/** All sequences on worlds of one kind, and how long they took. */
async function sequences(store: string, newWorld: () => World | Promise<World>): Promise<void> {
  const startMs = performance.now();
  const progress = new ProgressLine(`sequences on ${store}`, count, true);
  let steps = 0;
  let next = 0;
  const takeTurns = async () => {
    while (next < count) {
      const first = next;
      next += SEQUENCES_PER_WORLD;
      const world = await newWorld();
      try {
        for (let i = first; i < Math.min(count, first + SEQUENCES_PER_WORLD); i++) {
          const taken = await runOrShrink(world, `q${i}`, seed + i);
          steps += taken;
          progress.step();
        }
      } finally {
        await world.end();
      }
    }
  };
  await Promise.all(Array.from({ length: WORLDS_AT_ONCE }, takeTurns));
  progress.end();
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(`${count} sequences of ${steps} steps on ${store} agree with the model: ${seconds} s`);
}

/** What a crash of the database leaves is not tried here, so its files need not reach the disk. */
async function sequencesOnPostgres(): Promise<void> {
  const server = await PostgresServer.start(["fsync=off", "synchronous_commit=off"]);
  let databases = 0;
  const newOpener = async () => {
    const url = await server.createDatabase(`life${++databases}`);
    return (historyMax: number, clock: Clock) => openPostgres(url, { historyMax, clock });
  };
  const newWorld = async () =>
    new StoreWorld([await newOpener(), await newOpener()], (store) => store.compact());
  await sequences("PostgreSQL", newWorld);
  await server.remove();
}

async function races(): Promise<void> {
  const world = embeddedWorld();
  const services = servicesOf(await world.open(8), world.clock, 8);
  await raceForRevision([services], callerOf("race", null), RACES);
  await appendAtOnce([services], callerOf("race", null), RACES / 10);
  await world.end();
}

function openPostgres(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<PostgresStore> {
  return PostgresStore.open({ url, queueMax: 10_000, metrics: new Metrics(), ...options });
}

async function racesOfNodes(): Promise<void> {
  const server = await PostgresServer.start();
  const url = await server.createDatabase("race");
  const [one, other] = [await openPostgres(url), await openPostgres(url)];
  const nodes = [servicesOf(one, systemClock, 8), servicesOf(other, systemClock, 8)] as const;
  await raceForRevision(nodes, callerOf("race", null), RACES);
  await appendAtOnce(nodes, callerOf("race", null), RACES / 10);
  await Promise.all([one.close(), other.close()]);
  await server.remove();
}

async function bothRaces(): Promise<void> {
  const raced = `${RACES} rounds of twenty writers with one winner each, ${RACES / 10} of twenty appends with all items`;
  await races();
  console.log(raced);
  await racesOfNodes();
  console.log(`${raced}, on two nodes with one PostgreSQL`);
}

if (chosen !== "postgres") await sequences("the embedded store", embeddedWorld);
if (chosen !== "embedded") await sequencesOnPostgres();
if (chosen === undefined) await bothRaces();
