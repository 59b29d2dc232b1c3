/** What stands between a node and PostgreSQL: a real PgBouncer in its modes, and a stand-in that mixes up answers. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import postgres from "postgres";
import type { Failure } from "../../src/base/errors.ts";
import { Metrics } from "../../src/base/metrics.ts";
import type { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { keyRecord, write } from "../conformance/store-under-test.ts";
import { endAfter } from "../fixtures/ends.ts";
import { findPgbouncer } from "../fixtures/programs.ts";
import { viewOf } from "../fixtures/views.ts";
import { until } from "../fixtures/waiting.ts";
import { startRunning } from "../http/running-service.ts";
import { guideSample, renamed } from "./cluster-guide.ts";
import { MixingProxy } from "./mixing-proxy.ts";
import { Pgbouncer } from "./pgbouncer.ts";
import { newDatabase, newEmptyDatabase, openStore } from "./server.ts";

const USERS = 30;
const ROUNDS = 5;
const textOf = (user: number) => `value of user ${user}`;

/** Users with a fact each, and users without; what a caller may be told about them. */
async function fill(store: Pick<PostgresStore, "write">): Promise<void> {
  await Promise.all(
    Array.from({ length: USERS }, (_, i) => store.write(write(`user ${i}`, [[0, textOf(i)]]))),
  );
}

/** Reads and writes of many callers at once; how often each answer or error code came. */
async function load(stores: readonly PostgresStore[], rounds: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const callers = stores.flatMap((store) => Array.from({ length: 16 }, (_, caller) => ({ store, caller })));
  await Promise.all(
    callers.map(async ({ store, caller }) => {
      for (let i = 0; i < rounds; i++) {
        const user = (caller * 7 + i * 3) % (USERS + 10);
        let answer: string;
        try {
          answer = i % 5 === 0 ? await writeOne(store, caller, i) : await readOne(store, user, i);
        } catch (error) {
          answer = (error as Failure).code ?? String(error);
        }
        counts[answer] = (counts[answer] ?? 0) + 1;
      }
    }),
  );
  return counts;
}

async function writeOne(store: PostgresStore, caller: number, i: number): Promise<string> {
  // Each caller has its user, with as many channels as its writes have told.
  const { outcome } = await store.write(write(`writer ${caller}`, [[1, `${i}`]]));
  return outcome === "stored" ? "stored" : "WRONG OUTCOME";
}

async function readOne(store: PostgresStore, user: number, i: number): Promise<string> {
  const name = `user ${user}`;
  const values =
    i % 2 === 0
      ? [(await store.readFact(viewOf(name), "USER.name"))?.value]
      : ((await store.readUser(viewOf(name)))?.facts.map(({ value }) => value) ?? [undefined]);
  if (values.length !== 1 || values[0] !== (user < USERS ? textOf(user) : undefined)) return "WRONG";
  return "read";
}

function pgbouncerTest(name: string, run: (t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    if (findPgbouncer() !== undefined) return run(t);
    t.skip("no PgBouncer on this machine");
  });
}

for (const mode of ["transaction", "session"]) {
  pgbouncerTest(`PgBouncer in ${mode} mode: every answer is right, and the operator is told`, async (t) => {
    const url = await newDatabase();
    const direct = await openStore(url);
    await fill(direct);
    await direct.close();
    const pooler = await Pgbouncer.start(url, [
      `pool_mode = ${mode}`,
      guideSample("ini", "ignore_startup_parameters"),
      `default_pool_size = ${mode === "transaction" ? 4 : 30}`,
    ]);
    t.after(() => pooler.end());
    const warnings: string[] = [];
    const options = { poolMax: 8, warn: (line: string) => void warnings.push(line) };
    const stores = await Promise.all([openStore(pooler.url, options), openStore(pooler.url, options)]);
    let isDone = false;
    // What a node asks by itself has no parameters: the client would send the next statement behind it at once.
    const asking = stores.map(async (store) => {
      for (; !isDone; await setTimeout(1)) await store.statistics();
    });
    for (let round = 0; round < ROUNDS; round++) {
      assert.deepEqual(await load(stores, 15), { stored: 2 * 16 * 3, read: 2 * 16 * 12 });
    }
    isDone = true;
    await Promise.all(asking);
    assert.ok(
      warnings.some((line) => line.startsWith("a pooler stands between")),
      warnings.join("\n"),
    );
    assert.ok(warnings.some((line) => /no time limit on the server: run ALTER ROLE/.test(line)));
    await Promise.all(stores.map((store) => store.close()));
  });
}

