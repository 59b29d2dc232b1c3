/** sideband agents: the list, a dry run that writes nothing, wrong calls, what the files call, status, and removal. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MEMORY_TOOLS } from "../../src/agent-side/memory-tools.ts";
import { AGENTS, isInCache, permanentCommand } from "../../src/agents/install.ts";
import { InstallationRecord } from "../../src/agents/installation-record.ts";
import { CHANNELS } from "../../src/base/channels.ts";
import { AGENT_SETTINGS } from "../../src/settings.ts";
import { endAfter } from "../fixtures/ends.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

const files = fileURLToPath(new URL("../../agents", import.meta.url));

suite("sideband agents", { concurrency: false }, () => {
  test("the list names each agent, and a dry run writes nothing", async (t) => {
    const host = makeHost(t);
    const list = await host.sideband("agents list");
    assert.equal(list.status, 0);
    for (const { name } of AGENTS) {
      assert.ok(list.stdout.includes(`${name} `));
      const dry = await host.sideband(`agents install ${name} --dry-run`);
      assert.equal(dry.status, 0, dry.stderr);
      assert.match(dry.stdout, /^would write /);
    }
    assert.deepEqual(readdirSync(host.home), ["bin"]);
  });

  test("a wrong call is told how to be right", async (t) => {
    const host = makeHost(t);
    const wrong = [
      "",
      "emacs",
      "codex hermes",
      "codex --force",
      "codex --groups user",
      "hermes --groups USER",
    ];
    for (const args of wrong) {
      const { status, stderr } = await host.sideband(`agents install ${args}`);
      assert.equal(status, 2);
      assert.match(stderr, /--help says how/);
    }
    mkdirSync(join(host.home, ".codex"));
    writeFileSync(join(host.home, ".codex", "hooks.json"), "not JSON");
    const broken = await host.sideband("agents install codex");
    assert.equal(broken.status, 1);
    assert.equal(readFileSync(join(host.home, ".codex", "hooks.json"), "utf8"), "not JSON");
  });
});

test("where sideband is not on the search path, hooks and MCP call this installation", (t) => {
  const { home } = makeHost(t);
  const command = ["/opt/my node/bin/node", "/opt/side$band/bin/sideband.js"];
  const record = new InstallationRecord(home);
  for (const kind of AGENTS) {
    const target = join(home, kind.name);
    const system = { home, platform: process.platform, isUsual: true };
    const own = { files, openclawModule: "/opt/side band/openclaw.js" };
    const pieces = kind.pieces({ ...own, ...system, target, command });
    record.install({ agent: kind.name, target, version: "1", command }, pieces, false);
  }
  const hooks = JSON.parse(readFileSync(join(home, "claude-code/sideband/hooks/hooks.json"), "utf8"));
  assert.equal(
    hooks.hooks.PreCompact[0].hooks[0].command,
    "'/opt/my node/bin/node' '/opt/side$band/bin/sideband.js' hook --host claude-code",
  );
  const mcp = JSON.parse(readFileSync(join(home, "claude-code/sideband/.mcp.json"), "utf8"));
  assert.deepEqual(mcp.mcpServers.sideband, {
    command: command[0],
    args: [command[1], "mcp"],
    alwaysLoad: true,
  });
  const toml = readFileSync(join(home, "codex/config.toml"), "utf8");
  assert.match(toml, /^command = "\/opt\/my node\/bin\/node"$/m);
  assert.match(toml, /^args = \["\/opt\/side\$band\/bin\/sideband.js", "mcp"\]$/m);
  for (const name of ["API_URL", "API_KEY", "USER_ID"]) assert.ok(toml.includes(`"SPECTRAL_MEMORY_${name}"`));
  const plugin = readFileSync(join(home, "openclaw/sideband-plugin/index.js"), "utf8");
  assert.match(plugin, /from "file:\/\/\/opt\/side%20band\/openclaw\.js"/);
  assert.ok(existsSync(join(home, "hermes/plugins/sideband/__init__.py")));
  assert.ok(existsSync(join(home, "openclaw/skills/sideband/SKILL.md")));
  const gemini = JSON.parse(
    readFileSync(join(home, "gemini-cli/extensions/sideband/gemini-extension.json"), "utf8"),
  );
  assert.deepEqual(gemini.mcpServers.sideband.args, [command[1], "mcp"]);
  const opencode = readFileSync(join(home, "opencode/plugins/sideband.js"), "utf8");
  assert.ok(opencode.includes(`const COMMAND = ${JSON.stringify(command).replace(",", ", ")};`));
  const cursor = JSON.parse(readFileSync(join(home, "cursor/hooks.json"), "utf8"));
  assert.equal(cursor.version, 1);
  assert.equal(
    cursor.hooks.sessionStart[0].command,
    "'/opt/my node/bin/node' '/opt/side$band/bin/sideband.js' hook --host cursor",
  );
});

test("the groups of an installation are in every command that its host calls, and removal takes all of it out", (t) => {
  const { home } = makeHost(t);
  const record = new InstallationRecord(home);
  const system = { home, platform: process.platform, isUsual: true };
  const called = AGENTS.filter(({ callsService }) => !callsService);
  for (const command of [["sideband"], ["/opt/node", "/opt/sideband.js"]]) {
    for (const kind of called) {
      const target = join(home, kind.name);
      const groups = "-HEALTH,-HOME";
      const pieces = kind.pieces({ files, openclawModule: "", ...system, target, command, groups });
      record.install({ agent: kind.name, target, version: "1", command, groups }, pieces, false);
      const texts = pieces.map(({ text }) => text).join("\n");
      const commands =
        texts.match(
          / hook --host [^"]*|(?:args|"args"|"command")(?: =|:) ?\[[^\]]*|"hook", "--host"[^\]]*/g,
        ) ?? [];
      assert.ok(commands.length > 0, kind.name);
      for (const words of commands)
        assert.match(words, /--groups=-HEALTH,-HOME|\.\.\.OPTIONS/, `${kind.name}: ${words}`);
      assert.equal(record.find(kind.name, target)?.groups, groups);
    }
  }
  const opencode = readFileSync(join(home, "opencode/plugins/sideband.js"), "utf8");
  assert.match(opencode, /^const OPTIONS = \["--groups=-HEALTH,-HOME"\];$/m);
  for (const entry of record.all()) record.remove(entry);
  assert.deepEqual(
    fieldsOf(
      called.filter(({ name }) => existsSync(join(home, name))),
      "name",
    ),
    [],
  );
});

