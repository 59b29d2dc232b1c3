/**
 * The labels that adapters offer to a model, and those that they write, in the real packages: the account's own by default,
 * none that is hidden or that the key may not write; and what `labels` leaves out is refused, whatever the model was offered.
 */

import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { Agent, type Model, type ModelRequest, Runner, setTracingDisabled, Usage } from "@openai/agents";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { sidebandTools as aiTools, sidebandMiddleware } from "../../src/agents/ai-sdk.ts";
import { SidebandStore } from "../../src/agents/langgraph.ts";
import {
  flushBefore,
  sidebandTools as openaiTools,
  sidebandInputFilter,
} from "../../src/agents/openai-agents.ts";
import { modelTools, runTool } from "../../src/agents/tools.ts";
import { Sideband } from "../../src/sdk/index.ts";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";

const timeoutMs = 20_000;

/** The account's client, and clients with tokens of ada that may write all labels, or some. */
async function shop(t: TestContext) {
  const running = endAfter(t, await startRunning());
  const clientWith = (apiKey: string) => new Sideband<string>({ baseUrl: running.url, apiKey });
  const account = clientWith(running.key);
  await account.addLabel("LANG.spoken", { description: "What the customer speaks" });
  await account.addLabel("PLAN.tier", { description: "What is paid for", writers: "account" });
  await account.addLabel("FRAUD.score", { description: "Not for models", hidden: true });
  const customer = async (write?: readonly string[]) =>
    clientWith((await account.token("ada", { access: "write", ttlS: 600, write })).token);
  return { account, customer };
}

const REMEMBERED = [
  { label: "LANG.spoken", value: "Dutch" },
  { label: "PLAN.tier", value: "gold" },
  { label: "USER.name", value: "Ada" },
];
const LABELS = ["LANG.*", "PREF.tone"];
const refusalOf = (label: string) =>
  `label_not_allowed: ${label} is not among the labels that may be written here: LANG.*, PREF.tone.`;

async function writtenOf(memory: Sideband<string>) {
  return (await memory.facts("ada")).facts.map((fact) => [fact.label, fact.value]);
}

