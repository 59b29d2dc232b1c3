/**
 * npm run test:hosts [-- NAME …]: installs the hosts of package.json beside this file, runs each with a stand-in for its
 * model, and the frameworks that need a newer Node, lives through a day with Claude Code and through one of a team, measures the hooks, judges the
 * packages and runs the block in workerd, runs the tests of the other frameworks, and writes the tables in docs/agents/README.md. A step that failed fails the run.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../agents/built.ts";
import { runDay } from "./day.ts";
import { hermesTokens } from "./hermes.ts";
import { HOOK_MS_MAX, type HookTimes, measureHooks } from "./hook-times.ts";
import { runCline, runGeminiCli, runOpencode } from "./mcp-hosts.ts";
import { runPackages } from "./packages.ts";
import {
  type Row,
  runClaudeCode,
  runCodex,
  runInspector,
  runNewestFrameworks,
  runOpenClaw,
} from "./real-hosts.ts";
import { modules, openRoom, type Room } from "./room.ts";
import { writeTables } from "./table.ts";
import { runTeam } from "./team.ts";

const HOSTS: Readonly<Record<string, (room: Room) => Promise<Row | Row[]>>> = {
  "claude-code": runClaudeCode,
  codex: runCodex,
  openclaw: runOpenClaw,
  "gemini-cli": runGeminiCli,
  opencode: runOpencode,
  cline: runCline,
  inspector: runInspector,
  frameworks: runNewestFrameworks,
};
/** Programs that npm does not have: their files are written and taken out in the tests. */
const NOT_RUN = ["Cursor", "VS Code", "Windsurf", "Claude Desktop"];
/** What five facts may cost in a session, with all that Sideband adds to its first request. */
const TOKENS_MAX: Readonly<Record<string, number>> = { "Claude Code": 1_100 };

if (!existsSync(modules)) execFileSync("npm", ["ci"], { cwd: join(modules, ".."), stdio: "inherit" });
const wanted = process.argv.slice(2);
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
const rows: Row[] = [];
const faults: string[] = [];
let hooks: HookTimes | undefined;
const room = await openRoom();
try {
  for (const [name, run] of Object.entries(HOSTS)) {
    if (!isWanted(name)) continue;
    const row = await run(room);
    console.log(JSON.stringify(row));
    rows.push(...[row].flat());
  }
  if (isWanted("hooks")) {
    hooks = await measureHooks(room);
    console.log(JSON.stringify(hooks));
    for (const { event, cpuMs } of hooks.times)
      if (cpuMs > HOOK_MS_MAX) faults.push(`the hook ${event} takes ${cpuMs} ms of the processor`);
  }
} finally {
  await room.end();
}
if (wanted.length === 0) rows.push(...(await frameworks()));
if (isWanted("packages")) faults.push(...(await runPackages()));
if (isWanted("day")) await runDay();
if (isWanted("team")) await runTeam();
for (const row of rows) {
  if (Object.values(row).includes(false)) faults.push(`not all steps worked with ${row.host}`);
  if ((row.tokens ?? 0) > (TOKENS_MAX[row.host] ?? Number.POSITIVE_INFINITY))
    faults.push(`${row.host} has ${row.tokens} tokens of Sideband in a session`);
}
if (wanted.length === 0 && hooks !== undefined) writeTables(rows, hooks);
for (const fault of faults) console.error(fault);
// A host may leave a process of its own behind that has our output open.
process.exit(faults.length > 0 ? 1 : 0);

/** Frameworks are packages of the tests: their rows are what those tests show. */
async function frameworks(): Promise<Row[]> {
  const versionOf = (name: string) =>
    JSON.parse(readFileSync(join(packageFolder, "node_modules", name, "package.json"), "utf8")).version;
  const passes = (file: string) => {
    const args = ["--import", "tsx", "--test", join("test", "agents", file)];
    return spawnSync(process.execPath, args, { cwd: packageFolder, stdio: "ignore" }).status === 0;
  };
  const how = "`npm test`, its package";
  // In a room of its own, with nothing in it that the hosts have kept.
  const own = await openRoom();
  const tokens = await hermesTokens(own.settings).finally(() => own.end());
  const adapters = passes("adapters.test.ts");
  const shown = { install: true, section: adapters, remember: adapters, down: adapters };
  const graph = passes("langgraph.test.ts");
  const hermes = passes("hermes.test.ts");
  const files = passes("install-files.test.ts");
  return [
    { host: "AI SDK 6", version: versionOf("ai"), how, ...shown },
    { host: "AI SDK 6 oldest", version: versionOf("ai-6"), how, install: true, section: adapters },
    {
      ...{ host: "OpenAI Agents on Node 20", version: versionOf("@openai/agents"), how },
      ...{ ...shown, flush: adapters },
    },
    { host: "LangGraph", version: versionOf("@langchain/langgraph"), how, install: true, remember: graph },
    {
      ...{ host: "Hermes Agent", version: "", how: "not run: its plugin, by a loader like its own" },
      ...{ install: hermes, section: hermes, remember: hermes, flush: hermes, down: hermes, tokens },
    },
    ...NOT_RUN.map((host) => ({
      host,
      version: "",
      how: "not run: its file is written after its documents",
      install: files,
    })),
  ];
}
