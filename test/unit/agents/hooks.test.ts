/** Hooks: what a session is told where the memory is slow, where it is resumed, and what a transcript's end shows. */

import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AgentMemory } from "../../../src/agent-side/agent-memory.ts";
import { memorySection, outageSection } from "../../../src/agent-side/memory-section.ts";
import { STORE_BEFORE_END, TURNED_OFF } from "../../../src/agent-side/prompts.ts";
import {
  type HookHost,
  hookInput,
  immediateOutput,
  isTurnedOff,
  memoryWork,
  outageOutput,
} from "../../../src/agents/hooks.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

/** What a session is told at its start. */
async function startWith(memory: Pick<AgentMemory, "context">, fields: object = {}): Promise<string> {
  const input = hookInput(JSON.stringify({ hook_event_name: "SessionStart", ...fields }));
  const options = {
    host: "claude-code",
    include: "both",
    timeoutMs: 10,
    project: "loom",
    contextTokens: 800,
  } as const;
  const { output } = await memoryWork(input, "both")!(memory as AgentMemory, "ada", input, options);
  return output === "" ? "" : JSON.parse(output).hookSpecificOutput.additionalContext;
}

test("a session starts with the facts alone where the block does not come", async () => {
  const told = await startWith({
    context: async (_user, { include } = {}) =>
      include === "index" ? contextOf("USER.name=Ada") : new Promise(() => {}),
  });
  assert.match(told, /USER\.name=Ada/);
  assert.doesNotMatch(told, /\[MEM\]/);
});

test("where memory is away the host shows it to the person, and the model is told in every session and sub-agent", () => {
  const said = (event: string, host: HookHost) => {
    const output = outageOutput(hookInput(JSON.stringify({ hook_event_name: event })), host, "no answer");
    return output === "" ? "" : JSON.parse(output);
  };
  const line = "Sideband: going on without memory: no answer";
  const context = (hookEventName: string) => ({ hookEventName, additionalContext: outageSection() });
  for (const host of ["claude-code", "codex", "gemini-cli", "vscode"] as const)
    assert.deepEqual(said("SessionStart", host), {
      systemMessage: line,
      hookSpecificOutput: context("SessionStart"),
    });
  assert.deepEqual(said("SubagentStart", "claude-code"), { hookSpecificOutput: context("SubagentStart") });
  assert.deepEqual(said("sessionStart", "cursor"), { additional_context: outageSection() });
  assert.equal(said("SessionStart", "opencode").isAway, true);
  for (const event of ["PreCompact", "Stop"]) assert.equal(said(event, "claude-code"), "");
});

test("what is longer than the host takes goes without the block, and then with fewer facts", async () => {
  const asked: unknown[] = [];
  const told = await startWith({
    context: async (_user, { include, maxTokens } = {}) => {
      asked.push([include, maxTokens]);
      const context = {
        ...contextOf(`USER.name=${"a".repeat((maxTokens ?? 900) * 40)}`),
        fdm_block: "[MEM] a [/MEM]",
      };
      return context;
    },
  });
  assert.deepEqual(asked, [
    ["both", undefined],
    ["index", 690],
    ["index", 290],
    ["index", 90],
  ]);
  assert.ok(told.length < 9_900 && !told.includes("[MEM]"));
});

test("a block that fails after its time was over does not end the hook", async () => {
  let fail = (_error: Error) => {};
  const told = await startWith({
    // The test fails by a rejection that nobody hears.
    context: async (_user, { include } = {}) => {
      if (include !== "index")
        return new Promise((_resolve, reject) => {
          fail = reject;
        });
      fail(new Error("late"));
      await new Promise(setImmediate);
      return contextOf("USER.name=Ada");
    },
  });
  assert.match(told, /USER\.name=Ada/);
});

test("Cursor's own names for the event, its folder and the context are understood", async () => {
  const fields = { hook_event_name: "sessionStart", workspace_roots: ["/home/ada/loom", "/other"] };
  const input = hookInput(JSON.stringify(fields));
  assert.equal(input.cwd, "/home/ada/loom");
  const options = {
    host: "cursor",
    include: "index",
    timeoutMs: 10,
    project: "loom",
    contextTokens: 800,
  } as const;
  const context = async () => ({ fdm_block: "", plain_index: "USER.name=Ada" });
  const memory = { context } as unknown as AgentMemory;
  const { output } = await memoryWork(input, "index")!(memory, "ada", input, options);
  const told = JSON.parse(output);
  assert.deepEqual(Object.keys(told), ["additional_context"]);
  assert.match(told.additional_context, /USER\.name=Ada/);
});

