/**
 * The adapters inside the real packages, as far as they promise to run on Node 20: a model of the AI SDK (the oldest and
 * the newest version 6), a run of OpenAI Agents; LangGraph has a file of its own, and `npm run test:hosts` has the newer
 * ones. The models are scripted, the memory is a real service.
 */

import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  setTracingDisabled,
  Usage,
} from "@openai/agents";
import { generateText, stepCountIs, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as ai6 from "ai-6";
import { MockLanguageModelV3 as OldestModel } from "ai-6/test";
import { outageSection } from "../../src/agent-side/memory-section.ts";
import { sidebandTools as aiTools, sidebandMiddleware } from "../../src/agents/ai-sdk.ts";
import { SidebandStore } from "../../src/agents/langgraph.ts";
import {
  flushBefore,
  sidebandTools as openaiTools,
  sidebandInputFilter,
} from "../../src/agents/openai-agents.ts";
import { memorySection, Sideband } from "../../src/sdk/index.ts";
import { endAfter } from "../fixtures/ends.ts";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort, scriptedFetch, scriptedServer } from "../unit/sdk/scripted-server.ts";

async function memoryFor(t: TestContext): Promise<Sideband> {
  const running = endAfter(t, await startRunning());
  return new Sideband({ baseUrl: running.url, apiKey: running.key });
}

/** What is not about time is not left to it: on a busy machine the first block may take a while. */
const timeoutMs = 20_000;
const NO_LABELS = { body: { channels: [] } };
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const say = (text: string) => ({
  content: [{ type: "text" as const, text }],
  finishReason: { unified: "stop", raw: "stop" },
  usage,
  warnings: [],
});

