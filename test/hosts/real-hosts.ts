/** The real hosts, each installed from npm, run through the same steps. What each step showed is a row of the table. */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ASKED_BEFORE_END } from "../../src/agent-side/prompts.ts";
import { tryAiSdkProgram } from "../agents/ai-sdk-program.ts";
import { packageFolder } from "../agents/built.ts";
import { ASK, FACT, modules, type Room } from "./room.ts";
import type { ModelRequest } from "./stand-in-model.ts";
import { addedTokens, isToldOnce } from "./tokens.ts";

/** What was seen; undefined for what a host does not have. */
export interface Row {
  readonly host: string;
  readonly version: string;
  readonly how: string;
  readonly install?: boolean;
  readonly section?: boolean;
  readonly subagent?: boolean;
  readonly remember?: boolean;
  /** Whether a second session gets what the first one kept, by the tool recall. */
  readonly recall?: boolean;
  /** Whether the agent of a long session is asked once, at its end, to store what is lasting. */
  readonly end?: boolean;
  /** Whether the memory is flushed before a compaction where the prompt has the block. */
  readonly flush?: boolean;
  readonly down?: boolean;
  /** What five facts cost in the first request of a session, with all that Sideband adds. */
  readonly tokens?: number;
}

export const HOW = "real run";
export const platform = `${process.platform}-${process.arch}`;
const WITH_BLOCK = { SIDEBAND_INCLUDE: "both" };
/** What a section says of the block in it. */
const BLOCK_NOTE = "it is read by Sideband, not by you";
/** In a prompt: the model starts a sub-agent, or works for long. */
const DELEGATE = "PLEASE-DELEGATE";
const DELEGATED = "WORK-OF-A-SUB-AGENT";
const WORK_LONG = "PLEASE-WORK-LONG";
const LONG_MESSAGES = 21;

/** Whether the facts are in the requests that the model has seen since. */
export function sectionSeen({ model }: Room): boolean {
  return model.requests.splice(0).some(({ text }) => text.includes(FACT));
}

/** The first request of a session that `start` begins. */
export async function firstRequest({ model }: Room, start: () => Promise<unknown>): Promise<ModelRequest> {
  model.requests.length = 0;
  await start();
  const [first] = model.requests.filter(({ toolNames }) => toolNames.length > 0);
  if (first === undefined) throw new Error("the host has asked no model");
  return first;
}

export function costOf(told: ModelRequest, bare: ModelRequest): number {
  if (!isToldOnce(told)) throw new Error("what is worth keeping is not said once");
  return addedTokens(told, bare);
}

/** Whether an agent that has worked for long is asked once, and not again when the session goes on. */
async function isAskedAtEnd(
  room: Room,
  start: (prompt: string) => Promise<unknown>,
  goOn: (prompt: string) => Promise<unknown>,
): Promise<boolean> {
  let messages = 0;
  room.model.requests.length = 0;
  room.reply = ({ text }) => {
    if (!text.includes(WORK_LONG) || messages === LONG_MESSAGES) return "done";
    messages += 1;
    return { text: `step ${messages}`, tool: "recall", input: {} };
  };
  await start(WORK_LONG);
  const askedIn = () =>
    room.model.requests.splice(0).map(({ text }) => text.split(ASKED_BEFORE_END).length - 1);
  const first = askedIn();
  await goOn("Thanks");
  const second = askedIn();
  room.reply = () => "done";
  // The last request of the first run answers to that. The next run has it in its history, and is not asked again.
  const isOnce = first.filter((times) => times > 0).length === 1 && first.at(-1) === second.at(-1);
  return messages === LONG_MESSAGES && isOnce && second.length === 1;
}

/** Whether a sub-agent has the facts. Its own request holds what it was given, but not what its agent was asked. */
async function isSubagentTold(room: Room, tool: string, input: object, start: () => Promise<unknown>) {
  let isDelegated = false;
  // Codex does not wait for its agents by itself.
  let isAwaited = tool !== "spawn_agent";
  room.model.requests.length = 0;
  room.reply = ({ text, toolNames }) => {
    const [, id] = /\bagent_id\W+([0-9a-f-]{36})/.exec(text) ?? [];
    if (text.includes(DELEGATE) && id !== undefined && !isAwaited) {
      isAwaited = true;
      return { tool: "wait_agent", input: { targets: [id] } };
    }
    if (isDelegated || !text.includes(DELEGATE) || !toolNames.some((name) => name.endsWith(tool)))
      return "done";
    isDelegated = true;
    return { tool, input };
  };
  await start();
  room.reply = () => "done";
  const own = room.model.requests
    .splice(0)
    .filter(({ text }) => text.includes(DELEGATED) && !text.includes(DELEGATE));
  return own.length > 0 && own.every(({ text }) => text.includes(FACT) && !text.includes(BLOCK_NOTE));
}

