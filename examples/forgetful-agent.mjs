/**
 * An agent with a very small context. The context is compacted twice, and the agent still knows what it was told.
 *
 *   npm start                                                     # prints a key on its first start
 *   SIDEBAND_API_KEY=sb_live_… node examples/forgetful-agent.mjs
 *
 * No model is needed: the "model" below is a script that sees only its context, as a model does. It cannot answer what
 * is not in the context. The compaction keeps one sentence and nothing else.
 */

import { isSidebandError, Sideband } from "sideband";
import { MODEL_TOOLS, runTool } from "sideband/tools";

const USER = "forgetful-agent-example";
const CONTEXT_WORDS_MAX = 60;
const SYSTEM_PROMPT = "You are a careful assistant.";

const { SIDEBAND_API_KEY: apiKey, SIDEBAND_API_URL: baseUrl } = process.env;
if (apiKey === undefined) {
  console.error("Set SIDEBAND_API_KEY to a key of the service (npm start prints one on its first start).");
  process.exit(2);
}
const memory = new Sideband({ apiKey, baseUrl });

/** Remembers what the user states, with a tool, and answers questions from its context. */
function scriptedModel({ system, messages }) {
  const said = messages.at(-1).content;
  const calls = [...said.matchAll(/(my name is|we decided:|the deadline is) ([^.]+)/gi)].map(
    ([, what, value]) => ({
      tool: "remember",
      input: { label: LABEL_OF[what.toLowerCase()], value },
    }),
  );
  if (calls.length > 0) return { calls, text: "I will remember that." };
  const asked = Object.entries(QUESTIONS).filter(
    ([word]) => said.toLowerCase().includes(word) && said.endsWith("?"),
  );
  if (asked.length === 0) return { calls: [], text: "I see." };
  const visible = [system, ...messages.map(({ content }) => content)].join("\n");
  const answers = asked.map(
    ([, label]) => new RegExp(`^${label}=(.*)$`, "m").exec(visible)?.[1] ?? "I do not know",
  );
  return { calls: [], text: `${answers.join("; ")}.` };
}

const LABEL_OF = {
  "my name is": "USER.name",
  "we decided:": "TASK.decision",
  "the deadline is": "TASK.deadline",
};
const QUESTIONS = { who: "USER.name", decide: "TASK.decision", due: "TASK.deadline" };

class Agent {
  messages = [];
  compactions = 0;

  constructor(remembers) {
    this.remembers = remembers;
  }

  async turn(said) {
    console.log(`user   ${shortened(said)}`);
    this.messages.push({ role: "user", content: said });
    // The memory section is the same, byte for byte, until a fact changes: so a prompt cache works.
    const system = this.remembers ? await memory.inject(SYSTEM_PROMPT, USER) : SYSTEM_PROMPT;
    const { calls, text } = scriptedModel({ system, messages: this.messages });
    for (const { tool: name, input } of this.remembers ? calls : []) {
      const tool = MODEL_TOOLS.find((candidate) => candidate.name === name);
      const { label, value, error } = await runTool(tool, { memory, userId: USER }, input);
      console.log(`tool   remember ${error ?? `${label} = ${value}`}`);
    }
    console.log(`agent  ${text}`);
    this.messages.push({ role: "assistant", content: text });
    if (wordsOf(this.messages) > CONTEXT_WORDS_MAX) await this.compact();
  }

  async compact() {
    this.compactions += 1;
    const before = this.messages.length;
    let block = "";
    if (this.remembers) {
      const flush = await memory.beforeCompaction(USER);
      block = flush.block;
      console.log(
        `       ── flush: ${flush.lossless ? "every fact read back from the block" : "not lossless"}`,
      );
    }
    this.messages = [{ role: "user", content: "Summary: we talked." }];
    console.log(
      `       ── compaction ${this.compactions}: ${before} messages become "${this.messages[0].content}"`,
    );
    if (block !== "") await this.readDamaged(block);
  }

  /** A summary may carry a damaged block: here 7 of its words are lost. */
  async readDamaged(block) {
    const words = block.split(" ");
    const lost = words.splice(100, 7);
    const { facts } = await memory.read(USER, words.join(" "));
    console.log(
      `       ── the block, ${lost.length} words lost, still reads: ${facts.map(({ label }) => label).join(", ")}`,
    );
  }
}

const TALK = [
  "My name is Ada. The deadline is 2026-12-01.",
  `Now let us talk about something else. ${"The weather was fine and nothing much happened. ".repeat(7)}`,
  "When is it due?",
  "We decided: lmdb, because its commits do not block reads.",
  `And then, for a long while, ${"we spoke of cabbages and kings and other things. ".repeat(7)}`,
  "Who am I, what did we decide, and when is it due?",
];

console.log("With memory:\n");
await forgetAll();
const agent = new Agent(true);
for (const said of TALK) await agent.turn(said);

console.log("\nThe same agent without memory:\n");
const forgetful = new Agent(false);
for (const said of TALK) await forgetful.turn(said);
await forgetAll();

function wordsOf(messages) {
  return messages.reduce((count, { content }) => count + content.split(/\s+/).length, 0);
}

function shortened(text) {
  return text.length > 72 ? `${text.slice(0, 69)}…` : text;
}

async function forgetAll() {
  try {
    await memory.forgetUser(USER);
  } catch (error) {
    if (!isSidebandError(error, "not_found")) throw error;
  }
}
