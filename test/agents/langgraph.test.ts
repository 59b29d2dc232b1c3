/**
 * LangGraph's store: inside a compiled graph of the real package, and compared case by case with LangGraph's own
 * InMemoryStore. A case that is meant to differ says why.
 */

import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { HumanMessage } from "@langchain/core/messages";
import { InMemoryStore, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { BaseStore, Operation } from "@langchain/langgraph-checkpoint";
import { SidebandStore } from "../../src/agents/langgraph.ts";
import { Sideband } from "../../src/sdk/index.ts";
import { startRunning } from "../http/running-service.ts";

async function memoryFor(t: TestContext): Promise<Sideband> {
  const running = await startRunning();
  t.after(() => running.end());
  return new Sideband({ baseUrl: running.url, apiKey: running.key });
}

/** What is not about time is not left to it: on a busy machine an answer may take a while. */
const timeoutMs = 20_000;

interface Case {
  readonly name: string;
  /** @param user one that no other case uses */
  run(store: BaseStore, user: string): Promise<unknown>;
  /** What ours answers, where it differs from LangGraph's by intent. */
  readonly ours?: unknown;
}

const put = (user: string, group: string, key: string, value: string | null): Operation => ({
  namespace: [user, group],
  key,
  value: value === null ? null : { value },
});
const get = (user: string, group: string, key: string): Operation => ({ namespace: [user, group], key });

/** Five facts in three groups, written one after the other. */
async function filled(store: BaseStore, user: string): Promise<BaseStore> {
  await store.put([user, "TASK"], "owner", { value: "Ada" });
  await store.put([user, "USER"], "name", { value: "Ada" });
  await store.put([user, "TASK"], "current", { value: "weave" });
  await store.put([user, "PROJ"], "token_budget", { value: "4000" });
  await store.put([user, "USER"], "location", { value: "London" });
  return store;
}

const searched = (options: object, ...rest: string[]): Case["run"] =>
  async function run(store, user) {
    return (await filled(store, user)).search([user, ...rest], options);
  };
const listed = (optionsOf: (user: string) => object): Case["run"] =>
  async function run(store, user) {
    return (await filled(store, user)).listNamespaces(optionsOf(user));
  };

const CASES: readonly Case[] = [
  { name: "get of nothing", run: (store, user) => store.get([user, "USER"], "name") },
  {
    name: "put, then get",
    run: async (store, user) => (await filled(store, user)).get([user, "USER"], "name"),
  },
  {
    name: "get of another group",
    run: async (store, user) => (await filled(store, user)).get([user, "PREF"], "name"),
  },
  {
    name: "get of another user",
    run: async (store, user) => (await filled(store, user)).get([`${user}2`, "USER"], "name"),
  },
  { name: "get of a longer namespace", run: (store, user) => store.get([user, "USER", "x"], "name") },
  {
    name: "put over a fact",
    run: async (store, user) => {
      await (await filled(store, user)).put([user, "USER"], "name", { value: "Grace" });
      return store.get([user, "USER"], "name");
    },
  },
  {
    name: "delete",
    run: async (store, user) => {
      await (await filled(store, user)).delete([user, "USER"], "name");
      return store.get([user, "USER"], "name");
    },
  },
  { name: "delete of nothing", run: (store, user) => store.delete([user, "USER"], "name") },
  { name: "put answers nothing", run: (store, user) => store.put([user, "USER"], "name", { value: "Ada" }) },
  {
    name: "batch of puts answers null for each",
    run: (store, user) => store.batch([put(user, "USER", "name", "Ada"), put(user, "USER", "os", "Debian")]),
  },
  {
    name: "batch: the last put of a key counts",
    run: async (store, user) => {
      await store.batch([put(user, "USER", "name", "first"), put(user, "USER", "name", "last")]);
      return store.get([user, "USER"], "name");
    },
  },
  {
    name: "batch: put over a fact, then get",
    run: async (store, user) =>
      (await filled(store, user)).batch([put(user, "USER", "name", "new"), get(user, "USER", "name")]),
  },
  {
    name: "batch: put of a new fact, then get (theirs does not see a put of the same batch)",
    run: (store, user) => store.batch([put(user, "USER", "os", "Debian"), get(user, "USER", "os")]),
    ours: [null, { value: { value: "Debian" }, key: "os", namespace: ["u", "USER"] }],
  },
  {
    name: "batch: get, then put over the fact (theirs changes the item that it has handed out)",
    run: async (store, user) =>
      (await filled(store, user)).batch([get(user, "USER", "name"), put(user, "USER", "name", "new")]),
    ours: [{ value: { value: "Ada" }, key: "name", namespace: ["u", "USER"] }, null],
  },
  {
    name: "batch: get, then put of a new fact",
    run: (store, user) => store.batch([get(user, "USER", "os"), put(user, "USER", "os", "Debian")]),
  },
  {
    name: "batch: put of null forgets",
    run: async (store, user) => {
      await (await filled(store, user)).batch([put(user, "USER", "name", null)]);
      return store.get([user, "USER"], "name");
    },
  },
  {
    name: "batch: two users",
    run: async (store, user) => {
      await store.batch([put(user, "USER", "name", "Ada"), put(`${user}b`, "USER", "name", "Grace")]);
      return store.batch([get(user, "USER", "name"), get(`${user}b`, "USER", "name")]);
    },
  },
  { name: "search of nothing", run: (store, user) => store.search([user]) },
  { name: "search: order", run: searched({}) },
  {
    name: "search: order after a put over the last fact",
    run: async (store, user) => {
      await (await filled(store, user)).put([user, "USER"], "location", { value: "Paris" });
      return store.search([user]);
    },
  },
  { name: "search: one group", run: searched({}, "TASK") },
  { name: "search: a group without facts", run: searched({}, "PREF") },
  { name: "search: limit", run: searched({ limit: 2 }) },
  { name: "search: limit and offset", run: searched({ limit: 2, offset: 1 }) },
  { name: "search: offset beyond the end", run: searched({ offset: 9 }) },
  { name: "search: filter by value", run: searched({ filter: { value: "Ada" } }) },
  { name: "search: $eq", run: searched({ filter: { value: { $eq: "weave" } } }) },
  { name: "search: $ne", run: searched({ filter: { value: { $ne: "Ada" } } }) },
  { name: "search: $gt and $lte", run: searched({ filter: { value: { $gt: 3000, $lte: 4000 } } }) },
  { name: "search: $gte and $lt", run: searched({ filter: { value: { $gte: 4000, $lt: 4000 } } }) },
  { name: "search: $in", run: searched({ filter: { value: { $in: ["London", "weave"] } } }) },
  { name: "search: $nin", run: searched({ filter: { value: { $nin: ["London", "weave"] } } }) },
  { name: "search: an operator that is not known", run: searched({ filter: { value: { $regex: "A" } } }) },
  { name: "search: a field that facts do not have", run: searched({ filter: { colour: "red" } }) },
  { name: "search: a query without an index", run: searched({ query: "Ada" }) },
  { name: "namespaces: of a user", run: listed((user) => ({ prefix: [user] })) },
  {
    name: "namespaces: suffix and depth",
    run: listed((user) => ({ prefix: [user], suffix: ["TASK"], maxDepth: 1 })),
  },
  {
    name: "namespaces: limit and offset",
    run: listed((user) => ({ prefix: [user, "*"], limit: 1, offset: 1 })),
  },
];

/** Without what may differ: times, undefined fields, and the name of the case's user. */
function plain(answer: unknown, user: string): unknown {
  const text = JSON.stringify(answer ?? null, (name, value) =>
    name === "createdAt" || name === "updatedAt" ? undefined : value,
  );
  return JSON.parse(text.replaceAll(user, "u"));
}

suite("LangGraph", { concurrency: false }, () => {
  test("a graph keeps facts through the store, and reads them in another run", async (t) => {
    const memory = await memoryFor(t);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("work", async (state, { store }) => {
        const before = await store?.get(["ada", "TASK"], "current");
        await store?.put(["ada", "TASK"], "current", { value: String(state.messages.at(-1)?.content) });
        return { messages: [new HumanMessage(`before: ${before?.value.value ?? "nothing"}`)] };
      })
      .addEdge(START, "work")
      .compile({ store: new SidebandStore({ memory, timeoutMs }) });
    const last = async (text: string) =>
      (await graph.invoke({ messages: [new HumanMessage(text)] })).messages.at(-1)?.content;
    assert.equal(await last("write the adapter"), "before: nothing");
    assert.equal(await last("test the adapter"), "before: write the adapter");
    assert.equal((await memory.decode("ada", "TASK.current")).value, "test the adapter");
  });

  test("the store answers as LangGraph's own does, in 38 cases", async (t) => {
    assert.equal(CASES.length, 38);
    const ours = new SidebandStore({ memory: await memoryFor(t), timeoutMs });
    for (const [i, { name, run, ours: meant }] of CASES.entries()) {
      const user = `user-${String(i).padStart(2, "0")}`;
      const theirs = plain(await run(new InMemoryStore(), user), user);
      const answer = plain(await run(ours, user), user);
      assert.deepEqual(answer, meant ?? theirs, name);
      if (meant !== undefined) assert.notDeepEqual(theirs, meant, `${name}: no longer differs`);
    }
    await ours.put(["ada", "PREF"], "tone", { value: "dry" });
    assert.ok((await ours.get(["ada", "PREF"], "tone"))?.updatedAt instanceof Date);
  });

  test("what cannot be a fact is refused, whole, and no field is lost silently", async (t) => {
    const memory = await memoryFor(t);
    const store = new SidebandStore({ memory, timeoutMs });
    await assert.rejects(store.put(["u", "USER"], "name", { text: "Ada" }), /value: "text"/);
    await assert.rejects(store.put(["u", "USER"], "name", { value: "Ada", age: 36 }), /no other field/);
    await assert.rejects(store.put(["u"], "name", { value: "Ada" }), /\[user, group\]/);
    await assert.rejects(store.search([]), /begins with the user/);
    await assert.rejects(store.listNamespaces({}), /prefix: \[user\]/);
    await assert.rejects(store.put(["u", "USER"], "name", { value: "password=hunter2" }), {
      code: "secret_refused",
    });
    await assert.rejects(store.batch(["name", "shoe_size"].map((key) => put("u", "USER", key, "x"))), {
      code: "unknown_label",
    });
    assert.deepEqual(await store.search(["u"]), []);
    await store.put(["u", "USER"], "name", { value: "Ada <private>King</private>" });
    assert.equal((await store.get(["u", "USER"], "name"))?.value.value, "Ada");
  });
});