export async function runClaudeCode(room: Room): Promise<Row> {
  const claude = join(modules, "@anthropic-ai", `claude-code-${platform}`, "claude");
  const version = (await room.run(claude, ["--version"])).output.split(" ")[0].trim();
  const bare = await firstRequest(room, () => room.run(claude, ["-p", ASK]));
  await room.install("claude-code");
  const plugin = join(room.home, ".sideband", "claude-code");
  await room.run(claude, ["plugin", "marketplace", "add", plugin]);
  const installed = await room.run(claude, ["plugin", "install", "sideband@sideband"]);
  const tools = ["remember", "recall"].map((name) => `mcp__plugin_sideband_sideband__${name}`);
  const allowed = ["--allowedTools", tools.join(",")];
  room.expectGoal();
  const told = await firstRequest(room, () => room.run(claude, ["-p", ASK, ...allowed]));
  const section = sectionSeen(room);
  const remember = await room.isGoalKept();
  const delegated = { description: "look", prompt: DELEGATED, subagent_type: "Explore" };
  const subagent = await isSubagentTold(room, "Agent", delegated, () =>
    room.run(claude, ["-p", DELEGATE], WITH_BLOCK),
  );
  const end = await isAskedAtEnd(
    room,
    (prompt) => room.run(claude, ["-p", prompt, ...allowed]),
    (prompt) => room.run(claude, ["-p", prompt, "--continue"]),
  );
  const before = await room.flushes();
  await room.run(claude, ["-p", "/compact", "--continue"], WITH_BLOCK);
  const listed = room.model.requests.some(({ text }) => text.includes("To remember"));
  const flush = listed && (await room.flushes()) > before;
  const down = await room.run(claude, ["-p", "Hello"], room.away);
  return {
    host: "Claude Code",
    version,
    how: HOW,
    install: installed.status === 0,
    section,
    subagent,
    remember,
    end,
    flush,
    down: down.status === 0 && down.output.includes("done"),
    tokens: costOf(told, bare),
  };
}

export async function runCodex(room: Room): Promise<Row> {
  const vendor = join(modules, "@openai", `codex-${platform}`, "vendor");
  const codex = join(vendor, readdirSync(vendor)[0], "bin", "codex");
  const version = (await room.run(codex, ["--version"])).output.trim().split(" ").at(-1) ?? "";
  const provider = `{name="stand-in",base_url="${room.model.url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`;
  const options = [
    ...["-m", "stand-in", "-c", "model_provider=standin", "-c", `model_providers.standin=${provider}`],
    "--skip-git-repo-check",
  ];
  const trusted = [...options, "--dangerously-bypass-hook-trust"];
  const bare = await firstRequest(room, () => room.run(codex, ["exec", ...options, ASK]));
  await room.install("codex");
  const listed = await room.run(codex, ["mcp", "list"]);
  room.model.requests.length = 0;
  await room.run(codex, ["exec", ...options, "Hello"]);
  // What the installation warns of: hooks that nobody has trusted are skipped without a word.
  if (sectionSeen(room)) throw new Error("Codex ran hooks that nobody has trusted: say so in its page");
  // Its first turn does not wait for servers that are not required, and this machine may be busy.
  const waiting = [...trusted, "-c", "mcp_servers.sideband.required=true"];
  room.expectGoal();
  const told = await firstRequest(room, () => room.run(codex, ["exec", ...waiting, ASK]));
  const section = sectionSeen(room);
  const remember = await room.isGoalKept();
  const subagent = await isSubagentTold(room, "spawn_agent", { message: DELEGATED }, () =>
    room.run(codex, ["exec", ...waiting, DELEGATE], WITH_BLOCK),
  );
  const end = await isAskedAtEnd(
    room,
    (prompt) => room.run(codex, ["exec", ...waiting, prompt]),
    (prompt) => room.run(codex, ["exec", "resume", "--last", ...waiting, prompt]),
  );
  const before = await room.flushes();
  // Every answer counts 15 tokens: the next turn begins with a compaction.
  await room.run(
    codex,
    [...["exec", "resume", "--last", ...trusted, "-c", "model_auto_compact_token_limit=12", "Go on"]],
    WITH_BLOCK,
  );
  const flush = (await room.flushes()) > before;
  const down = await room.run(codex, ["exec", ...trusted, "Hello"], room.away);
  return {
    host: "Codex CLI",
    version,
    how: HOW,
    install: listed.output.includes("sideband"),
    section,
    subagent,
    remember,
    end,
    flush,
    down: down.status === 0 && down.output.includes("done"),
    tokens: costOf(told, bare),
  };
}

