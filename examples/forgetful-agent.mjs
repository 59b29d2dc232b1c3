/**
 * An agent with a very small context, with memory and without it, side by side: npm run example
 *
 * The context is compacted twice. The agent with memory still knows what it was told. No model is needed: the "model"
 * below is a script that sees only its context, as a model does. It cannot answer what is not in the context. The
 * compaction keeps one sentence and nothing else.
 *
 * It starts a service of its own, in a temporary folder. With SIDEBAND_API_KEY (and SIDEBAND_API_URL) it uses that service.
 */

import { isSidebandError, Sideband } from "sideband";
import { MODEL_TOOLS, runTool } from "sideband/tools";
import { startTemporaryService } from "./temporary-service.mjs";

const USER = "forgetful-agent-example";
const CONTEXT_WORDS_MAX = 60;
const SYSTEM_PROMPT = "You are a careful assistant.";
const COLUMN = 56;

const TALK = [
  "My name is Ada. The deadline is 2026-12-01.",
  `Now let us talk about something else. ${"The weather was fine and nothing much happened. ".repeat(7)}`,
  "When is it due?",
  "We decided: lmdb, because reads never wait.",
  `Then we talked for a long time. ${"We talked about the garden and the neighbours. ".repeat(8)}`,
  "Who am I, what did we decide, and when is it due?",
];
const LABEL_OF = {
  "my name is": "USER.name",
  "we decided:": "TASK.decision",
  "the deadline is": "TASK.deadline",
};
const QUESTIONS = { who: "USER.name", decide: "TASK.decision", due: "TASK.deadline" };

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

class Agent {
  messages = [];
  compactions = 0;

  /** @param memory the client of Sideband; without it the agent has no memory */
  constructor(memory) {
    this.memory = memory;
  }

  /** Answers, and returns what happened, line by line. */
  async turn(said) {
    const lines = [];
    this.messages.push({ role: "user", content: said });
    // The memory section is the same, byte for byte, until a fact changes: so a prompt cache works.
    const system = this.memory ? await this.memory.inject(SYSTEM_PROMPT, USER) : SYSTEM_PROMPT;
    const { calls, text } = scriptedModel({ system, messages: this.messages });
    for (const { tool: name, input } of this.memory ? calls : []) {
      const tool = MODEL_TOOLS.find((candidate) => candidate.name === name);
      const { label, value, error } = await runTool(tool, { memory: this.memory, userId: USER }, input);
      lines.push(`remember ${error ?? `${label} = ${value}`}`);
    }
    lines.push(`"${text}"`);
    this.messages.push({ role: "assistant", content: text });
    if (wordsOf(this.messages) > CONTEXT_WORDS_MAX) lines.push(...(await this.compact()));
    return lines;
  }

  /** A host compacts like this. The memory section is not part of the messages: the next prompt has it again. */
  async compact() {
    this.compactions += 1;
    const before = this.messages.length;
    this.messages = [{ role: "user", content: "Summary: we talked." }];
    const lines = [`── compaction ${this.compactions}: ${before} messages become one`];
    if (this.memory) {
      const { channel_count } = await this.memory.facts(USER);
      lines.push(`── the next prompt has ${channel_count} facts from Sideband`);
    }
    return lines;
  }
}

const { SIDEBAND_API_KEY: apiKey, SIDEBAND_API_URL: baseUrl } = process.env;
const service =
  apiKey === undefined ? await startTemporaryService() : { apiKey, baseUrl, end: async () => {} };
try {
  const memory = new Sideband({ apiKey: service.apiKey, baseUrl: service.baseUrl });
  await forgetAll(memory);
  const [withMemory, without] = [new Agent(memory), new Agent()];
  printRow("", "with memory", "without memory");
  for (const said of TALK) {
    console.log(`user   ${shortened(said)}`);
    const [left, right] = [await withMemory.turn(said), await without.turn(said)];
    for (let row = 0; row < Math.max(left.length, right.length); row++) {
      printRow(row === 0 ? "agent" : "", left[row] ?? "", right[row] ?? "");
    }
  }
  await forgetAll(memory);
} finally {
  await service.end();
}

function printRow(who, left, right) {
  console.log(`${who.padEnd(6)} ${left.padEnd(COLUMN)} │ ${right}`.trimEnd());
}

function wordsOf(messages) {
  return messages.reduce((count, { content }) => count + content.split(/\s+/).length, 0);
}

function shortened(text) {
  return text.length > 72 ? `${text.slice(0, 69)}…` : text;
}

async function forgetAll(memory) {
  try {
    await memory.forgetUser(USER);
  } catch (error) {
    if (!isSidebandError(error, "not_found")) throw error;
  }
}
