/**
 * The day of a team of three with one repository: each has a home folder, a key of their own and a real host, and one
 * service has what they share. Ada shares the project; Grace joins with another host and has the facts in her first
 * session, and changes one; Ada's next session says so; Linus is removed and gets nothing. What a session is told is read
 * from the requests that its model gets, and from what its host prints.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { packedProject } from "../agents/packed.ts";
import { startRunning } from "../http/running-service.ts";
import { CLAUDE } from "./claude-sessions.ts";
import { platform } from "./real-hosts.ts";
import { finished, modules } from "./room.ts";
import { type ModelRequest, type Reply, startStandInModel } from "./stand-in-model.ts";

const STACK = { label: "PROJ.stack", value: "Node 20" };
const NEWER = { label: "PROJ.stack", value: "Node 24" };
const TEAM = "Shared with the user's team";
const KEEP = "PLEASE-KEEP";

export async function runTeam(): Promise<void> {
  const packed = packedProject();
  const running = await startRunning();
  const { keys } = running.service.core;
  const root = realpathSync(mkdtempSync(join(homedir(), ".sideband-team-")));
  /** What the model keeps when it is asked to, once. */
  let kept: object | undefined;
  const script = ({ text, toolNames }: ModelRequest): Reply => {
    if (kept === undefined || !text.includes(KEEP) || !toolNames.some((name) => name.endsWith("remember")))
      return "done";
    const input = kept;
    kept = undefined;
    return { tool: "remember", input };
  };
  const model = await startStandInModel(script);
  const step = (line: string) => console.log(`  ${line}`);

  /** A person with a home folder, a clone of the repository and a key that is bound to them. */
  const person = async (user: string) => {
    const home = join(root, user);
    const folder = join(home, "work", "loom");
    mkdirSync(folder, { recursive: true });
    for (const args of [
      ["init", "-q"],
      ["remote", "add", "origin", "git@example.com:team/loom.git"],
    ])
      execFileSync("git", args, { cwd: folder, stdio: "ignore" });
    const { key } = await keys.create({ account: "acme", tier: "unlimited", user });
    const env = {
      ...{ PATH: process.env.PATH ?? "", HOME: home, USER: user, SIDEBAND_USER_ID: user },
      ...{ SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: key, SIDEBAND_TIMEOUT_MS: "8000" },
      ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "stand-in", OPENAI_API_KEY: "stand-in" },
      ...{ DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    };
    const run = async (program: string, args: readonly string[], more: Record<string, string> = {}) => {
      model.requests.length = 0;
      const { status, output } = await finished(program, args, folder, { ...env, ...more });
      assert.equal(status, 0, output);
      return { output, told: model.requests.map(({ text }) => text).join("\n") };
    };
    /** `sideband` at a terminal. */
    const sideband = (args: readonly string[], more?: Record<string, string>) =>
      run(process.execPath, [packed.script, ...args], more);
    return { home, run, sideband };
  };
  type Person = Awaited<ReturnType<typeof person>>;

  const withClaude = async ({ home, run, sideband }: Person) => {
    await sideband(["agents", "install", "claude-code"]);
    await run(CLAUDE, ["plugin", "marketplace", "add", join(home, ".sideband", "claude-code")]);
    await run(CLAUDE, ["plugin", "install", "sideband@sideband"]);
    const tools = ["--allowedTools", "mcp__plugin_sideband_sideband__remember"];
    return (prompt: string) =>
      run(CLAUDE, ["-p", prompt, "--output-format", "stream-json", "--verbose", ...tools]);
  };
  const withCodex = async ({ run, sideband }: Person) => {
    await sideband(["agents", "install", "codex"]);
    const vendor = join(modules, "@openai", `codex-${platform}`, "vendor");
    const codex = join(vendor, readdirSync(vendor)[0], "bin", "codex");
    const provider = `{name="stand-in",base_url="${model.url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`;
    const options = [
      ...["-m", "stand-in", "-c", "model_provider=standin", "-c", `model_providers.standin=${provider}`],
      ...["--skip-git-repo-check", "--dangerously-bypass-hook-trust"],
      ...["-c", "mcp_servers.sideband.required=true"],
    ];
    return (prompt: string) => run(codex, ["exec", ...options, prompt]);
  };

  try {
    step("Ada keeps a fact, and shares the project with Grace and Linus");
    const [ada, grace, linus] = [await person("ada"), await person("grace"), await person("linus")];
    const asAda = await withClaude(ada);
    kept = STACK;
    await asAda(KEEP);
    const alone = await asAda("Hello");
    assert.ok(alone.told.includes("PROJ.stack=Node 20") && !alone.told.includes(TEAM), "it is Ada's own");
    // Her own key is for her alone: the account's key says who shares what.
    const account = { SIDEBAND_API_KEY: running.key };
    const share = ["project", "share", "--with", "grace,linus", "--take", "--yes"];
    assert.match((await ada.sideband(share, account)).output, /shared by ada, grace and linus, .*; 1 fact;/);

    step("Grace joins with Codex: her first session has the team's facts, and she changes one");
    const asGrace = await withCodex(grace);
    const first = await asGrace("Hello");
    assert.ok(first.told.includes(TEAM) && first.told.includes("PROJ.stack=Node 20"), "the facts are there");
    kept = NEWER;
    await asGrace(KEEP);

    step("Ada's next session has it, and says whose it is");
    const next = await asAda("Hello");
    assert.ok(next.told.includes(TEAM) && next.told.includes("PROJ.stack=Node 24"));
    assert.match(
      next.output,
      /PROJ\.stack was .{0,4}Node 20.{0,4}, now .{0,4}Node 24.{0,4} \(grace, codex\)/,
    );
    assert.match((await ada.sideband(["facts"])).output, /written by grace, codex\nPROJ\.stack=Node 24/);

    step("Linus has the facts until he is removed: then his host has nothing of them, and can write nothing");
    const asLinus = await withClaude(linus);
    assert.ok((await asLinus("Hello")).told.includes("PROJ.stack=Node 24"));
    await ada.sideband(["project", "members", "remove", "linus"], account);
    const removed = await asLinus("Hello");
    assert.ok(!removed.told.includes("Node 24") && !removed.told.includes(TEAM), "he gets nothing");
    assert.ok(!removed.output.includes("Node 24"), "and no news of it");
    kept = { label: "PROJ.stack", value: "Deno" };
    await asLinus(KEEP);
    assert.match((await grace.sideband(["recall", "PROJ.stack"])).output, /^Node 24\n/);
  } finally {
    await model.end();
    await running.end();
    packed.end();
    rmSync(root, { recursive: true, force: true });
  }
}
