/**
 * npm run test:hosts [-- NAME …]: installs the hosts of package.json beside this file, runs each with a stand-in for its
 * model, and the frameworks that need a newer Node, measures the hooks, runs the tests of the other frameworks, and writes
 * the table in docs/agents/README.md. A step that failed fails the run.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../agents/built.ts";
import {
  type Row,
  runClaudeCode,
  runCodex,
  runInspector,
  runNewestFrameworks,
  runOpenClaw,
} from "./real-hosts.ts";
import { modules, openRoom, type Room } from "./room.ts";
import { writeTable } from "./table.ts";

const HOSTS: Readonly<Record<string, (room: Room) => Promise<Row | Row[]>>> = {
  "claude-code": runClaudeCode,
  codex: runCodex,
  openclaw: runOpenClaw,
  inspector: runInspector,
  frameworks: runNewestFrameworks,
};
const ROUNDS = 15;

interface Measured {
  readonly wholeMs: number;
  readonly cpuMs: number;
}

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
    rows.push(...[row].flat());
  }
  hooks = await hookTimes(room);
  console.log(hooks);
} finally {
  await room.end();
}
rows.push(...frameworks());
const failed = rows.filter((row) => Object.values(row).includes(false)).map(({ host }) => host);
if (wanted.length === 0) writeTable(rows, hooks);
if (failed.length > 0) {
  console.error(`not all steps worked with ${failed.join(", ")}`);
  process.exitCode = 1;
}
// A host may leave a process of its own behind that has our output open.
process.exit();

/**
 * The median time of the hooks against the running service, beyond a start of Node that does nothing; and the processor
 * time in it, which a busy machine does not change.
 */
async function hookTimes({ run, packed, repository }: Room): Promise<string> {
  const measure = async (event: string) => {
    const input = JSON.stringify({ hook_event_name: event, source: "startup", cwd: repository });
    const program = event === "" ? "-e 0" : `"${packed.script}" hook`;
    const line = `TIMEFORMAT="%R %U %S"; time "${process.execPath}" ${program} <<< '${input}' > /dev/null`;
    const { output } = await run("bash", ["-c", line]);
    // Anything before the times is a line of a hook that failed.
    const [wholeS, userS, systemS] = output.trim().split(" ").map(Number);
    if (Number.isNaN(systemS)) throw new Error(output);
    return { wholeMs: wholeS * 1000, cpuMs: (userS + systemS) * 1000 };
  };
  const times = new Map(["", "SessionStart", "PreCompact"].map((event) => [event, [] as Measured[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [event, list] of times) list.push(await measure(event));
  }
  const median = (event: string, time: keyof Measured) =>
    times
      .get(event)!
      .map((measured) => measured[time])
      .sort((a, b) => a - b)[ROUNDS >> 1];
  const beyond = (event: string, time: keyof Measured) =>
    `${Math.round(median(event, time) - median("", time))} ms`;
  return ["SessionStart", "PreCompact"]
    .map((event) => `${event} ${beyond(event, "wholeMs")} (processor ${beyond(event, "cpuMs")})`)
    .join(", ");
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
    { host: "AI SDK 6", version: versionOf("ai"), how, ...shown },
    { host: "AI SDK 6 oldest", version: versionOf("ai-6"), how, install: true, section: adapters },
    {
      ...{ host: "OpenAI Agents on Node 20", version: versionOf("@openai/agents"), how },
      ...{ ...shown, flush: adapters },
    },
    { host: "LangGraph", version: versionOf("@langchain/langgraph"), how, install: true, remember: graph },
    {
      ...{ host: "Hermes Agent", version: "", how: "by its loader" },
      ...{ install: hermes, section: hermes, remember: hermes, flush: hermes, down: hermes },
    },
  ];
}