export async function runOpenClaw(room: Room): Promise<Row> {
  const node = join(modules, `node-${platform}`, "bin", "node");
  const main = join(modules, "openclaw", "openclaw.mjs");
  const openclaw = (args: string[], env: Record<string, string> = {}) =>
    room.run(node, [main, ...args], { PATH: `${join(node, "..")}:/usr/bin:/bin`, ...env });
  const { version } = JSON.parse(readFileSync(join(modules, "openclaw", "package.json"), "utf8"));
  const folder = join(room.home, ".openclaw");
  mkdirSync(folder, { recursive: true });
  const standIn = {
    id: "stand-in",
    name: "Stand-in",
    contextWindow: 200_000,
    maxTokens: 4_096,
    input: ["text"],
  };
  const provider = {
    baseUrl: room.model.url,
    apiKey: "stand-in",
    api: "anthropic-messages",
    models: [standIn],
  };
  writeFileSync(
    join(folder, "openclaw.json"),
    JSON.stringify({
      models: { providers: { standin: provider } },
      agents: {
        defaults: {
          model: { primary: "standin/stand-in" },
          workspace: room.repository,
          // What is said a moment ago is kept: a short conversation has nothing to compact otherwise.
          compaction: { mode: "default", keepRecentTokens: 100 },
        },
      },
      tools: { toolSearch: false },
    }),
  );
  const agent = ["agent", "--local", "--agent", "main", "--message"];
  const bare = await firstRequest(room, () => openclaw([...agent, ASK]));
  await room.install("openclaw");
  const plugin = join(folder, "sideband-plugin");
  const installed = await openclaw([
    ...["plugins", "install", "--link", plugin, "--force", "--accept-capabilities"],
  ]);
  await openclaw(["config", "set", "plugins.slots.memory", "sideband"]);
  await openclaw(["config", "set", "plugins.entries.sideband.hooks.allowConversationAccess", "true"]);
  room.expectGoal();
  const told = await firstRequest(room, () => openclaw([...agent, ASK]));
  const section = sectionSeen(room);
  const remember = await room.isGoalKept();
  const before = await room.flushes();
  // Its command line has no compaction to ask for: it compacts where the provider says that the prompt is too long.
  let isTooLong = true;
  room.reply = ({ text }) => {
    const isOverflow = isTooLong && text.includes("GO-ON");
    if (isOverflow) isTooLong = false;
    return isOverflow ? { isOverflow } : "done";
  };
  const compacted = await openclaw([...agent, "GO-ON"], WITH_BLOCK);
  room.reply = () => "done";
  const flush = !isTooLong && compacted.status === 0 && (await room.flushes()) > before;
  const down = await openclaw([...agent, "Hello"], room.away);
  return {
    host: "OpenClaw",
    version,
    how: HOW,
    install: installed.status === 0 && existsSync(plugin),
    section,
    remember,
    flush,
    down: down.status === 0 && down.output.includes("done"),
    tokens: costOf(told, bare),
  };
}

export async function runInspector(room: Room): Promise<Row> {
  const folder = join(modules, "@modelcontextprotocol", "inspector");
  const { version, bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const node = join(modules, `node-${platform}`, "bin", "node");
  // It hands only what it is told to its servers.
  const call = (env: Record<string, string>, ...args: string[]) => {
    const given = Object.entries({ ...room.settings, ...env }).flatMap(([name, value]) => [
      "-e",
      `${name}=${value}`,
    ]);
    return room.run(node, [join(folder, bin["mcp-inspector"]), "--cli", ...args, ...given]);
  };
  const server = [process.execPath, room.packed.script, "mcp"];
  const tools = await call({}, ...server, "--method", "tools/list");
  const fact = ["--tool-arg", "label=PROJ.goal", "--tool-arg", "value=weave the loom"];
  const remember = ["--method", "tools/call", "--tool-name", "remember", ...fact];
  await call({}, ...server, ...remember);
  const down = await call(room.away, ...server, ...remember);
  return {
    host: "MCP inspector",
    version,
    how: HOW,
    install: tools.output.includes('"remember"'),
    remember: await room.isGoalKept(),
    down: down.output.includes("connection_failed"),
  };
}

const NEWEST = "newest-frameworks.mjs";

/** The frameworks that do not promise to run on Node 20, beside the packed package. */
export async function runNewestFrameworks(room: Room): Promise<Row[]> {
  const { folder } = room.packed;
  for (const name of ["ai", "@openai/agents"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(modules, name), link, "dir");
  }
  copyFileSync(join(modules, "..", NEWEST), join(folder, NEWEST));
  const node = join(modules, `node-${platform}`, "bin", "node");
  const away = { AWAY_URL: room.away.SIDEBAND_API_URL };
  const { status, output } = await room.run(node, [join(folder, NEWEST)], away);
  if (status !== 0) throw new Error(output);
  const settings = { SIDEBAND_API_URL: room.running.url, SIDEBAND_API_KEY: room.running.key };
  for (const sideband of [dirname(dirname(room.packed.script)), packageFolder])
    await tryAiSdkProgram({ sdk: join(modules, "ai"), specificationVersion: "v4", sideband, settings, node });
  const rows = JSON.parse(output.trim().split("\n").at(-1) ?? "") as Record<string, Partial<Row>>;
  const packages: Record<string, string> = { "AI SDK 7": "ai", "OpenAI Agents": "@openai/agents" };
  return Object.entries(rows).map(([host, row]) => {
    const { version } = JSON.parse(readFileSync(join(modules, packages[host], "package.json"), "utf8"));
    return { host, version, how: "its package, on Node 24", install: true, ...row };
  });
}
