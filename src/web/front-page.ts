/**
 * The front page: first what one gets, then the agents and the code, then the machine with a picture of a compaction.
 * The picture is an SVG that style/front.css animates; people who want less motion see its last moment.
 */

import { openApiDocument } from "../contract/openapi.ts";
import { type Document, groupsOf } from "./reference/openapi.ts";
import { addressOf, requestSamples } from "./reference/request-samples.ts";
import { codeBlock, codeTabs } from "./shell.ts";

const COLUMNS = 32;
const ROWS = 4;
/** The cells of the picture's block that the compaction loses: a run in the middle and single ones. */
const isLost = (cell: number) => (cell >= 37 && cell < 61) || cell % 11 === 5;

const STORY_STEPS = [
  "The user tells the agent two facts. The agent stores them, and the block in its context carries them.",
  "The conversation goes on and fills the context.",
  "The context is compacted. The conversation becomes one line, and a quarter of the block is lost.",
  "What is left of the block gives back both facts, exactly.",
];

const AGENT_CARDS = [
  ["claude-code", "Claude Code"],
  ["codex", "Codex CLI"],
  ["hermes", "Hermes Agent"],
  ["openclaw", "OpenClaw"],
  ["mcp", "every MCP client"],
  ["ai-sdk", "Vercel AI SDK"],
  ["langgraph", "LangGraph"],
  ["openai-agents", "OpenAI Agents"],
  ["sdk", "your own code"],
] as const;

const WAYS = [
  {
    title: "One fact by its label",
    about: "Code or an agent needs one fact, exactly.",
    operation: "decode",
    field: "value",
  },
  {
    title: "All facts as plain text",
    about: "A model reads the facts in its prompt.",
    operation: "context",
    field: "plain_index",
  },
  {
    title: "As many facts as fit in one block",
    about: "The facts travel with a text that others shorten, copy or store.",
    operation: "context",
    field: "fdm_block",
  },
];

/** What one gets, in a person's words, each with the page that shows it. */
const BENEFITS = [
  {
    title: "In every agent, in every session",
    about:
      "The facts are there when a session starts and after every compaction, in Claude Code, Codex and any MCP client, on all your machines.",
    link: ["/docs/agents", "The agents"],
  },
  {
    title: "Word for word",
    about: "A fact comes back byte for byte as it was written. No model extracts it, rewrites it or cuts it.",
    link: ["/docs/using-the-api#facts", "What a fact is"],
  },
  {
    title: "Yours to see and steer",
    about:
      "A page shows what is kept, who wrote it and when. Every write can be undone, or everything since yesterday evening.",
    link: ["/docs/memory-page", "The memory page"],
  },
  {
    title: "Nothing lost",
    about:
      "A write is answered when it is on disk: with twenty agents writing at once, after a crash, and on many machines.",
    link: ["/benchmarks", "Beside other memories, measured"],
  },
] as const;

/** @param machine the live block */
export function frontPage(machine: string): string {
  return `<div class="hero">
<div class="pitch">
<h1>Tell your agents once</h1>
<p class="lead">A memory for AI agents that you run yourself. It keeps the short facts that count, such as names, preferences,
decisions and deadlines, and hands them to every agent in every session.</p>
<p class="buttons"><a class="button primary" href="/docs">Start in five minutes</a> <a class="button" href="/playground">Open the playground</a></p>
${codeBlock({ language: "sh", text: START })}
</div>
${twoSessions()}
</div>
<section class="front-part" aria-labelledby="gains-title"><h2 id="gains-title">What you get</h2>
<div class="gains">${BENEFITS.map(({ title, about, link: [path, name] }) => `<div class="card"><h3>${title}</h3><p>${about}</p><p><a href="${path}">${name}</a></p></div>`).join("")}</div></section>
<section class="front-part" aria-labelledby="agents-title"><h2 id="agents-title">Works in</h2>
<ul class="agents">${AGENT_CARDS.map(([path, name]) => `<li><a href="/docs/agents/${path}">${name}</a></li>`).join("")}</ul>
<p class="hint">Compatible with clients of the Spectral Memory API: the same paths and fields.</p></section>
<section class="front-part" aria-labelledby="code-title"><h2 id="code-title">One call to write, three ways to read</h2>
${codeTabs("front", requestSamples(MEMORY.name, operationOf("encode")))}
<div class="ways">${WAYS.map((way) => `<div class="card"><h3>${way.title}</h3><p>${way.about}</p>${codeBlock({ language: "text", text: callText(way) })}</div>`).join("")}</div>
<p><a href="/docs">Quickstart</a>: run, write, read, in an agent. <a href="/docs/api">API reference</a>: every call with an example.</p></section>
<section class="front-part" aria-labelledby="machine-title"><h2 id="machine-title">The machine: facts that travel inside a text</h2>
<p class="about">Where a text goes to places that do not reach your store, the facts go along as one sealed block of 512 tokens. Nobody reads
or forges it without the key, and the fewer facts it holds, the more of its words may be lost.</p>
${machine}
<div class="story">${storyPicture()}<div><h3 id="story-title">What happens in a compaction</h3><ol aria-labelledby="story-title">${STORY_STEPS.map((step) => `<li>${step}</li>`).join("")}</ol></div></div></section>`;
}

