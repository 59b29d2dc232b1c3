/**
 * A support bot whose server keeps nothing: node examples/stateless-support-bot.mjs
 *
 * The state of a conversation travels in its text, sealed. The server below is an HTTP handler without any store: each
 * request brings the transcript, and the handler opens the block in it, works, and answers with the next block. The
 * transcript is compacted three times on the way, by two strategies: old messages are cut off, or a summary is written
 * that keeps three quarters of the block's words. The bot's wit is a script; no model is needed.
 */

import { createServer } from "node:http";
import { newKey, open, seal } from "sideband/block";

const TURNS = 50;
const KEY = newKey();

/** What the bot understands. */
const SAID = {
  "my name is": "USER.name",
  "my order is": "ORDER.number",
  "it came": "ORDER.problem",
  "write to me in": "USER.language",
};

async function turn({ conversation, transcript, message }) {
  const state = await open({ key: KEY, user: conversation, text: transcript });
  const facts = state.ok ? { ...state.facts } : {};
  for (const [words, label] of Object.entries(SAID)) {
    const value = message.match(new RegExp(`${words} ([^.]+)`, "i"))?.[1];
    if (value !== undefined) facts[label] = value;
  }
  facts["ORDER.calls"] = String(Number(facts["ORDER.calls"] ?? 0) + 1);
  const block = await seal({
    key: KEY,
    user: conversation,
    facts,
    after: state.ok ? state : undefined,
    // At the edge, the 8 MB of the reader model would be too much.
    compress: false,
  });
  const known = Object.entries(facts).map(([label, value]) => `${label}=${value}`);
  return { reply: `Noted.\n${block}`, known, repaired: state.ok ? state.repaired : 0 };
}

const server = createServer(async (request, response) => {
  const body = await new Response(request).json();
  response.end(JSON.stringify(await turn(body)));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;

/** The last messages as they are, and nothing of the rest. */
function cutOff(messages) {
  return messages.slice(-3);
}

/** A summary that copies the block with a quarter of its words left out. */
function summarised(messages) {
  const words = messages.at(-1).split(" ");
  return [`Summary: the customer talked about an order. ${words.filter((_, i) => i % 4 !== 3).join(" ")}`];
}

const talk = new Map([
  [1, "Hello. My name is Ada Okafor."],
  [4, "My order is 4711-93."],
  [20, "It came with a broken lid."],
  [31, "Please write to me in Dutch."],
  [44, "No, my order is 4711-94."],
]);
let messages = [];
let mended = 0;
let answer;
for (let count = 1; count <= TURNS; count++) {
  if (count === 12 || count === 40) messages = summarised(messages);
  if (count === 26) messages = cutOff(messages);
  const message = talk.get(count) ?? `By the way, the weather on day ${count} was fine.`;
  const body = JSON.stringify({ conversation: "c-17", transcript: messages.join("\n"), message });
  answer = await (await fetch(url, { method: "POST", body })).json();
  mended += answer.repaired;
  // The newest block is enough: an older one would only take room.
  messages = messages.map((text) => text.replace(/\[MEM\][^[]*\[\/MEM\]/, "(state)"));
  messages.push(`user: ${message}`, `assistant: ${answer.reply}`);
}
server.close();
console.log(`after ${TURNS} turns and 3 compactions, with ${mended} words mended on the way:`);
for (const line of answer.known) console.log(`  ${line}`);
