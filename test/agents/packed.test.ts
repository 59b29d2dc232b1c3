/**
 * The package as npm packs it, installed into a project and started with npx, as its pages say: the files that it writes
 * name what really starts, after npx and its search path are gone.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { caller, type TourClient } from "../mcp/tour.ts";
import { makeHost } from "./host.ts";
import { packedProject } from "./packed.ts";

function programPath(name: string): string {
  if (name === "node") return process.execPath;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return join(folders.find((folder) => existsSync(join(folder, name))) ?? "", name);
}

test("npx of the packed package: hooks, MCP server and OpenClaw plugin start as the files say", async (t) => {
  const running = endAfter(t, await startRunning());
  const host = makeHost(t);
  const project = packedProject();
  t.after(() => project.end());
  // Only what npx needs: a `sideband` that is installed beside npm would be found before the packed one.
  const programs = join(project.folder, "programs");
  mkdirSync(programs);
  for (const name of ["node", "npx", "sh"])
    symlinkSync(realpathSync(programPath(name)), join(programs, name));
  const bare = { PATH: programs, HOME: host.home, USER: "ada" };
  const npx = (...args: string[]) =>
    execFileSync(join(programs, "npx"), ["--no", "sideband", ...args], {
      cwd: project.folder,
      encoding: "utf8",
      env: bare,
      stdio: ["ignore", "pipe", "ignore"],
    });
  for (const agent of ["claude-code", "codex", "openclaw"]) npx("agents", "install", agent);
  const env = {
    ...bare,
    SIDEBAND_API_URL: running.url,
    SIDEBAND_API_KEY: running.key,
    SIDEBAND_USER_ID: "ada",
    SIDEBAND_TIMEOUT_MS: "20000",
  };

  const servers = JSON.parse(
    readFileSync(join(host.home, ".sideband/claude-code/sideband/.mcp.json"), "utf8"),
  );
  const { command, args } = servers.mcpServers.sideband;
  assert.deepEqual([command, args], [process.execPath, [project.script, "mcp"]]);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, env, cwd: host.home, stderr: "inherit" }));
  const kept = await caller(client as unknown as TourClient)("remember", {
    label: "USER.name",
    value: "Ada",
  });
  assert.notEqual(kept.isError, true);
  await client.close();

  for (const path of [".sideband/claude-code/sideband/hooks/hooks.json", ".codex/hooks.json"]) {
    const { hooks } = JSON.parse(readFileSync(join(host.home, path), "utf8"));
    const line = hooks.SessionStart[0].hooks[0].command;
    const input = JSON.stringify({ hook_event_name: "SessionStart", source: "startup", cwd: host.home });
    const { status, stdout, stderr } = await host.shell(line, { input, env });
    assert.deepEqual([status, stderr], [0, ""], line);
    assert.match(stdout, /USER\.name=Ada/);
  }

  const plugin = await import(join(host.home, ".openclaw/sideband-plugin/index.js"));
  assert.equal(plugin.default.id, "sideband");
  const status = await host.shell(`"${project.script}" agents status`, { env });
  assert.equal(status.status, 0, status.stdout);
  assert.match(status.stdout, /claude-code .*\n {2}command .*sideband\.js, which starts/);
});
