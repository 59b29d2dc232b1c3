/** Visits to /mcp without a network: the servers and the turns that they share, and the sessions that they do not. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { McpServer } from "@modelcontextprotocol/server";
import { fieldsOf } from "../../fixtures/fields.ts";
import { ACCOUNT, caller } from "../memory/memory-services.ts";
import { answerOf, setUp, USERS } from "./visitor.ts";

test("a server that has answered a visit answers the next, for whomever it is", async (context) => {
  const { place, ask } = await setUp(context, caller);
  const made = context.mock.method(McpServer.prototype, "registerPrompt");
  /** A visit ends when its answer has been sent. */
  const visit = async (user: string | undefined, method: string, params: object) => {
    const ended = new AbortController();
    Object.assign(place, { ended: ended.signal });
    const answer = await answerOf(await ask(user, method, params));
    ended.abort();
    return answer;
  };
  const recall = async (user: string | undefined, named = {}) =>
    JSON.stringify(await visit(user, "tools/call", { name: "recall", arguments: named }));
  for (let i = 0; i < 10; i++) {
    for (const user of USERS) {
      const other = USERS[1 - USERS.indexOf(user)];
      const text = await recall(user);
      assert.match(text, new RegExp(`the name of ${user}`));
      assert.doesNotMatch(text, new RegExp(`the name of ${other}`));
      const uri = `sideband://memory/${user}`;
      const read = await visit(user, "resources/read", { uri });
      assert.match(read.result.contents[0].text, new RegExp(`the name of ${user}`));
      assert.match((await visit(other, "resources/read", { uri })).error.message, /not found/);
      const { resources } = (await visit(user, "resources/list", {})).result;
      assert.deepEqual(fieldsOf(resources, "uri"), [uri]);
      const { resourceTemplates } = (await visit(user, "resources/templates/list", {})).result;
      assert.deepEqual(resourceTemplates, []);
    }
  }
  assert.equal(made.mock.callCount(), 1);
  assert.match(await recall(undefined, { user_id: "eve" }), /the name of eve/);
  Object.assign(place, { caller: { ...caller, access: "read" } });
  assert.match(await recall(undefined, { user_id: "ada" }), /the name of ada/);
  assert.equal(made.mock.callCount(), 3);
});

test("a server whose visit was cut off is not used again", async (context) => {
  const { place, ask, ended, services } = await setUp(context, caller);
  const made = context.mock.method(McpServer.prototype, "registerPrompt");
  // The call to the memory waits: the answer has begun, and is not complete.
  const next = context.mock.method(services.turns, "next");
  next.mock.mockImplementationOnce(() => new Promise(() => {}), 1);
  await ask("ada", "tools/call", { name: "recall", arguments: {} });
  assert.equal(next.mock.callCount(), 2);
  ended.abort();
  Object.assign(place, { ended: new AbortController().signal });
  const answer = await ask("eve", "tools/call", { name: "recall", arguments: {} });
  assert.match(await answer.text(), /the name of eve/);
  assert.equal(made.mock.callCount(), 2);
});

test("a client with one call waits for a few of another account's fifty, not for all", async (context) => {
  const { place, ask } = await setUp(context, caller);
  await ask("ada", "ping", {});
  const order: string[] = [];
  const call = (account: string) => {
    Object.assign(place, { caller: { ...caller, account } });
    const answer = ask("ada", "ping", {});
    return answer.then((response) => response.text()).then(() => order.push(account));
  };
  const busy = Array.from({ length: 50 }, () => call(ACCOUNT));
  await call("other");
  assert.ok(order.length <= 10, `${order.length} calls were answered by then`);
  await Promise.all(busy);
});

test("a token that reads opens as many sessions as it likes, and those of others go on", async (context) => {
  const { place, initialize, openStream } = await setUp(context, caller);
  const others = [await initialize()];
  Object.assign(place, { caller: { ...caller, user: "eve" } });
  others.push(await initialize());
  Object.assign(place, { caller: { ...caller, user: "ada", access: "read" } });
  const first = await initialize();
  for (let i = 0; i < 1_024; i++) await initialize();
  assert.equal((await openStream(first)).status, 404);
  for (const [i, user] of [null, "eve"].entries()) {
    Object.assign(place, { caller: { ...caller, user } });
    assert.equal((await openStream(others[i])).status, 200);
  }
});

test("each of a hundred calls in one request waits for a turn of its own", async (context) => {
  const { visit, services } = await setUp(context, caller);
  const turns = context.mock.method(services.turns, "next");
  const params = { name: "recall", arguments: {} };
  const calls = Array.from({ length: 100 }, (_, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params,
  }));
  const text = await (await visit("ada", "POST", undefined, calls)).text();
  assert.equal([...text.matchAll(/^data: .*the name of ada/gm)].length, 100);
  assert.equal(turns.mock.callCount(), 1 + 100);
  assert.ok(turns.mock.calls.every(({ arguments: [account] }) => account === ACCOUNT));
});
