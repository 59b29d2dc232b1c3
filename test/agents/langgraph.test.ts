/**
 * LangGraph's store: inside a compiled graph of the real package, compared case by case with LangGraph's own
 * InMemoryStore, and what it refuses. The tables of docs/agents/langgraph.md are what these tests saw.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, type TestContext, test } from "node:test";
import { HumanMessage } from "@langchain/core/messages";
import { InMemoryStore, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { SidebandStore } from "../../src/agents/langgraph.ts";
import { label as asLabel, Sideband } from "../../src/sdk/index.ts";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { type CaseLabels, casesWith, OWN_LABELS, STANDARD_LABELS } from "./langgraph-cases.ts";

async function memoryFor(t: TestContext): Promise<Sideband> {
  const running = endAfter(t, await startRunning());
  return new Sideband({ baseUrl: running.url, apiKey: running.key });
}

/** What is not about time is not left to it: on a busy machine an answer may take a while. */
const timeoutMs = 20_000;
const PAGE = readFileSync(new URL("../../docs/agents/langgraph.md", import.meta.url), "utf8");

/** Without what may differ: times, undefined fields, and the name of the case's user. */
function plain(answer: unknown, user: string): unknown {
  const text = JSON.stringify(answer ?? null, (name, value) =>
    name === "createdAt" || name === "updatedAt" ? undefined : value,
  );
  return JSON.parse(text.replaceAll(user, "u"));
}

/** What became of each case on this store: as on LangGraph's own, different by intent, or refused. */
async function outcomes(store: BaseStore, labels: CaseLabels, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for (const [i, { name, run, ours: meant }] of casesWith(labels).entries()) {
    const user = `${prefix}-${String(i).padStart(2, "0")}`;
    const theirs = plain(await run(new InMemoryStore(), user), user);
    const answer = await run(store, user).then(
      (result) => plain(result, user),
      (error: { name: string }) => {
        assert.equal(error.name, "TypeError", `${name}: ${error}`);
        return "refused";
      },
    );
    if (answer === "refused") found.push("refused");
    else {
      assert.deepEqual(answer, meant ?? theirs, name);
      found.push(meant === undefined ? "same" : "differs");
    }
    if (meant !== undefined) assert.notDeepEqual(theirs, meant, `${name}: no longer differs`);
  }
  return found;
}

function checkTable(lines: readonly string[]): void {
  const table = lines.join("\n");
  assert.ok(PAGE.includes(`\n${table}\n`), `docs/agents/langgraph.md should have this table:\n${table}`);
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

  test("the store answers as LangGraph's own does in 38 cases but for three, with labels of one's own too", async (t) => {
    const memory = await memoryFor(t);
    const store = new SidebandStore({ memory, timeoutMs });
    const columns = [
      await outcomes(store, STANDARD_LABELS, "standard"),
      await outcomes(store, OWN_LABELS, "made"),
    ];
    for (const label of Object.values(OWN_LABELS))
      await memory.addLabel(label, { description: "In a test." });
    columns.push(await outcomes(store, OWN_LABELS, "added"));
    const cases = casesWith(STANDARD_LABELS);
    assert.equal(cases.length, 38);
    const counts = columns.map((column) => `${column.filter((found) => found === "same").length} of 38`);
    for (const column of columns) assert.deepEqual(column, columns[0]);
    checkTable([
      "| case | one of the 40 labels | own label, made by the put | own label, added |",
      "|---|---|---|---|",
      ...cases.map(({ name, why }, i) => {
        const found = columns.map((column) => column[i]).join(" | ");
        return `| ${name}${why === undefined ? "" : ` (${why})`} | ${found} |`;
      }),
      `| **same** | ${counts.join(" | ")} |`,
    ]);
    assert.ok((await store.get(["standard-01", "USER"], "name"))?.updatedAt instanceof Date);
  });

  test("what BaseStore promises and a label cannot hold is refused at the call, with a sentence, and nothing is sent", async (t) => {
    const sent = t.mock.fn(async () => assert.fail("something was sent"));
    const store = new SidebandStore({ memory: new Sideband({ fetch: sent }) });
    const value = { value: "x" };
    const rows: string[] = [];
    for (const [call, run] of [
      ['`put(["ada"], "name", …)`', () => store.put(["ada"], "name", value)],
      ['`put(["ada", "USER", "pets"], "cat", …)`', () => store.put(["ada", "USER", "pets"], "cat", value)],
      [
        '`put(["ada", "memories"], "3f2a-9c81", …)`',
        () => store.put(["ada", "memories"], "3f2a-9c81", value),
      ],
      ['`delete(["ada", "memories"], "3f2a-9c81")`', () => store.delete(["ada", "memories"], "3f2a-9c81")],
      [
        '`put(…, { value: "Ada", age: 36 })`',
        () => store.put(["u", "USER"], "name", { value: "Ada", age: 36 }),
      ],
      ["`put(…, { likes: [] })`", () => store.put(["u", "USER"], "name", { likes: [] })],
      ['`put(…, ["value"])`, an index', () => store.put(["u", "USER"], "name", value, ["value"])],
      ['`search(…, { query: "pets" })`', () => store.search(["u"], { query: "pets" })],
      ["`search([])`, of all users", () => store.search([])],
      ["`listNamespaces({})`, of all users", () => store.listNamespaces({})],
    ] as const) {
      const error = await run().then(
        () => assert.fail(`${call} was not refused`),
        (caught: Error) => caught,
      );
      assert.equal(error.name, "TypeError");
      rows.push(`| ${call} | ${error.message} |`);
    }
    assert.equal(sent.mock.callCount(), 0);
    checkTable(["| call | what it throws |", "|---|---|", ...rows]);
  });

  test("what cannot be a fact is refused, whole, and no field is lost silently", async (t) => {
    const store = new SidebandStore({ memory: await memoryFor(t), timeoutMs });
    await assert.rejects(store.put(["u", "USER"], "name", { value: "password=hunter2" }), {
      code: "secret_refused",
    });
    const both = Object.entries({ name: "x", shoe_size: "4\n2" }).map(([key, value]) => ({
      namespace: ["u", "USER"],
      key,
      value: { value },
    }));
    await assert.rejects(store.batch(both), { code: "invalid_value" });
    assert.deepEqual(await store.search(["u"]), []);
    await store.put(["u", "USER"], "name", { value: "Ada <private>King</private>" }, false);
    assert.equal((await store.get(["u", "USER"], "name"))?.value.value, "Ada");
  });
});

