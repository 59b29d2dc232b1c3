/**
 * The assistant: the prompt's section from the customer's facts, a model, and the model's tools, in a loop as with any
 * provider. No model is needed to try it: the one below is a script that sees only its prompt.
 */

import { modelTools, runTool } from "sideband/tools";

const SYSTEM_PROMPT = "You answer the customers of a shop. Keep what they say about themselves.";

/** @returns the reply, and what the tools were asked and have answered */
export async function answer({ memory, customer, message }) {
  // While memory is away the prompt says so, and the chat goes on.
  const system = await memory.inject(SYSTEM_PROMPT, customer, { maxTokens: 800 });
  const options = { memory, userId: customer };
  const tools = await modelTools(options);
  const { calls, text } = scriptedModel({ system, tools, message });
  const did = [];
  for (const { name, input } of calls) {
    const tool = tools.find((one) => one.name === name);
    const { result, error } = await runTool(tool, options, input);
    did.push(result ?? `not done: ${error}`);
  }
  return { reply: text, did };
}

/** What it understands, and the call that comes of it. */
const SAID = [
  [/my name is ([^.,]+)/i, (value) => ({ label: "CUSTOMER.name", value })],
  [/i speak (\w+)/i, (value) => ({ label: "CUSTOMER.language", value })],
  [/my order (\S+ [^.]+)/i, (value) => ({ label: "ORDER.problems", value, add: true })],
  // Nobody should be able to say this and have it.
  [/make me (\w+)/i, (value) => ({ label: "PLAN.tier", value })],
];

/** A model's turn: what it would call, and what it says. */
function scriptedModel({ system, message }) {
  const calls = SAID.flatMap(([words, input]) => {
    const value = words.exec(message)?.[1];
    return value === undefined ? [] : [{ name: "remember", input: input(value) }];
  });
  if (calls.length > 0) return { calls, text: "I have made a note of it." };
  if (!message.endsWith("?")) return { calls, text: "I see." };
  const known = system.match(/^[A-Z]+\.\w+(?: \([^)]*\))?=.*$/gm) ?? [];
  const text = known.length === 0 ? "I know nothing about you yet." : `I know: ${known.join("; ")}`;
  return { calls, text };
}