pgbouncerTest("PgBouncer with the settings of docs/CLUSTER.md: no time limit is missing", async (t) => {
  const url = new URL(await newEmptyDatabase());
  const role = "guide_pooler";
  const sql = postgres(url.href, { max: 1, onnotice: () => {} });
  await sql.unsafe(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA sideband AUTHORIZATION ${role}`);
  await sql.unsafe(renamed(guideSample("sql", "ALTER ROLE"), role));
  await sql.end();
  url.username = role;
  const pooler = await Pgbouncer.start(url.href, [
    "pool_mode = transaction",
    guideSample("ini", "ignore_startup_parameters"),
  ]);
  t.after(() => pooler.end());
  const warnings: string[] = [];
  const store = await openStore(pooler.url, { warn: (line: string) => void warnings.push(line) });
  await fill(store);
  await store.close();
  assert.deepEqual(
    warnings.filter((line) => !line.startsWith("a pooler stands between")),
    [],
  );
});

pgbouncerTest("PgBouncer that refuses a start-up parameter: the line says what to set", async (t) => {
  const pooler = endAfter(t, await Pgbouncer.start(await newEmptyDatabase(), ["pool_mode = transaction"]));
  await assert.rejects(openStore(pooler.url), (error: Failure) => {
    const { message } = error.extra.cause as Error;
    return message.includes(
      "set ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout",
    );
  });
});

test("a pooler that mixes up answers between connections causes 503, never another user's value", async (t) => {
  const url = await newDatabase();
  const proxy = await MixingProxy.start(t, url);
  const metrics = new Metrics();
  const stores = await Promise.all([openStore(proxy.url, { metrics, poolMax: 8 }), openStore(proxy.url)]);
  await fill(stores[0]);
  // All connections are open and all statements known before answers are mixed up.
  const right = { stored: 2 * 16 * 2, read: 2 * 16 * 8 };
  assert.deepEqual(await load(stores, 10), right);
  proxy.mixing = true;
  const counts: Record<string, number> = {};
  while (proxy.swapped < 20) {
    for (const [answer, count] of Object.entries(await load(stores, 5)))
      counts[answer] = (counts[answer] ?? 0) + count;
    await setTimeout(50);
  }
  proxy.stop();
  assert.deepEqual(
    Object.keys(counts).filter((answer) => !EXPECTED.has(answer)),
    [],
    JSON.stringify(counts),
  );
  assert.ok(counts.store_unavailable > 0, JSON.stringify(counts));
  metrics.render();
  assert.ok(metrics.value("sideband_database_mixed_up_answers_total") > 0);
  // The connections that did it are gone soon.
  await until(async () => isDeepStrictEqual(await load(stores, 10), right));
  await Promise.all(stores.map((store) => store.close()));
});

const EXPECTED = new Set(["read", "stored", "store_unavailable", "outcome_unknown"]);

test("an answer that comes after the columns of the next statement causes 503", async (t) => {
  const proxy = await MixingProxy.start(t, await newDatabase());
  const store = await openStore(proxy.url, { poolMax: 2 });
  await store.write(write("user 0", [[0, textOf(0)]]));
  // The connection knows this statement, and does not know the next one.
  assert.equal((await store.readFact(viewOf("user 0"), "USER.name"))?.value, textOf(0));
  proxy.mixing = true;
  // Until the columns have come, on a busy machine too.
  proxy.keepMs = 5_000;
  const fact = store.readFact(viewOf("user 0"), "USER.name");
  const stamp = store.readStamp("acme", "user 0");
  await Promise.all([fact, stamp].map((asked) => assert.rejects(asked, { code: "store_unavailable" })));
  proxy.stop();
  await store.close();
});

test("over HTTP a mixed-up answer is 503 with Retry-After, and the log says why", async (t) => {
  const proxy = await MixingProxy.start(t, await newDatabase());
  const running = await startRunning(
    { SIDEBAND_DATABASE_URL: proxy.url, SIDEBAND_DATABASE_POOL: "8", SIDEBAND_MASTER_KEY: "ab".repeat(32) },
    undefined,
    { warm: false },
  );
  t.after(() => running.end());
  await fill(running.service.core.store);
  const decodeAll = () =>
    Promise.all(
      Array.from({ length: USERS }, async (_, user) => {
        const query = new URLSearchParams({ user_id: `user ${user}`, label: "USER.name" });
        const { status, headers, json } = await running.call("GET", `/decode?${query}`);
        if (status === 200) return json.value === textOf(user) ? "right" : "WRONG";
        return `${status} ${json.code} ${headers.get("retry-after")}`;
      }),
    );
  assert.deepEqual(new Set(await decodeAll()), new Set(["right"]));
  proxy.mixing = true;
  const answers = new Set<string>();
  for (; proxy.swapped < 10; await setTimeout(50))
    for (const answer of await decodeAll()) answers.add(answer);
  proxy.stop();
  answers.delete("right");
  assert.deepEqual([...answers], ["503 store_unavailable 2"], running.logs.join(""));
  assert.match(running.logs.join(""), /the database's answer belongs to another request: a pooler or proxy/);
});

test("a pooler that mixes up answers never shows one key as another", async (t) => {
  const url = await newDatabase();
  const proxy = await MixingProxy.start(t, url);
  const store = await openStore(proxy.url, { poolMax: 8 });
  const keys = Array.from({ length: 20 }, (_, i) => keyRecord(`key${i}`));
  for (const key of keys) await store.addKey(key);
  const findAll = () =>
    Promise.all(
      [...keys, keyRecord("nobody")].flatMap(({ id, hash }) =>
        [
          store.findKey(hash).then((key) => key?.id ?? "nobody"),
          store.readKey(id).then((key) => key?.id ?? "nobody"),
        ].map((asked) =>
          asked.then(
            (found) => (found === id ? "right" : "WRONG"),
            ({ code }) => code,
          ),
        ),
      ),
    );
  for (let i = 0; i < 3; i++) assert.deepEqual(new Set(await findAll()), new Set(["right"]));
  proxy.mixing = true;
  const answers = new Set<string>();
  for (; proxy.swapped < 10; await setTimeout(50)) {
    for (const answer of (await Promise.all([findAll(), findAll()])).flat()) answers.add(answer);
  }
  assert.deepEqual(
    [...answers].filter((answer) => answer !== "right" && answer !== "store_unavailable"),
    [],
  );
  await store.close();
});
