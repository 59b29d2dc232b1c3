/** Hosts whose settings file gets an entry, run for real: keep a fact in a session, find it in the next. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { costOf, firstRequest, HOW, platform, type Row, sectionSeen } from "./real-hosts.ts";
import { ASK, type Finished, GOAL, LOOK, modules, type Room } from "./room.ts";

const NODE = join(modules, `node-${platform}`, "bin", "node");

/** Runs a host with a prompt. */
type Prompt = (prompt: string, env?: Record<string, string>) => Promise<Finished>;

/** The steps that are the same for all of them. */
async function runMcpHost(
  room: Room,
  name: string,
  prompt: Prompt,
  hasSection: boolean,
): Promise<Omit<Row, "host" | "version" | "how">> {
  const bare = await firstRequest(room, () => prompt(ASK));
  await room.install(name);
  room.expectGoal();
  const told = await firstRequest(room, () => prompt(ASK));
  const section = sectionSeen(room);
  const recall = await isRecalled(room, prompt);
  const inPrompt = room.model.requests[0]?.text.includes(`PROJ.goal=${GOAL}`) === true;
  const remember = await room.isGoalKept();
  const down = await prompt("Hello", room.away);
  return {
    install: told.toolNames.some((tool) => tool.endsWith("remember")),
    ...(hasSection ? { section: section && inPrompt } : {}),
    remember,
    recall,
    down: down.status === 0 && down.output.includes("done"),
    ...(hasSection ? { tokens: costOf(told, bare) } : {}),
  };
}

/** A second session: the model calls recall, and the next request has what the first session kept. */
async function isRecalled(room: Room, prompt: Prompt): Promise<boolean> {
  let isAsked = false;
  room.model.requests.length = 0;
  room.reply = ({ text, toolNames }) => {
    if (isAsked || !text.includes(LOOK) || !toolNames.some((tool) => tool.endsWith("recall"))) return "done";
    isAsked = true;
    return { tool: "recall", input: { label: "PROJ.goal" } };
  };
  await prompt(LOOK);
  room.reply = () => "done";
  // Its section may have the goal too, which every request of the session has.
  const [first = 0, last = 0] = [0, -1].map((i) => room.model.requests.at(i)?.text.split(GOAL).length);
  return isAsked && last > first;
}

export async function runGeminiCli(room: Room): Promise<Row> {
  const folder = join(modules, "@google", "gemini-cli");
  const { version, bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const settings = join(room.home, ".gemini", "settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(
    settings,
    JSON.stringify({
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    }),
  );
  // A model of its own name: otherwise a first request asks which one to take.
  const options = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo"];
  const prompt: Prompt = (text, env = {}) =>
    room.run(NODE, [join(folder, bin.gemini), ...options, "-p", text], {
      GEMINI_API_KEY: "stand-in",
      GOOGLE_GEMINI_BASE_URL: room.model.url,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true",
      ...env,
    });
  return { host: "Gemini CLI", version, how: HOW, ...(await runMcpHost(room, "gemini-cli", prompt, true)) };
}

export async function runOpencode(room: Room): Promise<Row> {
  const folder = join(modules, `opencode-${platform}`);
  const opencode = join(folder, "bin", "opencode");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const settings = join(room.home, ".config", "opencode", "opencode.jsonc");
  mkdirSync(dirname(settings), { recursive: true });
  const provider = { anthropic: { options: { baseURL: `${room.model.url}/v1`, apiKey: "stand-in" } } };
  const own = JSON.stringify({ model: "anthropic/claude-sonnet-4-5", provider, share: "disabled" }, null, 2);
  const comment = "// The user's own comment.\n";
  writeFileSync(settings, `${comment}${own}\n`);
  const prompt: Prompt = (text, env = {}) =>
    room.run(opencode, ["run", text], {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      ...env,
    });
  const seen = await runMcpHost(room, "opencode", prompt, true);
  const install = seen.install === true && readFileSync(settings, "utf8").startsWith(comment);
  return { host: "opencode", version, how: HOW, ...seen, install };
}

const CLINE_PROGRAM = "cline-program.mjs";

/** Its command line is a program for each system; the harness in it is a package that Node runs. */
export async function runCline(room: Room): Promise<Row> {
  const { version } = JSON.parse(readFileSync(join(modules, "@cline", "sdk", "package.json"), "utf8"));
  const program = join(modules, "..", CLINE_PROGRAM);
  const prompt: Prompt = (text, env = {}) =>
    room.run(NODE, [program, text, `${room.model.url}/v1`], { CLINE_TELEMETRY_DISABLED: "1", ...env });
  const how = "its package, on Node 24";
  return { host: "Cline", version, how, ...(await runMcpHost(room, "cline", prompt, false)) };
}