const START = "npm ci && npm start\nnpm install -g .\nsideband agents install claude-code";

/** What a person sees of it: told to one agent, known to the next. */
function twoSessions(): string {
  return `<div class="sessions" role="img" aria-label="On Monday a person tells Claude Code a deadline, and it is stored. On Tuesday Codex, in a new session, knows it.">
<div class="card"><p class="eyebrow">Monday, Claude Code</p>
<p class="said you">We ship on 1 December. Keep answers short.</p>
<p class="wrote"><code>TASK.deadline</code> now <q>2026-12-01</q></p>
<p class="wrote"><code>PREF.verbosity</code> now <q>short</q></p></div>
<div class="card"><p class="eyebrow">Tuesday, Codex, a new session</p>
<p class="said you">How long do we have?</p>
<p class="said">Until 1 December, two weeks.</p></div>
</div>`;
}

const [MEMORY] = groupsOf(openApiDocument({ version: "", serverUrl: "" }) as unknown as Document);
const operationOf = (name: string) => MEMORY.operations.find(({ id }) => id === name)!;

/** A call with the field of its answer, from the examples of the API, which a test compares with a real service. */
function callText({ operation, field }: { readonly operation: string; readonly field: string }): string {
  const call = operationOf(operation);
  const answer = call.example.answer as Readonly<Record<string, string>>;
  return `${call.method} ${addressOf(call)}\n→ ${field}\n\n${answer[field]}`;
}

function storyPicture(): string {
  const cells = Array.from({ length: COLUMNS * ROWS }, (_, i) => {
    const [x, y] = [24 + (i % COLUMNS) * 12, 150 + Math.floor(i / COLUMNS) * 14];
    return `<rect${isLost(i) ? ' class="lost"' : ""} x="${x}" y="${y}" width="9" height="10" rx="2"/>`;
  });
  const line = (y: number, width: number, text = "") =>
    `<g><rect class="bubble" x="16" y="${y}" width="${width}" height="24" rx="6"/>${text === "" ? "" : `<text x="26" y="${y + 16}">${text}</text>`}</g>`;
  return `<div class="picture"><input type="checkbox" id="story-pause"><label for="story-pause">Pause the picture</label>
<svg viewBox="0 0 430 220" role="img" aria-label="A context is compacted, a quarter of the block is lost, and both facts are read from the rest">
<rect class="frame" x="4" y="4" width="422" height="212" rx="10"/>
<g class="talk">${line(16, 210, "My name is Ada.")}${line(46, 250, "The deadline is 2026-12-01.")}</g>
<g class="more">${line(76, 330)}${line(106, 180)}</g>
<g class="summary">${line(16, 300, "Summary: we talked about a task.")}</g>
<g class="cells">${cells.join("")}</g>
<g class="facts"><text x="24" y="78">USER.name=Ada</text><text x="24" y="104">TASK.deadline=2026-12-01</text></g>
</svg></div>`;
}
