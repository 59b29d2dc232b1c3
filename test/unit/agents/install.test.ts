/** What is installed on Windows, where no `.cmd` is started without a shell and the shells differ. Not run there. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AGENTS, permanentCommand, withPiece } from "../../../src/agents/install.ts";
import { AGENT_FILES } from "../../../src/main/package.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

const NODE = "C:\\Program Files\\nodejs\\node.exe";
const SCRIPT = "C:\\Users\\Ada Okafor\\sideband\\bin\\sideband.js";

function piecesOf(agent: string) {
  const kind = AGENTS.find(({ name }) => name === agent);
  assert.ok(kind !== undefined);
  const options = {
    files: AGENT_FILES,
    openclawModule: "/x.js",
    target: "/host",
    isUsual: true,
    home: "/home/ada",
    platform: "win32",
  } as const;
  return new Map(kind.pieces({ ...options, command: [NODE, SCRIPT] }).map((piece) => [piece.path, piece]));
}

test("on Windows the files do not call the command that npm puts on the search path", (context) => {
  const folder = temporaryFolder(context);
  writeFileSync(join(folder, "sideband"), "#!/bin/sh\necho 0.1.0\n", { mode: 0o700 });
  assert.deepEqual(permanentCommand(folder, SCRIPT, "0.1.0", "linux"), ["sideband"]);
  assert.deepEqual(permanentCommand(folder, SCRIPT, "0.1.0", "win32"), [process.execPath, SCRIPT]);
});

test("on Windows a hook is a bare name with a script in quotes, which bash, cmd.exe and PowerShell start", () => {
  const hooks = [
    ["claude-code", join("/host", "sideband", "hooks", "hooks.json")],
    ["codex", join("/host", "hooks.json")],
  ];
  for (const [agent, path] of hooks) {
    const piece = piecesOf(agent).get(path);
    assert.ok(piece !== undefined, path);
    const groups: { hooks: { command: string }[] }[] = Object.values(
      JSON.parse(piece.text).hooks,
    ).flat() as never;
    const commands = new Set(groups.flatMap(({ hooks }) => hooks.map(({ command }) => command)));
    const script = '"C:/Users/Ada Okafor/sideband/bin/sideband.js"';
    assert.deepEqual([...commands], [`node ${script} hook --host ${agent}`]);
    // A second installation replaces the first.
    if (piece.kind === "hooks")
      assert.deepEqual(JSON.parse(withPiece(piece.text, piece)), JSON.parse(withPiece("{}", piece)));
  }
});

test("on Windows an MCP server is started by the full path of node", () => {
  const claude = piecesOf("claude-code").get(join("/host", "sideband", ".mcp.json"));
  const { command, args } = JSON.parse(claude?.text ?? "").mcpServers.sideband;
  assert.deepEqual([command, args], [NODE, [SCRIPT, "mcp"]]);
  const codex = piecesOf("codex").get(join("/host", "config.toml"))?.text ?? "";
  const words = [`command = ${JSON.stringify(NODE)}`, `args = [${JSON.stringify(SCRIPT)}, "mcp"]`];
  for (const word of words) assert.ok(codex.includes(`${word}\n`), codex);
});

test("what is said after an installation into opencode is true there: settings are variables of its shell", () => {
  const next =
    AGENTS.find(({ name }) => name === "opencode")
      ?.next("/home/ada/.config/opencode")
      .join("\n") ?? "";
  // An entry with "env" keeps opencode from starting, and its plugin would not have the variables.
  assert.doesNotMatch(next, /"env"|entry/);
  assert.match(next, /shell[\s\S]*SIDEBAND_API_URL and SIDEBAND_API_KEY for a service/);
});