test("a put with a life in minutes is forgotten at its end, and what would be lost is refused", async (t) => {
  const memory = await memoryFor(t);
  const store = new SidebandStore({ memory, timeoutMs });
  await store.put(["ada", "LANG"], "tone", { value: "formal" }, undefined, { ttl: 90 });
  await store.batch([{ namespace: ["ada", "LANG"], key: "list", value: { value: "de" }, ttl: 0.5 } as never]);
  const { facts } = await memory.facts("ada");
  const lives = facts.map(({ expires_at, updated_at }) => Date.parse(expires_at!) - Date.parse(updated_at));
  assert.deepEqual(lives, [30_000, 90 * 60_000]);
  const put = { namespace: ["ada", "LANG"], key: "tone", value: { value: "x" } };
  const inValue = (ttl: unknown) => ({ value: { value: "x", ttl } });
  for (const more of [
    ...[{ ttl: "5" }, { ttl: 0 }, { ttl: Number.POSITIVE_INFINITY }, { ttlMinutes: 5 }],
    ...[{ index: { ttl: 5 } }, inValue("5"), inValue(null)],
  ])
    await assert.rejects(store.batch([{ ...put, ...more } as never]), TypeError, JSON.stringify(more));
  const [namespace, key] = [["ada", "LANG"], "tone"];
  const refresh = { refreshTtl: true } as never;
  await assert.rejects(
    store.put(namespace, key, { value: "x" }, { ttl: 5 } as never),
    /a life comes after it/,
  );
  await assert.rejects(store.get(namespace, key, refresh), /a get has no refreshTtl: it would be lost/);
  await assert.rejects(store.search(["ada"], refresh), /a search has no refreshTtl: it would be lost/);
  await assert.rejects(store.batch([{ namespace, key, ...(refresh as object) }]), TypeError);
  assert.throws(() => new SidebandStore({ memory, ttl: { defaultTtl: 5 } } as never), /no option ttl here/);
  assert.equal((await memory.decode("ada", asLabel("LANG.tone"))).value, "formal");
});

test("in a node LangGraph leaves out all of a put but its value, and a life in the value holds there", async (t) => {
  const memory = await memoryFor(t);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("work", async (_state, { store }) => {
      const put = store!.put.bind(store) as (...given: unknown[]) => Promise<void>;
      await put(["ada", "TASK"], "next", { value: "call back", ttl: 90 });
      await put(["ada", "TASK"], "current", { value: "wait" }, undefined, { ttl: 90 });
      const item = await store!.get(["ada", "TASK"], "next");
      return { messages: [new HumanMessage(JSON.stringify(item?.value))] };
    })
    .addEdge(START, "work")
    .compile({ store: new SidebandStore({ memory, timeoutMs }) });
  const { messages } = await graph.invoke({ messages: [new HumanMessage("hello")] });
  assert.equal(messages.at(-1)?.content, '{"value":"call back"}');
  const { facts } = await memory.facts("ada");
  const lifeOf = (label: string) => {
    const { expires_at: end, updated_at: at } = facts.find((fact) => fact.label === label)!;
    return end === undefined ? "no end" : Date.parse(end) - Date.parse(at);
  };
  assert.deepEqual([lifeOf("TASK.next"), lifeOf("TASK.current")], [90 * 60_000, "no end"]);
});
