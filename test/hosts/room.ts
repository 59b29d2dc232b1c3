/**
 * A place in which hosts run: a home folder with a git repository, a service with a fact in it, a stand-in model, and
 * Sideband as npm packs it, installed with npx. Nothing outside of this machine is asked.
 */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectName } from "../../src/agents/project.ts";
import { type PackedProject, packedProject } from "../agents/packed.ts";
import { type Running, startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { type ModelRequest, type Reply, type StandInModel, startStandInModel } from "./stand-in-model.ts";

export const modules = fileURLToPath(new URL("node_modules", import.meta.url));

/** The words in a prompt that make the stand-in model keep a fact. */
export const ASK = "PLEASE-REMEMBER the goal";
export const GOAL = "weave the loom";
/** The words that make it look the goal up. */
export const LOOK = "PLEASE-RECALL the goal";
/** What is known of the person before a host starts. */
const FACTS = [
  { label: "USER.name", value: "Ada Lovelace" },
  { label: "USER.role", value: "weaver of algebraic patterns" },
  { label: "USER.timezone", value: "Europe/London" },
  { label: "PREF.tone", value: "dry" },
  { label: "PREF.editor", value: "vim" },
];
/** A line of a section that has them. */
export const FACT = `${FACTS[0].label}=${FACTS[0].value}`;

export interface Finished {
  readonly status: number | null;
  readonly output: string;
}

export interface Room {
  readonly home: string;
  readonly repository: string;
  readonly running: Running;
  readonly model: StandInModel;
  readonly packed: PackedProject;
  /** Runs a program as a person in the repository would. */
  run(program: string, args: readonly string[], env?: Record<string, string>): Promise<Finished>;
  /** Installs Sideband's files for an agent with npx, and gives the line that says so. */
  install(agent: string): Promise<void>;
  /** What the model says to requests that it is given no other answer for. */
  reply: (request: ModelRequest) => Reply;
  /** From now on the model keeps the goal, once, when it is asked to. */
  expectGoal(): void;
  /** Whether the goal was kept for the project, and not for the person. */
  isGoalKept(): Promise<boolean>;
  flushes(): Promise<number>;
  /** Where Sideband finds the service, as variables. */
  readonly settings: Record<string, string>;
  /** The environment in which the service is away. */
  readonly away: Record<string, string>;
  end(): Promise<void>;
}

const LIMIT_MS = 300_000;

export async function openRoom(): Promise<Room> {
  const running = await startRunning();
  // A host that compacts shows the model its question again: it keeps the fact once.
  let kept = true;
  const script = ({ path, text, toolNames }: ModelRequest): Reply => {
    if (kept || !text.includes(ASK) || !toolNames.some((name) => name.endsWith("remember")))
      return room.reply({ path, text, toolNames });
    kept = true;
    return { tool: "remember", input: { label: "PROJ.goal", value: GOAL } };
  };
  const model = await startStandInModel(script);
  const packed = packedProject();
  // Below the home folder: some hosts refuse to work in the folder for temporary files.
  const home = realpathSync(mkdtempSync(join(homedir(), ".sideband-hosts-")));
  const repository = join(home, "loom");
  mkdirSync(repository);
  execFileSync("git", ["init", "-q"], { cwd: repository });
  await running.call("POST", "/encode/batch", { body: { user_id: "ada", facts: FACTS } });
  const settings = {
    SIDEBAND_API_URL: running.url,
    SIDEBAND_API_KEY: running.key,
    SIDEBAND_USER_ID: "ada",
    SIDEBAND_TIMEOUT_MS: "10000",
  };
  const environment = {
    ...settings,
    PATH: process.env.PATH ?? "",
    HOME: home,
    USER: "ada",
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "stand-in",
    OPENAI_API_KEY: "stand-in",
    DISABLE_TELEMETRY: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  const run: Room["run"] = (program, args, env = {}) =>
    finished(program, args, repository, { ...environment, ...env });
  const place = `user_id=ada&project=${projectName(repository)}`;
  const room: Room = {
    home,
    repository,
    running,
    model,
    packed,
    run,
    settings,
    away: { SIDEBAND_API_URL: await closedPort() },
    reply: () => "done",
    async install(agent) {
      const args = ["--no", "sideband", "agents", "install", agent];
      const { status, output } = await finished("npx", args, packed.folder, environment);
      if (status !== 0) throw new Error(output);
    },
    expectGoal() {
      kept = false;
    },
    async isGoalKept() {
      const path = `/decode?${place}&label=PROJ.goal`;
      const isThere = (await running.call("GET", path)).json.value === GOAL;
      await running.call("DELETE", `/facts?${place}&label=PROJ.goal`);
      const { channel_count } = (await running.call("GET", "/facts?user_id=ada")).json;
      return isThere && channel_count === FACTS.length;
    },
    async flushes() {
      const { text } = await running.call("GET", "/metrics");
      return Number(/route="\/flush",status="200"\} (\d+)/.exec(text)?.[1] ?? 0);
    },
    async end() {
      await model.end();
      await running.end();
      packed.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return room;
}

export function finished(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: LIMIT_MS });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}