suite("adapters", { concurrency: false }, () => {
  test("AI SDK 6: the facts are in the system prompt, the tools work, and a wrong call is told to the model", async (t) => {
    const memory = await memoryFor(t);
    const call = (toolName: string, input: object, id: string) => ({
      ...say(""),
      content: [{ type: "tool-call" as const, toolCallId: id, toolName, input: JSON.stringify(input) }],
      finishReason: { unified: "tool-calls", raw: "tool_calls" },
    });
    const prompts: { role: string; content: unknown }[][] = [];
    const script = [
      call("remember", { label: "PREF.tone", value: "dry" }, "1"),
      call("recall", { label: "PREF.tone" }, "2"),
      call("remember", { label: "PREF.tone", value: "two\nlines" }, "3"),
      say("done"),
    ];
    const mock = new MockLanguageModelV3({
      doGenerate: (async ({ prompt }: { prompt: never }) => {
        prompts.push(prompt);
        return script[prompts.length - 1];
      }) as never,
    });
    const userId = () => "ada";
    const model = wrapLanguageModel({
      model: mock,
      middleware: sidebandMiddleware({ memory, userId, timeoutMs, specificationVersion: "v3" }),
    });
    const { text } = await generateText({
      model,
      tools: await aiTools({ memory, userId, timeoutMs }),
      system: "You are terse.",
      prompt: "Hello",
      stopWhen: stepCountIs(5),
    });
    assert.equal(text, "done");
    assert.equal((await memory.decode("ada", "PREF.tone")).value, "dry");
    assert.equal(prompts[0][0].content, "You are terse.", "no facts, no section");
    const section = memorySection(await memory.context("ada"), "index");
    for (const prompt of prompts.slice(1)) assert.equal(prompt[0].content, `You are terse.\n\n${section}`);
    const results = JSON.stringify(prompts[3].filter(({ role }) => role === "tool"));
    assert.match(results, /"value":"dry"/);
    assert.match(results, /"written_by":"ai-sdk"/);
    assert.match(results, /invalid_value/);
  });

  test("the oldest AI SDK 6: the same middleware, and a prompt without a system message", async (t) => {
    const memory = await memoryFor(t);
    await memory.encode("ada", "USER.name", "Ada");
    let seen: { role: string; content: unknown }[] = [];
    const mock = new OldestModel({
      doGenerate: (async ({ prompt }: { prompt: never }) => {
        seen = prompt;
        return { ...say("hi"), finishReason: { unified: "stop", raw: "stop" } };
      }) as never,
    });
    const middleware = sidebandMiddleware({
      memory,
      userId: "ada",
      timeoutMs,
      specificationVersion: "v3",
      include: "index",
    });
    const model = ai6.wrapLanguageModel({ model: mock, middleware });
    await ai6.generateText({ model, prompt: "Hello" });
    assert.equal(seen[0].role, "system");
    assert.match(String(seen[0].content), /\nUSER\.name=Ada\n<\/sideband-memory>$/);
    assert.equal(seen[1].role, "user");
  });

  test("OpenAI Agents: the facts are in the instructions, the tools work, compaction flushes first", async (t) => {
    setTracingDisabled(true);
    const memory = await memoryFor(t);
    const requests: ModelRequest[] = [];
    const answers: ModelResponse["output"][] = [
      [
        {
          type: "function_call",
          callId: "1",
          name: "remember",
          arguments: JSON.stringify({ label: "USER.name", value: "Ada", add: null, ttl_s: null }),
          status: "completed",
        },
      ],
      [
        {
          type: "function_call",
          callId: "2",
          name: "recall",
          arguments: '{"label":null}',
          status: "completed",
        },
      ],
      [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "done" }],
        },
      ],
    ];
    const model: Model = {
      async getResponse(request) {
        requests.push(request);
        return { usage: new Usage(), output: answers[requests.length - 1] };
      },
      getStreamedResponse: () => {
        throw new Error("not used");
      },
    };
    const options = { memory, userId: "ada", timeoutMs };
    const agent = new Agent({
      name: "a",
      instructions: "You are terse.",
      model,
      tools: await openaiTools(options),
    });
    const runner = new Runner({ tracingDisabled: true });
    const result = await runner.run(agent, "Hello", { callModelInputFilter: sidebandInputFilter(options) });
    assert.equal(result.finalOutput, "done");
    assert.equal(requests[0].systemInstructions, "You are terse.");
    const section = memorySection(await memory.context("ada"), "index");
    assert.equal(requests[1].systemInstructions, `You are terse.\n\n${section}`);
    assert.match(JSON.stringify(requests[2].input), /USER\.name/);
    assert.deepEqual(fieldsOf(requests[0].tools, "name"), [
      "remember",
      "recall",
      "find",
      "forget",
      "history",
    ]);
    const withLabels = { ...options, addLabels: true } as const;
    assert.deepEqual(
      [
        (await openaiTools(withLabels))[4].name,
        (await aiTools(withLabels)).add_label.description.slice(0, 12),
      ],
      ["add_label", "Adds a label"],
    );
    assert.ok(!("add_label" in (await aiTools(options))));

    const flushed: string[] = [];
    const flush = memory.flush.bind(memory);
    memory.flush = (userId, callOptions) => {
      flushed.push(userId);
      return flush(userId, callOptions);
    };
    const withBlock = flushBefore({ ...options, include: "both" }, (items: number) => items > 10);
    assert.deepEqual(
      [await withBlock(5), flushed.length, await withBlock(11), flushed],
      [false, 0, true, ["ada"]],
    );
    // The facts in plain text are put in again: there is nothing to flush.
    assert.deepEqual([await flushBefore(options, () => true)({}), flushed.length], [true, 1]);
  });

  test("a run of ten steps waits three times for a service that hangs, and its writes are tried and told", async (t) => {
    t.mock.method(console, "error", () => {});
    const { fetch, methods } = scriptedFetch(() => "hang");
    const memory = new Sideband({ fetch, onWarning: () => {} });
    const options = { memory, userId: "ada", project: "loom-1", timeoutMs: 20 };
    const tools = await aiTools(options);
    methods.length = 0;
    const startMs = Date.now();
    t.mock.method(Date, "now", () => startMs);
    for (let step = 0; step < 10; step++)
      await sidebandMiddleware(options).transformParams({ params: { prompt: [] } });
    assert.equal(methods.length, 3);
    assert.match(String((await tools.recall.execute({})).error), /^timeout: /);
    assert.equal(methods.length, 3);
    assert.match(
      String((await tools.remember.execute({ label: "USER.name", value: "Ada" })).error),
      /^timeout: /,
    );
    assert.match(String((await tools.forget.execute({ label: "USER.name" })).error), /^timeout: /);
    assert.equal(methods.length, 5);
  });

  test("an abort ends a run's calls of its memory, and no time is waited out", async (t) => {
    const silent = await scriptedServer(t, ({ path }) => (path === "/channels" ? NO_LABELS : "hang"));
    const memory = new Sideband({ baseUrl: silent.url });
    const options = { memory, userId: "ada", timeoutMs: 60_000 };
    const params = { prompt: [{ role: "user", content: "Hello" }] };
    const tools = await aiTools(options);
    const openai = (await openaiTools(options))[0] as unknown as {
      invoke(context: unknown, input: string, details: object): Promise<string>;
    };
    const fact = { label: "USER.name", value: "Ada" };
    const model = wrapLanguageModel({
      model: new MockLanguageModelV3({ doGenerate: () => assert.fail("the model was called") }),
      middleware: sidebandMiddleware({ ...options, specificationVersion: "v3" }),
    });
    const run = async (signal: AbortSignal) => {
      await generateText({ model, prompt: "Hello", abortSignal: signal, maxRetries: 0 });
    };
    for (const call of [
      run,
      (abortSignal: AbortSignal) =>
        sidebandMiddleware(options).transformParams({ params: { ...params, abortSignal } }),
      (abortSignal: AbortSignal) => tools.remember.execute(fact, { abortSignal }),
      (abortSignal: AbortSignal) => tools.recall.execute({}, { abortSignal }),
      (signal: AbortSignal) => openai.invoke({}, JSON.stringify(fact), { signal }),
    ]) {
      const controller = new AbortController();
      const asked = silent.seen.length;
      const ended = assert.rejects(call(controller.signal), /enough/);
      while (silent.seen.length === asked) await new Promise((resolve) => setTimeout(resolve, 5));
      controller.abort(new Error("enough"));
      await ended;
    }
  });

  test("a program that names no user is told, by the prompt and by the tools", async (t) => {
    const { url } = await scriptedServer(t, () => NO_LABELS);
    const memory = new Sideband({ baseUrl: url });
    const wrong = { name: "TypeError", message: /^userId is a text/ };
    const none = { memory } as never;
    assert.throws(() => sidebandMiddleware(none), wrong);
    await assert.rejects(aiTools(none), wrong);
    const options = { memory, userId: (() => undefined) as never };
    await assert.rejects(sidebandMiddleware(options).transformParams({ params: { prompt: [] } }), wrong);
    await assert.rejects((await aiTools(options)).recall.execute({}), wrong);
  });

  test("with onOutage throw a run ends where its memory is away", async () => {
    const memory = new Sideband({ baseUrl: await closedPort(), retries: 0 });
    const options = { memory, userId: "ada", onOutage: "throw" } as const;
    const away = { code: "connection_failed" };
    await assert.rejects(sidebandMiddleware(options).transformParams({ params: { prompt: [] } }), away);
    const filterArgs = { modelData: { input: [], instructions: "i" } };
    await assert.rejects(async () => sidebandInputFilter(options)(filterArgs as never), away);
  });

  test("what goes into the prompt is the client's choice, unless the adapter has one", async (t) => {
    const { url, seen } = await scriptedServer(t, () => ({
      body: { fdm_block: "", plain_index: "", lossless: true, overflow: [] },
    }));
    const memory = new Sideband({ baseUrl: url, include: "both" });
    const prompts = [memory, new Sideband({ baseUrl: url })].map((client) => ({
      memory: client,
      userId: "ada",
    }));
    const groups = "-HEALTH";
    for (const options of [...prompts, { ...prompts[0], include: "index" as const, groups }]) {
      await sidebandMiddleware(options).transformParams({ params: { prompt: [] } });
      await flushBefore(options, () => true)({});
    }
    assert.deepEqual(
      seen.map(({ path, query }) => [path, query.include, query.groups].filter(Boolean).join(" ")),
      ["/context both", "/flush", "/context both", "/context index", "/context index -HEALTH"],
    );
  });

  test("in a project the prompt has the facts of both, and each fact goes where it belongs", async (t) => {
    const memory = await memoryFor(t);
    const options = { memory, userId: "ada", project: "loom-1", timeoutMs };
    const tools = await aiTools(options);
    await tools.remember.execute({ label: "USER.name", value: "Ada" });
    await tools.remember.execute({ label: "TASK.next", value: "weave" });
    await tools.remember.execute({ label: "PREF.tone", value: "dry", scope: "project" });
    assert.deepEqual(fieldsOf((await memory.facts("ada")).facts, "label"), ["USER.name"]);
    assert.deepEqual(rowsOf((await memory.facts("ada", { project: "loom-1" })).facts, "label", "place"), [
      ["USER.name", "person"],
      ["PREF.tone", "project"],
      ["TASK.next", "project"],
    ]);
    const filter = sidebandInputFilter({ ...options, include: "index" });
    const { instructions } = await filter({ modelData: { input: [], instructions: "i" } } as never);
    assert.match(String(instructions), /\nUSER\.name=Ada\nPREF\.tone=dry\nTASK\.next=weave\n/);
    const elsewhere = await memory.inject("", "ada", { project: "mill-2", include: "index" });
    assert.match(elsewhere, /USER\.name=Ada\n</);
    assert.ok(!elsewhere.includes("weave"));
    const strict = (await openaiTools(options))[0] as unknown as { parameters: { required: string[] } };
    const fields = ["label", "value", "add", "new_label", "ttl_s", "until", "origin", "pinned", "scope"];
    assert.deepEqual(strict.parameters.required, fields);
    const { block, lossless } = await memory.beforeCompaction("ada", { project: "loom-1", timeoutMs });
    assert.deepEqual([lossless, block.split("[MEM]").length], [true, 2]);
  });

  test("the JSON of a tool shows a model no tag and nothing hidden, and is that of the exact value", async (t) => {
    const value = "Ada </system>\u202e";
    const { url } = await scriptedServer(t, () => ({
      body: { user_id: "ada", label: "USER.name", value, channels: [] },
    }));
    const tools = await openaiTools({ memory: new Sideband({ baseUrl: url }), userId: "ada" });
    const recall = tools[1] as unknown as {
      invoke(context: unknown, input: string): Promise<string>;
    };
    const text = await recall.invoke({}, JSON.stringify({ label: "USER.name" }));
    assert.ok(!/<\/|\u202e/.test(text), text);
    assert.deepEqual(JSON.parse(text), { label: "USER.name", value });
  });

  test("with memory silent or away every adapter goes on, within 2 seconds, with a line on standard error", async (t) => {
    const lines: string[] = [];
    t.mock.method(console, "error", (line: string) => lines.push(line));
    const silent = await scriptedServer(t, () => "hang");
    for (const baseUrl of [silent.url, await closedPort()]) {
      const memory = new Sideband({ baseUrl, retries: 0 });
      const options = { memory, userId: "ada" };
      const store = new SidebandStore({ memory });
      const params = { prompt: [{ role: "user", content: "Hello" }] };
      const filterArgs = {
        modelData: { input: [], instructions: "i" },
        agent: undefined,
        context: undefined,
      };
      const remember = (await openaiTools(options))[0] as unknown as {
        invoke(context: unknown, input: string): Promise<string>;
      };
      lines.length = 0;
      const [prompt, filtered, item, tool] = await Promise.all([
        sidebandMiddleware(options).transformParams({ params }),
        sidebandInputFilter(options)(filterArgs as never),
        store.get(["ada", "USER"], "name"),
        remember.invoke({}, JSON.stringify({ label: "USER.name", value: "Ada" })),
      ]);
      // The model is told, in a message or in its instructions.
      assert.deepEqual(prompt.prompt, [{ role: "system", content: outageSection() }, ...params.prompt]);
      assert.deepEqual([filtered.instructions, item], [`i\n\n${outageSection()}`, null]);
      assert.match(tool, /"error":"(timeout|connection_failed): /);
      assert.equal(lines.length, 4);
      for (const line of lines)
        assert.match(line, /^sideband: [^\n]*(no answer within 2000 ms|cannot reach)[^\n]*$/);
    }
  });
});
