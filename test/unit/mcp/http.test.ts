/** /mcp without a network: what a client is told, what it can reach, and how long its memory is watched. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { McpHttp } from "../../../src/mcp/http.ts";
import { settled } from "../blockwork/fake-workers.ts";
import { ACCOUNT, memoryServices } from "../memory/memory-services.ts";

const CALLER = { account: ACCOUNT, keyId: "k", tier: "unlimited", limit: null, expiresAtMs: null } as const;
const USERS = ["ada", "eve"] as const;

async function setUp(context: TestContext) {
  const { services, store, write } = await memoryServices(context);
  for (const user of USERS) await write(user, `the name of ${user}`);
  const isLive = context.mock.fn(async () => true);
  const mcp = new McpHttp({ memory: services, version: "1.0.0", isLive });
  const ended = new AbortController();
  const visit = (userId: string | undefined, method: string, session: string | undefined, body: unknown) =>
    mcp.answer({
      caller: CALLER,
      userId,
      request: {
        method,
        url: "/mcp",
        headers: new Headers({
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": "2025-06-18",
          ...(session === undefined ? {} : { "mcp-session-id": session }),
        }),
      },
      body,
      ended: ended.signal,
      failureOf: (error) => error as Error,
    });
  /** Bound to a user, unless there is none. */
  const ask = (userId: string | undefined, method: string, params: object, session?: string) =>
    visit(userId, "POST", session, { jsonrpc: "2.0", id: 1, method, params });
  const openStream = (session: string) => visit(undefined, "GET", session, undefined);
  /** A new session. */
  const initialize = async () => {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    return (await ask("ada", "initialize", params)).headers.get("mcp-session-id")!;
  };
  return { store, ask, initialize, openStream, ended, isLive };
}

/** Timers that come round when told to. */
function timersByHand(context: TestContext): () => Promise<void> {
  const rounds = new Map<object, () => void>();
  context.mock.method(globalThis, "setInterval", (run: () => void) => {
    const timer = { unref: () => timer };
    rounds.set(timer, run);
    return timer;
  });
  context.mock.method(globalThis, "clearInterval", (timer: object) => void rounds.delete(timer));
  return async () => {
    for (const run of rounds.values()) run();
    await settled();
  };
}

test("a memory is watched as long as a client listens to it, and a bound client listens to its own alone", async (context) => {
  const { store, ask, ended } = await setUp(context);
  const reads = context.mock.method(store, "readUser");
  const usersRead = () => reads.mock.calls.map((call) => call.arguments[1]);
  const comeRound = timersByHand(context);
  const resourceSubscriptions = USERS.map((user) => `sideband://memory/${user}`);
  await ask("ada", "subscriptions/listen", { notifications: { resourceSubscriptions } });
  await settled();
  await comeRound();
  assert.deepEqual(usersRead(), ["ada", "ada"]);
  ended.abort();
  await comeRound();
  assert.deepEqual(usersRead(), ["ada", "ada"]);
});

test("what a session has subscribed to is watched while its stream is open, and a bound client's is its own", async (context) => {
  const { store, ask, initialize, openStream, ended } = await setUp(context);
  const reads = context.mock.method(store, "readUser");
  const comeRound = timersByHand(context);
  const usersRead = async () => {
    await settled();
    reads.mock.resetCalls();
    await comeRound();
    return reads.mock.calls.map((call) => call.arguments[1]);
  };
  const session = await initialize();
  const each = async (method: string) => {
    for (const user of USERS)
      await (await ask("ada", method, { uri: `sideband://memory/${user}` }, session)).text();
  };
  await each("resources/subscribe");
  assert.deepEqual(await usersRead(), []);
  await openStream(session);
  assert.deepEqual(await usersRead(), ["ada"]);
  await each("resources/unsubscribe");
  assert.deepEqual(await usersRead(), []);
  await each("resources/subscribe");
  // A stream in the place of the first.
  await openStream(session);
  assert.deepEqual(await usersRead(), ["ada"]);
  ended.abort();
  assert.deepEqual(await usersRead(), []);
});

test("a visit is kept in mind until its answer has been sent or its client has gone", async (context) => {
  const comeRound = timersByHand(context);
  const { ask, ended, isLive } = await setUp(context);
  await ask("ada", "ping", {});
  await comeRound();
  assert.equal(isLive.mock.callCount(), 1);
  ended.abort();
  await comeRound();
  assert.equal(isLive.mock.callCount(), 1);
});

test("a store that does not answer ends no stream, and a key that has ended does", async (context) => {
  const comeRound = timersByHand(context);
  const { initialize, openStream, isLive } = await setUp(context);
  const { body } = await openStream(await initialize());
  let isEnded = false;
  const text = new Response(body).text().finally(() => {
    isEnded = true;
  });
  isLive.mock.mockImplementationOnce(() => Promise.reject(new Error("away")));
  await comeRound();
  assert.deepEqual([isLive.mock.callCount(), isEnded], [1, false]);
  isLive.mock.mockImplementation(async () => false);
  await comeRound();
  await text;
});

test("a client that is bound to a user reaches no other, by tool, resource or prompt", async (context) => {
  const { ask } = await setUp(context);
  const attempts = [
    ["tools/call", { name: "list", arguments: { user_id: "eve" } }],
    ["tools/call", { name: "recall", arguments: { user_id: "eve", label: "USER.name" } }],
    ["resources/read", { uri: "sideband://memory/eve" }],
    ["prompts/get", { name: "context", arguments: { user_id: "eve" } }],
  ] as const;
  for (const [method, params] of attempts) {
    assert.match(await (await ask(undefined, method, params)).text(), /the name of eve/);
    assert.doesNotMatch(await (await ask("ada", method, params)).text(), /the name of eve/);
  }
});

test("a tool that fails says so, with the code of its failure", async (context) => {
  const { ask } = await setUp(context);
  const text = await (
    await ask("ada", "tools/call", { name: "read_block", arguments: { block: "no block here" } })
  ).text();
  assert.match(text, /block_unreadable/);
  assert.match(text, /"isError":true/);
});