test("the server of Codex gets every setting of agents: it hands on only those that are named", () => {
  const toml = readFileSync(join(files, "codex/config.toml"), "utf8");
  const { env_vars: named } = JSON.parse(`{"env_vars": ${/env_vars = (\[.*\])/.exec(toml)![1]}}`);
  // Of adapters alone.
  const others = ["SIDEBAND_STALE_IF_ERROR_MS"];
  const wanted = Object.keys(AGENT_SETTINGS).filter((name) => !others.includes(name));
  assert.deepEqual(
    wanted.filter((name) => !named.includes(name)),
    [],
  );
});

test("only a sideband of this version that stays on the search path counts as installed", (t) => {
  const { home } = makeHost(t);
  const place = (folder: string, prints: string) => {
    mkdirSync(join(home, folder), { recursive: true });
    writeFileSync(join(home, folder, "sideband"), `#!/bin/sh\necho ${prints}\n`, { mode: 0o755 });
    return join(home, folder);
  };
  const script = "/opt/sideband/bin/sideband.js";
  const commandIn = (...folders: string[]) => permanentCommand(folders.join(delimiter), script, "1.2.3");
  const own = [process.execPath, script];
  const passing = [place("app/node_modules/.bin", "1.2.3"), place(".npm/_npx/0f/node_modules/.bin", "1.2.3")];
  assert.deepEqual(commandIn(...passing, "relative"), own);
  assert.deepEqual(commandIn(...passing, place("good", "1.2.3")), ["sideband"]);
  assert.deepEqual(commandIn(place("other", "something else")), own);
  mkdirSync(join(home, "folder", "sideband"), { recursive: true });
  assert.deepEqual(commandIn(join(home, "folder"), ""), own);
  assert.ok(isInCache("/home/ada/.npm/_npx/0f/node_modules/sideband/bin/sideband.js"));
  assert.ok(!isInCache("/home/ada/app/node_modules/sideband/bin/sideband.js"));
});

/** Every file below a folder with its content. */
function snapshot(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    paths
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, "utf8")]),
  );
}

test("remove takes out exactly what install put in", async (t) => {
  const host = makeHost(t);
  mkdirSync(join(host.home, ".codex"));
  // In the user's own format, without a newline at the end.
  writeFileSync(join(host.home, ".codex", "hooks.json"), '{"hooks":{"Stop":[{"hooks":[]}]}}');
  writeFileSync(join(host.home, ".codex", "config.toml"), 'model = "gpt-5"');
  mkdirSync(join(host.home, ".openclaw", "skills"), { recursive: true });
  const before = snapshot(host.home);
  for (const { name } of AGENTS) {
    for (let round = 0; round < 2; round++)
      assert.equal((await host.sideband(`agents install ${name}`)).status, 0);
  }
  assert.ok(Object.keys(snapshot(host.home)).length > Object.keys(before).length + 8);
  for (const { name } of AGENTS) {
    const { status, stderr } = await host.sideband(`agents remove ${name}`);
    assert.equal(status, 0, stderr);
  }
  assert.deepEqual(snapshot(host.home), before);
  assert.ok(!existsSync(join(host.home, ".hermes")), "folders that were made for it go too");
  assert.ok(existsSync(join(host.home, ".openclaw", "skills")));
  const again = await host.sideband("agents remove codex");
  assert.equal(again.status, 1);
  assert.match(again.stderr, /codex is not installed in .*agents status/);
});

