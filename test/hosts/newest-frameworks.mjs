/**
 * The frameworks that need a newer Node than the tests: AI SDK 7 and the newest OpenAI Agents, with scripted models and the
 * packed package. Prints what was seen, as JSON. The settings lead to a service, and AWAY_URL to none.
 */

import { Agent, Runner, setTracingDisabled, Usage } from "@openai/agents";
import { generateText, stepCountIs, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Sideband } from "sideband";
import { sidebandTools as aiTools, sidebandMiddleware } from "sideband/ai-sdk";
import { flushBefore, sidebandTools as openaiTools, sidebandInputFilter } from "sideband/openai-agents";

const VALUE = { label: "PREF.tone", value: "dry" };
const FACT = "PREF.tone=dry";
const away = new Sideband({ baseUrl: process.env.AWAY_URL, retries: 0, onWarning: () => {} });
const timeoutMs = 20_000;

/** A run that keeps the fact and calls the model once more. */
async function aiSdk(memory) {
  const prompts = [];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const call = { type: "tool-call", toolCallId: "1", toolName: "remember", input: JSON.stringify(VALUE) };
      const isFirst = prompts.push(JSON.stringify(prompt)) === 1;
      return {
        content: isFirst ? [call] : [{ type: "text", text: "done" }],
        finishReason: { unified: isFirst ? "tool-calls" : "stop", raw: "x" },
        usage,
        warnings: [],
      };
    },
  });
  const options = { memory, userId: "ai-sdk", timeoutMs };
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware: sidebandMiddleware(options) }),
    tools: await aiTools(options),
    system: "You are terse.",
    prompt: "Hello",
    stopWhen: stepCountIs(3),
  });
  return { isDone: text === "done", section: prompts[1].includes(FACT) };
}

async function openaiAgents(memory) {
  const instructions = [];
  const call = { type: "function_call", callId: "1", name: "remember", status: "completed" };
  const message = { type: "message", role: "assistant", status: "completed" };
  const model = {
    async getResponse({ systemInstructions }) {
      const isFirst = instructions.push(systemInstructions) === 1;
      const said = { ...message, content: [{ type: "output_text", text: "done" }] };
      const output = isFirst ? { ...call, arguments: JSON.stringify(VALUE) } : said;
      return { usage: new Usage(), output: [output] };
    },
  };
  const options = { memory, userId: "openai-agents", timeoutMs };
  const agent = new Agent({
    name: "a",
    instructions: "You are terse.",
    model,
    tools: await openaiTools(options),
  });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, "Hello", {
    callModelInputFilter: sidebandInputFilter(options),
  });
  return { isDone: finalOutput === "done", section: instructions[1].includes(FACT) };
}

async function seen(run, userId) {
  const memory = new Sideband({ timeoutMs });
  const { isDone, section } = await run(memory);
  const remember = (await memory.decode(userId, VALUE.label)).value === VALUE.value;
  const { isDone: down } = await run(away);
  return { section: isDone && section, remember, down };
}

setTracingDisabled(true);
const memory = new Sideband({ timeoutMs });
const flush = await flushBefore({ memory, userId: "openai-agents", timeoutMs }, () => true)();
console.log(
  JSON.stringify({
    "AI SDK 7": await seen(aiSdk, "ai-sdk"),
    "OpenAI Agents": { ...(await seen(openaiAgents, "openai-agents")), flush },
  }),
);
