/**
 * The front page below its title: a picture of a compaction, code, the three ways to read, and the agents.
 * The picture is an SVG that style/front.css animates; people who want less motion see its last moment.
 */

import { openApiDocument } from "../contract/openapi.ts";
import { codeBlock, sampleBox } from "./docs/code-samples.ts";
import { type Document, groupsOf } from "./reference/openapi.ts";
import { addressOf, requestSamples } from "./reference/request-samples.ts";

const COLUMNS = 32;
const ROWS = 4;
/** The cells of the picture's block that the compaction loses: a run in the middle and single ones. */
const isLost = (cell: number) => (cell >= 37 && cell < 61) || cell % 11 === 5;

const START_STEPS = [
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

export function frontPageSections(): string {
  return `<section class="front-part" aria-labelledby="story-title"><h2 id="story-title">What happens in a compaction</h2>
<div class="story">${storyPicture()}<ol>${START_STEPS.map((step) => `<li>${step}</li>`).join("")}</ol></div></section>
<section class="front-part" aria-labelledby="code-title"><h2 id="code-title">One call to write</h2>
${sampleBox("front", requestSamples(MEMORY.name, operationOf("encode")))}
<p><a href="/docs">Quickstart</a>: run, write, read, in an agent. <a href="/docs/api">API reference</a>: every call with an example.</p></section>
<section class="front-part" aria-labelledby="ways-title"><h2 id="ways-title">Three ways to read</h2>
<div class="ways">${WAYS.map((way) => `<div class="card"><h3>${way.title}</h3><p>${way.about}</p>${codeBlock({ language: "text", text: callText(way) })}</div>`).join("")}</div></section>
<section class="front-part" aria-labelledby="agents-title"><h2 id="agents-title">Works in</h2>
<ul class="agents">${AGENT_CARDS.map(([path, name]) => `<li><a href="/docs/agents/${path}">${name}</a></li>`).join("")}</ul>
<p class="hint">Compatible with clients of the Spectral Memory API: the same paths and fields.</p></section>`;
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
<svg viewBox="0 0 430 300" role="img" aria-label="A context is compacted, a quarter of the block is lost, and both facts are read from the rest">
<rect class="frame" x="4" y="4" width="422" height="212" rx="10"/>
<g class="talk">${line(16, 210, "My name is Ada.")}${line(46, 250, "The deadline is 2026-12-01.")}</g>
<g class="more">${line(76, 330)}${line(106, 180)}</g>
<g class="summary">${line(16, 300, "Summary: we talked about a task.")}</g>
<g class="cells">${cells.join("")}</g>
<g class="facts"><text x="24" y="246">USER.name=Ada</text><text x="24" y="270">TASK.deadline=2026-12-01</text></g>
</svg></div>`;
}