test("every command closes the folder of ours in the home to others", async (t) => {
  const host = makeHost(t);
  const folder = join(host.home, ".sideband");
  mkdirSync(folder, { mode: 0o755 });
  chmodSync(folder, 0o755);
  assert.equal((await host.sideband("agents status")).status, 0);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test("what the user changed since is kept, and a changed file of ours is left and named", async (t) => {
  const host = makeHost(t);
  const codex = join(host.home, ".codex");
  for (const name of ["codex", "hermes"]) await host.sideband(`agents install ${name}`);
  const hooks = JSON.parse(readFileSync(join(codex, "hooks.json"), "utf8"));
  hooks.hooks.SessionStart.unshift({ hooks: [{ type: "command", command: "echo mine" }] });
  writeFileSync(join(codex, "hooks.json"), JSON.stringify(hooks));
  const toml = readFileSync(join(codex, "config.toml"), "utf8");
  writeFileSync(join(codex, "config.toml"), `model = "gpt-5"\n${toml}\n[features]\nx = true\n`);
  assert.equal((await host.sideband("agents remove codex")).status, 0);
  assert.deepEqual(JSON.parse(readFileSync(join(codex, "hooks.json"), "utf8")).hooks, {
    SessionStart: [{ hooks: [{ type: "command", command: "echo mine" }] }],
  });
  const left = readFileSync(join(codex, "config.toml"), "utf8");
  assert.ok(left.includes('model = "gpt-5"') && left.includes("[features]") && !left.includes("sideband"));

  const provider = join(host.home, ".hermes", "plugins", "sideband", "__init__.py");
  appendFileSync(provider, "# mine\n");
  const { status, stdout } = await host.sideband("agents remove hermes");
  assert.equal(status, 1);
  assert.match(stdout, /left .*__init__\.py: it was changed/);
  assert.deepEqual(readdirSync(join(provider, "..")), ["__init__.py"]);

  // A table of the user's own with our name is not ours.
  writeFileSync(join(codex, "config.toml"), '[mcp_servers.sideband]\ncommand = "mine"\n');
  await host.sideband("agents install codex");
  await host.sideband("agents remove codex");
  assert.equal(
    readFileSync(join(codex, "config.toml"), "utf8"),
    '[mcp_servers.sideband]\ncommand = "mine"\n',
  );
});

test("status says what is installed where, which version, and whether it starts and answers", async (t) => {
  const running = endAfter(t, await startRunning());
  const host = makeHost(t);
  const env = {
    SIDEBAND_API_URL: running.url,
    SIDEBAND_API_KEY: running.key,
    SIDEBAND_USER_ID: "ada",
    SIDEBAND_PROJECT: "loom-1",
  };
  const none = await host.sideband("agents status", env);
  assert.equal(none.status, 0, none.stdout);
  assert.match(none.stdout, /^not installed: claude-code, codex, hermes, openclaw, gemini-cli, cursor, /);
  assert.match(none.stdout, /^a prompt gets the facts in plain text \(SIDEBAND_INCLUDE\)$/m);
  assert.match(none.stdout, /memory of ada in the project loom-1: http.* answers in \d+ ms, 0 facts/);
  await host.sideband("agents install codex --dir here --groups USER,PREF");
  const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
  const good = await host.sideband("agents status", { ...env, SIDEBAND_INCLUDE: "both" });
  assert.match(good.stdout, /^a prompt gets the facts in plain text and the sealed block /m);
  assert.equal(good.status, 0);
  assert.ok(good.stdout.includes(`codex ${version} in ${join(host.home, "here")}`), good.stdout);
  assert.match(good.stdout, /command sideband, which starts\n {2}its prompts get the groups PREF,USER\n/);

  const record = join(host.home, ".sideband", "agents.json");
  const text = readFileSync(record, "utf8");
  writeFileSync(record, text.slice(0, 40));
  const damaged = await host.sideband("agents status", env);
  assert.equal(damaged.status, 1);
  assert.match(damaged.stderr, /^sideband agents status: .*agents\.json is damaged; delete it/);
  writeFileSync(record, text);

  rmSync(join(host.home, "here", "hooks.json"));
  const broken = await host.sideband("agents status", { ...env, SIDEBAND_API_URL: await closedPort() });
  assert.equal(broken.status, 1);
  assert.match(
    broken.stdout,
    /files are missing or changed\n {2}again: .*sideband\S* agents install codex --dir \S+ --groups=PREF,USER\n/,
  );
  assert.match(broken.stdout, /does not answer: cannot reach/);
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