/** A transcript of these lines. */
function transcript(t: TestContext, ...lines: object[]): string {
  const folder = temporaryFolder(t);
  const path = join(folder, "transcript.jsonl");
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

const contextOf = (plain_index: string) => ({
  user_id: "ada",
  fdm_block: "",
  channel_count: 1,
  channel_labels: [],
  plain_index,
});
const knowing = (plain_index: string) => ({ context: async () => contextOf(plain_index) });
const shown = (content: string) => ({ type: "attachment", attachment: { content: [content] } });
const REPLACES = /^<sideband-memory>\n.*replaces every earlier one/;

test("a resumed session is told the facts only if they are others than those it shows, and that they replace them", async (t) => {
  const resumed = (plain: string, ...lines: object[]) =>
    startWith(knowing(plain), { source: "resume", transcript_path: transcript(t, ...lines) });
  const ada = memorySection(contextOf('USER.name=Ada "the" \\ <b> é\u2028'), "both");
  const grace = memorySection(contextOf("USER.name=Grace"), "both");
  assert.equal(await resumed('USER.name=Ada "the" \\ <b> é\u2028', shown(grace), shown(ada)), "");
  const replacing = await resumed("USER.name=Grace", shown(ada), { type: "user" });
  assert.match(replacing, REPLACES);
  assert.match(replacing, /USER\.name=Grace\n<\/sideband-memory>$/);
  assert.equal(
    await resumed("USER.name=Grace", shown(ada), shown(replacing)),
    "",
    "the third time, unchanged",
  );
  const gone = await resumed("", shown(ada));
  assert.match(gone, /Nothing is remembered any more\. This section replaces/);
  assert.equal(await resumed("", shown(ada), shown(gone)), "");
  // Nothing earlier that the model still sees: the plain section, or none.
  assert.equal(await resumed("USER.name=Grace", { type: "user" }), grace);
  assert.equal(await resumed("USER.name=Grace", shown(grace), { subtype: "compact_boundary" }), grace);
  assert.equal(await resumed("USER.name=Grace", shown(grace), { type: "compacted" }), grace);
  assert.equal(await resumed("", { type: "user" }), "");
  // A transcript that nobody can read may show anything.
  const unread = await startWith(knowing("USER.name=Grace"), {
    source: "resume",
    transcript_path: "/nowhere",
  });
  assert.match(unread, REPLACES);
});

test("of a transcript of 300 MB only the end is read, at a stop and at a resumption", async (t) => {
  const said = { message: { role: "assistant", content: "x" } };
  const path = transcript(t, ...Array(25).fill(said), { content: STORE_BEFORE_END });
  // A hole of zeros before what is appended takes no room on the disk.
  truncateSync(path, 300 << 20);
  const stop = () =>
    immediateOutput(hookInput(JSON.stringify({ hook_event_name: "Stop", transcript_path: path })), "codex");
  const start = process.cpuUsage();
  assert.equal(stop(), "", "what was said long ago is not counted");
  // Some hosts write JSON with blanks.
  const blank = JSON.stringify(said).replaceAll(":", ": ");
  const lines = [...Array(12).fill(JSON.stringify(said)), ...Array(13).fill(blank)].join("\n");
  writeFileSync(path, `\n${lines}\n`, { flag: "a" });
  assert.deepEqual(JSON.parse(stop()), { decision: "block", reason: STORE_BEFORE_END });
  // Codex spells it with entities.
  writeFileSync(path, JSON.stringify({ text: STORE_BEFORE_END.replace(/</g, "&lt;") }), { flag: "a" });
  assert.equal(stop(), "", "it was asked");
  const resumed = { source: "resume", transcript_path: path };
  assert.match(
    await startWith(knowing("USER.name=Grace"), resumed),
    REPLACES,
    "one may stand before its end",
  );
  // Processor time: a busy machine may take longer by the clock.
  const { user, system } = process.cpuUsage(start);
  assert.ok(user + system < 2e6, "reading it whole takes longer, and fails as one text");
});

test("memory that the person has turned off stays off, however long the session goes on", (t) => {
  const path = transcript(t, { content: "hello" });
  const chunk = 4 << 20;
  assert.equal(isTurnedOff({ transcriptPath: path }), false);
  assert.equal(isTurnedOff({ transcriptPath: undefined }), false);
  for (const before of [0, chunk - 10, chunk - TURNED_OFF.length, 2 * chunk - TURNED_OFF.length]) {
    writeFileSync(path, ".".repeat(before) + TURNED_OFF + ".".repeat(9 << 20));
    assert.equal(isTurnedOff({ transcriptPath: path }), true, `after ${before} bytes`);
  }
  writeFileSync(path, TURNED_OFF.slice(1) + ".".repeat(9 << 20) + TURNED_OFF.slice(0, -1));
  assert.equal(isTurnedOff({ transcriptPath: path }), false);
});
