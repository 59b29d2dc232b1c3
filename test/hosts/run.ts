/**
 * npm run test:hosts [-- NAME …]: installs the hosts of package.json beside this file, runs each with a stand-in for its
 * model, measures the hooks, runs the tests of the frameworks, and writes the table in docs/agents/README.md. A step
 * that failed fails the run.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../agents/built.ts";
import { type Row, runClaudeCode, runCodex, runInspector, runOpenClaw } from "./real-hosts.ts";
import { modules, openRoom, type Room } from "./room.ts";

const HOSTS: Readonly<Record<string, (room: Room) => Promise<Row>>> = {
  "claude-code": runClaudeCode,
  codex: runCodex,
  openclaw: runOpenClaw,
  inspector: runInspector,
};
const ROUNDS = 15;
const PAGE = join(packageFolder, "docs", "agents", "README.md");
const HEAD = [
  "| host | version | how | install | section in the prompt | remember | flush before compaction | service down | median of a hook |",
  "|---|---|---|---|---|---|---|---|---|",
];

if (!existsSync(modules)) {
  execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: join(modules, ".."), stdio: "inherit" });
}
const wanted = process.argv.slice(2);
const rows: Row[] = [];
const room = await openRoom();
let hooks = "";
try {
  for (const [name, run] of Object.entries(HOSTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const row = await run(room);
    console.log(JSON.stringify(row));
    rows.push(row);
  }
  hooks = await hookTimes(room);
  console.log(hooks);
} finally {
  await room.end();
}
rows.push(...frameworks());
const failed = rows.filter((row) => Object.values(row).includes(false)).map(({ host }) => host);
if (wanted.length === 0) writeTable();
if (failed.length > 0) {
  console.error(`not all steps worked with ${failed.join(", ")}`);
  process.exitCode = 1;
}
// A host may leave a process of its own behind that has our output open.
process.exit();

/** The median time of the hooks against the running service, beyond a start of Node that does nothing. */
async function hookTimes({ run, packed, repository }: Room): Promise<string> {
  const events = ["SessionStart", "PreCompact"];
  const times = new Map<string, number[]>([
    ["", []],
    ...events.map((event) => [event, []] as const),
  ] as never);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [event, list] of times) {
      const input = JSON.stringify({ hook_event_name: event, source: "startup", cwd: repository });
      const hook = `printf %s '${input}' | "${process.execPath}" "${packed.script}" hook`;
      const line = event === "" ? `printf %s x | "${process.execPath}" -e 0` : hook;
      const startMs = performance.now();
      const { status, output } = await run("/bin/sh", ["-c", line]);
      list.push(performance.now() - startMs);
      if (status !== 0 || output.includes("without memory")) throw new Error(output);
    }
  }
  const median = (name: string) => times.get(name)!.sort((a, b) => a - b)[ROUNDS >> 1];
  return events.map((event) => `${event} ${Math.round(median(event) - median(""))} ms`).join(", ");
}

/** Frameworks are packages of the tests: their rows are what those tests show. */
function frameworks(): Row[] {
  const versionOf = (name: string) =>
    JSON.parse(readFileSync(join(packageFolder, "node_modules", name, "package.json"), "utf8")).version;
  const passes = (file: string) => {
    const args = ["--import", "tsx", "--test", join("test", "agents", file)];
    return spawnSync(process.execPath, args, { cwd: packageFolder, stdio: "ignore" }).status === 0;
  };
  const how = "`npm test`, its package";
  const adapters = passes("adapters.test.ts");
  const shown = { install: true, section: adapters, remember: adapters, down: adapters };
  const graph = passes("langgraph.test.ts");
  const hermes = passes("hermes.test.ts");
  return [
    { host: "AI SDK 7", version: versionOf("ai"), how, ...shown },
    { host: "AI SDK 6", version: versionOf("ai-6"), how, install: true, section: adapters },
    { host: "OpenAI Agents", version: versionOf("@openai/agents"), how, ...shown, flush: adapters },
    { host: "LangGraph", version: versionOf("@langchain/langgraph"), how, install: true, remember: graph },
    {
      ...{ host: "Hermes Agent", version: "", how: "by its loader" },
      ...{ install: hermes, section: hermes, remember: hermes, flush: hermes, down: hermes },
    },
  ];
}

function writeTable(): void {
  const word = (value: boolean | undefined) => (value === undefined ? "" : value ? "yes" : "**no**");
  const lines = rows.map(({ host, version, how, install, section, remember, flush, down }) => {
    const usesHooks = host === "Claude Code" || host === "Codex CLI";
    const words = [install, section, remember, flush, down].map(word);
    return `| ${[host, version, how, ...words, usesHooks ? hooks : ""].join(" | ")} |`;
  });
  const page = readFileSync(PAGE, "utf8");
  const table = [...HEAD, ...lines].join("\n");
  const marks = /(<!-- hosts -->\n)[\s\S]*?(\n<!-- end of hosts -->)/;
  if (!marks.test(page)) throw new Error(`${PAGE} has no place for the table`);
  writeFileSync(
    PAGE,
    page.replace(marks, (_, open, close) => `${open}${table}${close}`),
  );
}
