/**
 * A value that a model carries to a tool and never sees: node examples/unseen-order-number.mjs
 *
 * The application seals the number of an order into the prompt. The model cannot read it; it hands the block to the tool
 * that needs it, and the tool opens it. The "model" is a script that sees its prompt only, and copies carelessly: it
 * leaves out every twentieth word.
 */

import { newKey, open, seal } from "sideband/block";

const key = newKey();
const user = "session 5";
const ORDER = "4711-93-X";

async function refund({ state }) {
  const opened = await open({ key, user, text: state });
  if (!opened.ok) return `refused: ${opened.reason}`;
  return `refunded order ${opened.facts["ORDER.number"]}`;
}

function scriptedModel(prompt) {
  const block = prompt.match(/\[MEM\][^\]]*\[\/MEM\]/)[0].split(" ");
  return { tool: "refund", input: { state: block.filter((_, i) => i % 20 !== 19).join(" ") } };
}

const block = await seal({ key, user, facts: { "ORDER.number": ORDER } });
const prompt = `You help customers. To refund, call refund({ state }) with the words of the sealed state.\n${block}`;
const call = scriptedModel(prompt);
console.log(
  `the order's number is in the prompt: ${prompt.includes(ORDER)}, in the call: ${JSON.stringify(call).includes(ORDER)}`,
);
console.log(await refund(call.input));
// Made up, or taken from another session, it opens nothing.
const foreign = await seal({ key, user: "session 6", facts: { "ORDER.number": "1" } });
console.log(await refund({ state: foreign }));
