/** Writes and walks of the PostgreSQL store at their edges: small groups, full pages, lost answers, a quick disk. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import postgres from "postgres";
import type { Failure } from "../../../src/base/errors.ts";
import { NOW, write } from "../../conformance/store-under-test.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { newDatabase, openStore } from "../../postgres/server.ts";

/** Passes everything on to the database of `url`, until it is told to cut each connection at the next answer. */
async function cuttingProxy(context: TestContext, url: string) {
  const state = { url: "", cutting: false };
  const { port } = new URL(url);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(Number(port), "127.0.0.1");
    for (const socket of [client, server]) sockets.add(socket.on("error", () => {}));
    client.pipe(server);
    // What was sent before a cut is still carried out.
    client.once("close", () => state.cutting || server.destroy());
    server.once("close", () => client.destroy());
    server.on("data", (bytes) => {
      if (state.cutting) client.destroy();
      else client.write(bytes);
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  state.url = url.replace(`:${port}/`, `:${(proxy.address() as AddressInfo).port}/`);
  return state;
}

test("postgres: a write that is cut off before its commit was not stored", async (context) => {
  const url = await newDatabase();
  const proxy = await cuttingProxy(context, url);
  const store = await openStore(proxy.url);
  await store.write(write("ada", [[0, "connected"]]));
  proxy.cutting = true;
  await assert.rejects(store.write(write("ada", [[1, "not stored"]])), { code: "store_unavailable" });
  proxy.cutting = false;
  const other = await openStore(url);
  assert.equal(await other.readFact(viewOf("ada"), "USER.project"), undefined);
  await Promise.all([store.close(), other.close()]);
});

test("postgres: a write whose answer is lost has an unknown outcome: it may be stored", async (context) => {
  const url = await newDatabase();
  const proxy = await cuttingProxy(context, url);
  const store = await openStore(proxy.url);
  await store.write(write("ada", [[0, "connected"]]));
  // Facts can be read, and cannot be stored before the lock goes.
  const sql = postgres(url, { max: 1 });
  await sql`BEGIN`;
  await sql`LOCK TABLE sideband.facts IN SHARE MODE`;
  const refused = assert.rejects(store.write(write("ada", [[1, "stored"]])), { code: "outcome_unknown" });
  const isWaiting = async () => {
    // Of this database alone: other tests wait for locks on the same server.
    const [{ count }] = await sql`
      SELECT count(*)::integer AS count FROM pg_locks
      WHERE NOT granted AND relation = 'sideband.facts'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return count > 0;
  };
  while (!(await isWaiting()));
  proxy.cutting = true;
  await sql`COMMIT`;
  await refused;
  proxy.cutting = false;
  // Waits for the end of the transaction that writes.
  await sql.begin((locking) => locking`LOCK TABLE sideband.facts IN SHARE MODE`);
  const other = await openStore(url);
  assert.equal((await other.readFact(viewOf("ada"), "USER.project"))?.value, "stored");
  await Promise.all([store.close(), other.close(), sql.end()]);
});

test("postgres: a queue that was full takes as many writes again when they are done", async () => {
  const store = await openStore(await newDatabase(), { queueMax: 2 });
  for (let round = 0; round < 3; round++)
    await Promise.all(["ada", "bob"].map((user) => store.write(write(user, [[round, "x"]]))));
  assert.equal((await store.readUser(viewOf("bob")))?.facts.length, 3);
  await store.close();
});

test("postgres: a change is on disk when it is answered, also where the database need not wait for its disk", async () => {
  const url = await newDatabase();
  const sql = postgres(url, { max: 1 });
  const [{ name }] = await sql`SELECT current_database() AS name`;
  await sql`ALTER DATABASE ${sql(name)} SET synchronous_commit = off`;
  const store = await openStore(url);
  const changes = [
    () =>
      store.write(
        write("ada", [
          [0, "Ada"],
          [1, "London"],
        ]),
      ),
    () => store.write({ ...write("ada", []), changes: changesOf([[0, null]]) }),
    () => store.forgetUser("acme", "ada"),
  ];
  for (const change of [...changes, ...changes]) {
    const [{ begun }] = await sql`SELECT pg_current_wal_insert_lsn() AS begun`;
    await change();
    const [{ flushed }] = await sql`SELECT pg_current_wal_flush_lsn() > ${begun}::pg_lsn AS flushed`;
    assert.ok(flushed);
  }
  await Promise.all([store.close(), sql.end()]);
});

test("postgres: a walk goes on after a full page, in its slot and in the next ones", async () => {
  const url = await newDatabase();
  const store = await openStore(url);
  const sql = postgres(url, { max: 1 });
  // In neighbouring slots, so that one query meets more than a page of them, and the next page smaller ids again.
  await sql`
    INSERT INTO sideband.users (slot, revision, account, user_id)
    SELECT 5 + i % 3 / 2, 1, account, 'user-' || i
    FROM generate_series(1, 2500) AS i, unnest(ARRAY['acme', 'globex']) AS account`;
  for (const [account, count] of [
    ["acme", 2500],
    [undefined, 5000],
  ] as const) {
    const walked = new Set<string>();
    for await (const user of store.walkUsers(account)) walked.add(`${user.account} ${user.userId}`);
    assert.equal(walked.size, count);
  }
  await Promise.all([store.close(), sql.end()]);
});

test("postgres: after a sweep no table holds what has expired: no request, no answer, no event, no fact", async () => {
  const url = await newDatabase();
  const store = await openStore(url);
  const sql = postgres(url, { max: 1 });
  const DAY_MS = 86_400_000;
  await store.followEvents("acme", NOW + DAY_MS);
  for (const key of ["first", "second"]) {
    const changes = changesOf([[0, key]]);
    const ending = { place: "loom", label: "USER.project", value: key, expiresAtMs: NOW + DAY_MS };
    const expiresAtMs = NOW + (key === "first" ? DAY_MS : 3 * DAY_MS);
    const idempotency = { keyId: "k", key, fingerprint: Buffer.alloc(32), expiresAtMs, answer: key };
    await store.write({ ...write("ada", []), changes: [...changes, ending], idempotency });
  }
  const rowsOf = async () => {
    const counts: Record<string, number> = {};
    for (const name of ["replays", "answers", "events", "event_logs", "facts", "history"])
      counts[name] = Number((await sql`SELECT count(*) FROM ${sql(`sideband.${name}`)}`)[0].count);
    return counts;
  };
  const before = { replays: 2, answers: 2, events: 4, event_logs: 1, facts: 2, history: 2 };
  assert.deepEqual(await rowsOf(), before);
  await store.sweep(NOW + DAY_MS - 1);
  assert.deepEqual(await rowsOf(), { ...before, events: 0 });
  await store.sweep(NOW + DAY_MS);
  assert.deepEqual(await rowsOf(), {
    replays: 1,
    answers: 1,
    events: 0,
    event_logs: 0,
    facts: 1,
    history: 3,
  });
  await store.sweep(NOW + 3 * DAY_MS);
  assert.deepEqual(await rowsOf(), {
    replays: 0,
    answers: 0,
    events: 0,
    event_logs: 0,
    facts: 1,
    history: 3,
  });
  await Promise.all([store.close(), sql.end()]);
});

test("postgres: an error names its query, and a connection lost within a transaction ends no process", async (context) => {
  const url = await newDatabase();
  const proxy = await cuttingProxy(context, url);
  const store = await openStore(proxy.url);
  const sql = postgres(url, { max: 2 });
  context.after(() => Promise.all([sql.end(), store.close()]));
  // An error of the server that no caller may see: the place is in its stack.
  await assert.rejects(
    store.listUsers("no\0account", { prefix: "", after: "", limit: 1 }),
    ({ stack }: Error) => /store\/postgres\/queries\/fact-queries\.ts:\d+/.test(stack ?? ""),
  );
  const waiting = (what: string) =>
    sql.unsafe(
      `SELECT ${what} FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  const endings = [
    ["pg_cancel_backend(pid)", "57014", /^store\/postgres\/queries\/key-queries\.ts:\d+$/],
    ["pid", "CONNECTION_CLOSED", /^store\/postgres\/account-tables\.ts:\d+$/],
  ] as const;
  for (const [end, code, place] of endings) {
    let changing: Promise<unknown> | undefined;
    await sql.begin(async (tx) => {
      await tx`LOCK TABLE sideband.api_keys IN ACCESS EXCLUSIVE MODE`;
      changing = store.changeKey("none", { revokedAtMs: 1 }).catch((error: unknown) => error);
      for (const endMs = performance.now() + 30_000; (await waiting(end)).length === 0; )
        assert.ok(performance.now() < endMs, "the change waits for the lock");
      proxy.cutting = end === "pid";
    });
    const { extra } = (await changing) as Failure;
    assert.equal((extra.cause as { code?: string }).code, code);
    assert.match(extra.place ?? "", place);
  }
});
