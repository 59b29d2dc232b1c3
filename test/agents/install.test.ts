/** sideband agents: the list, a dry run that writes nothing, wrong calls, and files that call this installation. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { AGENTS } from "../../src/agents/install.ts";
import { CHANNELS } from "../../src/base/channels.ts";
import { MEMORY_TOOLS } from "../../src/contract/memory-tools.ts";
import { makeHost } from "./host.ts";

const files = fileURLToPath(new URL("../../agents", import.meta.url));

suite("sideband agents", { concurrency: false }, () => {
  test("the list names each agent, and a dry run writes nothing", async (t) => {
    const host = makeHost(t);
    const list = await host.shell("sideband agents list");
    assert.equal(list.status, 0);
    for (const { name } of AGENTS) {
      assert.ok(list.stdout.includes(`${name} `));
      const dry = await host.shell(`sideband agents install ${name} --dry-run`);
      assert.equal(dry.status, 0, dry.stderr);
      assert.match(dry.stdout, /^would write /);
    }
    assert.deepEqual(readdirSync(host.home), ["bin"]);
  });

  test("a wrong call is told how to be right", async (t) => {
    const host = makeHost(t);
    for (const args of ["", "emacs", "codex hermes", "codex --force"]) {
      const { status, stderr } = await host.shell(`sideband agents install ${args}`);
      assert.equal(status, 2);
      assert.match(stderr, /--help says how/);
    }
    mkdirSync(join(host.home, ".codex"));
    writeFileSync(join(host.home, ".codex", "hooks.json"), "not JSON");
    const broken = await host.shell("sideband agents install codex");
    assert.equal(broken.status, 1);
    assert.equal(readFileSync(join(host.home, ".codex", "hooks.json"), "utf8"), "not JSON");
  });
});

test("where sideband is not on the search path, hooks and MCP call this installation", async (t) => {
  const { home } = makeHost(t);
  const command = ["/opt/my node/bin/node", "/opt/sideband/bin/sideband.js"];
  for (const kind of AGENTS) kind.install({ files, target: join(home, kind.name), command, dryRun: false });
  const hooks = JSON.parse(readFileSync(join(home, "claude-code/sideband/hooks/hooks.json"), "utf8"));
  assert.equal(
    hooks.hooks.PreCompact[0].hooks[0].command,
    '"/opt/my node/bin/node" /opt/sideband/bin/sideband.js hook',
  );
  const mcp = JSON.parse(readFileSync(join(home, "claude-code/sideband/.mcp.json"), "utf8"));
  assert.deepEqual(mcp.mcpServers.sideband, { command: command[0], args: [command[1], "mcp"] });
  const toml = readFileSync(join(home, "codex/config.toml"), "utf8");
  assert.match(toml, /^command = "\/opt\/my node\/bin\/node"$/m);
  assert.match(toml, /^args = \["\/opt\/sideband\/bin\/sideband.js", "mcp"\]$/m);
  assert.ok(existsSync(join(home, "hermes/plugins/sideband/__init__.py")));
  assert.ok(existsSync(join(home, "openclaw/skills/sideband/SKILL.md")));
});

test("the skills name every label and only tools that there are", () => {
  for (const path of ["claude-code/sideband/skills/memory/SKILL.md", "openclaw/skill/SKILL.md"]) {
    const text = readFileSync(join(files, path), "utf8");
    assert.match(text, /^---\nname: [a-z-]+\ndescription: [^\n]+\n/);
    for (const group of ["USER", "PREF", "TASK", "PROJ"]) {
      const names = CHANNELS.filter(({ label }) => label.startsWith(group)).map(
        ({ label }) => label.split(".")[1],
      );
      assert.ok(text.includes(names.join(", ")), `${path}: ${group}`);
    }
  }
  const skill = readFileSync(join(files, "claude-code/sideband/skills/memory/SKILL.md"), "utf8");
  const named = [...skill.matchAll(/^- `(\w+)`/gm)].map((match) => match[1]);
  for (const name of named)
    assert.ok(
      MEMORY_TOOLS.some((tool) => tool.name === name),
      name,
    );
  assert.ok(named.length >= 4);
});
