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
import { tryAiSdkProgram } from "../agents/ai-sdk-program.ts";
import { packageFolder } from "../agents/built.ts";
import { ASK, modules, type Room } from "./room.ts";

/** What was seen; undefined for what a host does not have. */
export interface Row {
  readonly host: string;
  readonly version: string;
  readonly how: string;
  readonly install?: boolean;
  readonly section?: boolean;
  readonly remember?: boolean;
  readonly flush?: boolean;
  readonly down?: boolean;
}

const FACT = "USER.name=Ada Lovelace";
const HOW = "real run";
const platform = `${process.platform}-${process.arch}`;

/** Whether the facts are in the requests that the model has seen since. */
function sectionSeen({ model }: Room): boolean {
  return model.requests.splice(0).some(({ text }) => text.includes(FACT));
}

export async function runClaudeCode(room: Room): Promise<Row> {
  const claude = join(modules, "@anthropic-ai", `claude-code-${platform}`, "claude");
  const version = (await room.run(claude, ["--version"])).output.split(" ")[0].trim();
  await room.install("claude-code");
  const plugin = join(room.home, ".sideband", "claude-code");
  await room.run(claude, ["plugin", "marketplace", "add", plugin]);
  const installed = await room.run(claude, ["plugin", "install", "sideband@sideband"]);
  const allowed = ["--allowedTools", "mcp__plugin_sideband_sideband__remember"];
  room.expectGoal();
  await room.run(claude, ["-p", ASK, ...allowed]);
  const section = sectionSeen(room);
  const remember = await room.isGoalKept();
  const before = await room.flushes();
  await room.run(claude, ["-p", "/compact", "--continue"]);
  const listed = room.model.requests.some(({ text }) => text.includes("To remember"));
  const flush = listed && (await room.flushes()) > before;
  const down = await room.run(claude, ["-p", "Hello"], room.away);
  return {
    host: "Claude Code",
    version,
    how: HOW,
    install: installed.status === 0,
    section,
    remember,
    flush,
    down: down.status === 0 && down.output.includes("done"),
  };
}

export async function runCodex(room: Room): Promise<Row> {
  const vendor = join(modules, "@openai", `codex-${platform}`, "vendor");
  const codex = join(vendor, readdirSync(vendor)[0], "bin", "codex");
  const version = (await room.run(codex, ["--version"])).output.trim().split(" ").at(-1) ?? "";
  await room.install("codex");
  const provider = `{name="stand-in",base_url="${room.model.url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`;
  const options = [
    ...["-m", "stand-in", "-c", "model_provider=standin", "-c", `model_providers.standin=${provider}`],
    "--skip-git-repo-check",
  ];
  const trusted = [...options, "--dangerously-bypass-hook-trust"];
  const listed = await room.run(codex, ["mcp", "list"]);
  room.model.requests.length = 0;
  await room.run(codex, ["exec", ...options, "Hello"]);
  // What the installation warns of: hooks that nobody has trusted are skipped without a word.
  if (sectionSeen(room)) throw new Error("Codex ran hooks that nobody has trusted: say so in its page");
  // Its first turn does not wait for servers that are not required, and this machine may be busy.
  room.expectGoal();
  await room.run(codex, ["exec", ...trusted, "-c", "mcp_servers.sideband.required=true", ASK]);
  const section = sectionSeen(room);
  const remember = await room.isGoalKept();
  const before = await room.flushes();
  // Every answer counts 15 tokens: the next turn begins with a compaction.
  await room.run(codex, [
    ...["exec", "resume", "--last", ...trusted, "-c", "model_auto_compact_token_limit=12", "Go on"],
  ]);
  const flush = (await room.flushes()) > before;
  const down = await room.run(codex, ["exec", ...trusted, "Hello"], room.away);
  return {
    host: "Codex CLI",
    version,
    how: HOW,
    install: listed.output.includes("sideband"),
    section,
    remember,
    flush,
    down: down.status === 0 && down.output.includes("done"),
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
      agents: { defaults: { model: { primary: "standin/stand-in" }, workspace: room.repository } },
      tools: { toolSearch: false },
    }),
  );
  await room.install("openclaw");
  const plugin = join(folder, "sideband-plugin");
  const installed = await openclaw([
    ...["plugins", "install", "--link", plugin, "--force", "--accept-capabilities"],
  ]);
  await openclaw(["config", "set", "plugins.slots.memory", "sideband"]);
  await openclaw(["config", "set", "plugins.entries.sideband.hooks.allowConversationAccess", "true"]);
  const agent = ["agent", "--local", "--agent", "main", "--message"];
  room.model.requests.length = 0;
  room.expectGoal();
  await openclaw([...agent, ASK]);
  const section = sectionSeen(room);
  const remember = await room.isGoalKept();
  const before = await room.flushes();
  await openclaw([...agent, "/compact"]);
  const flush = (await room.flushes()) > before;
  const down = await openclaw([...agent, "Hello"], room.away);
  return {
    host: "OpenClaw",
    version,
    how: HOW,
    install: installed.status === 0 && existsSync(plugin),
    section,
    remember,
    // Its command line has no compaction to ask for; the plugin's part is in test/agents/openclaw.test.ts.
    ...(flush ? { flush } : {}),
    down: down.status === 0 && down.output.includes("done"),
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