suite("labels of adapters", { concurrency: false }, () => {
  test("by default the tools offer the account's labels, but none that is hidden or that the key may not write", async (t) => {
    const { account, customer } = await shop(t);
    const described = async (memory: Sideband<string>, labels?: readonly string[]) =>
      (await modelTools({ memory, userId: "ada", timeoutMs, labels }))[0].description;
    const makes = "use one that fits, or make one by writing it";
    const own = 'Labels (as GROUP.name): LANG: spoken ("What the customer speaks"); ';
    const ofAccount = await described(account);
    assert.ok(
      ofAccount.includes(makes) && ofAccount.includes(`${own}PLAN: tier ("What is paid for"); USER: name,`),
    );
    const ofCustomer = await described(await customer());
    assert.ok(ofCustomer.includes(makes) && ofCustomer.includes(`${own}USER: name,`), ofCustomer);
    assert.doesNotMatch(ofAccount + ofCustomer, /FRAUD|PLAN: name/);
    const only = `One fact a label: only LANG.*, PREF.tone can be written. It replaces`;
    const limited = await described(await customer(LABELS));
    assert.ok(limited.includes(only) && limited.includes(`${own}PREF: tone. What`), limited);
    assert.equal(await described(await customer(), LABELS), limited);
    // Of what the key may write the options leave some.
    const both = await described(await customer(LABELS), ["LANG.spoken", "PLAN.tier", "USER.*"]);
    assert.match(
      both,
      /only LANG\.spoken can be written\. .* LANG: spoken \("What the customer speaks"\)\. What/,
    );
  });

  test("in a strict account the tools do not tell the model to make labels", async (t) => {
    const { account } = await shop(t);
    await account.strictLabels(true);
    const [{ description }] = await modelTools({ memory: account, userId: "ada", timeoutMs });
    assert.match(description, /One fact a label: use one of these\. It replaces/);
    assert.doesNotMatch(description, /make one/);
  });

  test("while memory is away the tools have the 40 labels, and a line says so; with onOutage throw they are not made", async (t) => {
    const lines: string[] = [];
    t.mock.method(console, "error", (line: string) => lines.push(line));
    const memory = new Sideband({ baseUrl: await closedPort(), retries: 0 });
    const [{ description }] = await modelTools({ memory, userId: "ada", labels: ["PREF.tone", "LANG.*"] });
    assert.match(description, /only LANG\.\*, PREF\.tone can be written\. .* PREF: tone$/);
    assert.match(lines.join("\n"), /^sideband: labels were not read: cannot reach [^\n]*$/);
    const throwing = aiTools({ memory, userId: "ada", onOutage: "throw" });
    await assert.rejects(throwing, { code: "connection_failed" });
  });

  test("AI SDK: the model is offered what may be written, and what it writes all the same is refused and told", async (t) => {
    const { customer } = await shop(t);
    const memory = await customer();
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const seen: { tools?: { name: string; description?: string }[]; prompt: unknown }[] = [];
    const calls = REMEMBERED.map((input, i) => ({
      ...{ type: "tool-call", toolCallId: String(i), toolName: "remember" },
      input: JSON.stringify(input),
    }));
    const model = new MockLanguageModelV3({
      doGenerate: (async (call: never) => {
        const isFirst = seen.push(call) === 1;
        const content = isFirst ? calls : [{ type: "text", text: "done" }];
        const unified = isFirst ? "tool-calls" : "stop";
        return { content, finishReason: { unified, raw: "x" }, usage, warnings: [] };
      }) as never,
    });
    const tools = await aiTools({ memory, userId: "ada", timeoutMs, labels: LABELS });
    await generateText({ model, tools, prompt: "Hello", stopWhen: stepCountIs(2) });
    const remember = seen[0].tools?.find(({ name }) => name === "remember")?.description ?? "";
    assert.match(remember, /Labels \(as GROUP\.name\): LANG: spoken \(.*\); PREF: tone\. /);
    const told = JSON.stringify(seen[1].prompt);
    for (const refused of ["PLAN.tier", "USER.name"]) assert.ok(told.includes(refusalOf(refused)), told);
    assert.deepEqual(await writtenOf(memory), [["LANG.spoken", "Dutch"]]);
  });

  test("OpenAI Agents: the same", async (t) => {
    setTracingDisabled(true);
    const { customer } = await shop(t);
    const memory = await customer();
    const requests: ModelRequest[] = [];
    const model: Model = {
      async getResponse(request) {
        const isFirst = requests.push(request) === 1;
        const calls = REMEMBERED.map((input, i) => ({
          ...({ type: "function_call", name: "remember", status: "completed" } as const),
          ...{ callId: String(i), arguments: JSON.stringify(input) },
        }));
        const done = { type: "output_text" as const, text: "done" };
        const message = { type: "message", role: "assistant", status: "completed", content: [done] } as const;
        return { usage: new Usage(), output: isFirst ? calls : [{ ...message, content: [done] }] };
      },
      getStreamedResponse: () => assert.fail("not used"),
    };
    const tools = await openaiTools({ memory, userId: "ada", timeoutMs, labels: LABELS });
    const agent = new Agent({ name: "a", model, tools });
    await new Runner({ tracingDisabled: true }).run(agent, "Hello");
    assert.match(
      JSON.stringify(requests[0].tools),
      /Labels \(as GROUP\.name\): LANG: spoken \(.*\); PREF: tone\. /,
    );
    const told = JSON.stringify(requests[1].input);
    for (const refused of ["PLAN.tier", "USER.name"]) assert.ok(told.includes(refusalOf(refused)), told);
    assert.deepEqual(await writtenOf(memory), [["LANG.spoken", "Dutch"]]);
  });

  test("every tool that writes is refused outside of the labels, under both names of a rename, and reading is not", async (t) => {
    const { account } = await shop(t);
    await account.encode("ada", "PLAN.tier", "free");
    await account.encode("ada", "PLAN.tier", "gold");
    await account.encode("ada", "LANG.spoken", "Dutch");
    const options = { memory: account, userId: "ada", timeoutMs, labels: LABELS, addLabels: true };
    const tools = await modelTools(options);
    const run = async (name: string, input: object) =>
      runTool(tools.find((tool) => tool.name === name)!, options, { ...input });
    const { revisions } = await account.history("ada", "PLAN.tier");
    const before = await writtenOf(account);
    for (const [name, input, refused] of [
      ["remember", { label: "PLAN.tier", value: "free" }, "PLAN.tier"],
      ["remember", { label: "PLAN.tier", value: "free", add: true }, "PLAN.tier"],
      ["forget", { label: "PLAN.tier" }, "PLAN.tier"],
      ["forget", { label: "PLAN.tier", for_good: true }, "PLAN.tier"],
      ["history", { label: "PLAN.tier", restore: revisions[1].revision }, "PLAN.tier"],
      ["history", { label: "PLAN.tier", rename_to: "LANG.tier" }, "PLAN.tier"],
      ["history", { label: "LANG.spoken", rename_to: "PLAN.spoken" }, "PLAN.spoken"],
      ["add_label", { label: "PLAN.seats", description: "How many" }, "PLAN.seats"],
    ] as const)
      assert.deepEqual(
        await run(name, input),
        { error: refusalOf(refused) },
        `${name} ${JSON.stringify(input)}`,
      );
    assert.deepEqual(await writtenOf(account), before);
    assert.equal((await run("recall", { label: "PLAN.tier" })).value, "gold");
    assert.equal(
      (await run("history", { label: "PLAN.tier", restore: null, rename_to: null })).error,
      undefined,
    );
    assert.equal((await run("history", { label: "LANG.spoken", rename_to: "LANG.first" })).error, undefined);
    assert.match(String((await run("remember", { value: "x" })).error), /^invalid_request: label is needed/);
  });

  test("LangGraph: a put and a delete outside of the labels are refused, and nothing of their batch is done", async (t) => {
    const { account } = await shop(t);
    await account.encode("ada", "PLAN.tier", "gold");
    const store = new SidebandStore({ memory: account, timeoutMs, labels: LABELS });
    const refused = {
      code: "label_not_allowed",
      message: /^PLAN\.tier is not among the labels .*: LANG\.\*, PREF\.tone\.$/,
    };
    const lang = { namespace: ["ada", "LANG"], key: "spoken", value: { value: "Dutch" } };
    const plan = { namespace: ["ada", "PLAN"], key: "tier", value: { value: "free" } };
    await assert.rejects(store.batch([lang, plan]), refused);
    await assert.rejects(store.delete(plan.namespace, plan.key), refused);
    assert.deepEqual(await writtenOf(account), [["PLAN.tier", "gold"]]);
    await store.batch([lang]);
    assert.equal((await store.get(plan.namespace, plan.key))?.value.value, "gold");
    assert.equal((await store.get(lang.namespace, lang.key))?.value.value, "Dutch");
  });

  test("an option that no adapter has, and one of another kind, are refused where it is made", async () => {
    const memory = new Sideband({ fetch: () => assert.fail("nothing is sent") });
    const right = { memory, userId: "ada" };
    const makers: Record<string, (options: never) => unknown> = {
      middleware: sidebandMiddleware,
      filter: sidebandInputFilter,
      flush: (options) => flushBefore(options, () => true),
      store: (options: object) => new SidebandStore({ ...options, userId: undefined } as never),
      tools: modelTools,
      "AI SDK": aiTools,
      "OpenAI Agents": openaiTools,
    };
    for (const [name, make] of Object.entries(makers)) {
      for (const [wrong, message] of [
        [{ timeOutMs: 5 }, /no option timeOutMs here: did you mean timeoutMs\?/],
        [{ timeoutMs: "5" }, /timeoutMs is a number, not "5"/],
        [{ labels: "LANG.*" }, /labels is a list of texts, not a text/],
        [{ labels: ["lang.*"] }, /labels must be 1 to 32 labels/],
        [{ labels: [] }, /labels must be 1 to 32 labels/],
        [{ memory: "http://127.0.0.1:8787" }, /memory is a client, not a text/],
        [{ ttl: { defaultTtl: 5 } }, /no option ttl here/],
        ...(name === "store" ? [] : [[{ memory: undefined }, /memory is a client, not undefined/] as const]),
      ] as const) {
        const made = async () => make({ ...right, ...wrong } as never);
        await assert.rejects(made, { name: "TypeError", message }, `${name} ${JSON.stringify(wrong)}`);
      }
    }
    await assert.rejects(runTool("remember" as never, { memory, userId: "ada" }, {}), /not its name/);
  });
});
