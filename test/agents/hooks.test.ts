/**
 * Claude Code and Codex: the files are installed as a user installs them, and the commands in them are run as
 * the host runs them, with the host's JSON on standard input.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { outageSection } from "../../src/agent-side/memory-section.ts";
import {
  LIST_BEFORE_COMPACTION,
  STORE_AFTER_COMPACTION,
  STORE_BEFORE_END,
} from "../../src/agent-side/prompts.ts";
import { projectOf } from "../../src/agents/project.ts";
import { LABELS } from "../../src/base/channel-labels.ts";
import { memorySection } from "../../src/sdk/index.ts";
import { endAfter } from "../fixtures/ends.ts";
import { type Running, startRunning } from "../http/running-service.ts";
import { closedPort, scriptedServer } from "../unit/sdk/scripted-server.ts";
import { makeHost } from "./host.ts";

interface HooksFile {
  hooks: Record<string, { matcher?: string; hooks: { type: string; command: string; timeout: number }[] }[]>;
}

/** What Claude Code writes to a hook, as its documentation shows it. */
const CLAUDE = {
  session_id: "0f6c2a3e-5a0d-4d8b-9a55-2b1f7f0c9e11",
  transcript_path: "/home/ada/.claude/projects/-home-ada-code/0f6c2a3e.jsonl",
  cwd: "/home/ada/code",
};
/** What Codex writes, by its generated schemas. */
const CODEX = {
  session_id: "019a2b3c",
  transcript_path: null,
  cwd: "/home/ada/code",
  model: "gpt-5",
  permission_mode: "default",
};

const readHooks = (path: string) => JSON.parse(readFileSync(path, "utf8")) as HooksFile;
const environment = (running: Running) => ({
  SIDEBAND_API_URL: running.url,
  SIDEBAND_API_KEY: running.key,
  SIDEBAND_USER_ID: "ada",
});

/** The command that the host runs for an event with this matcher value. */
function commandFor(file: HooksFile, event: string, value: string): string {
  const groups = file.hooks[event].filter(({ matcher = ".*" }) => new RegExp(`^(?:${matcher})$`).test(value));
  assert.equal(groups.length, 1, `${event} ${value}`);
  assert.equal(groups[0].hooks[0].type, "command");
  return groups[0].hooks[0].command;
}

suite("hooks", { concurrency: false }, () => {
  test("Claude Code: installed, a session starts with the facts, and after a compaction they are there again", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    const installed = await host.sideband("agents install claude-code --dir plugin");
    assert.equal(installed.status, 0, installed.stderr);
    assert.match(installed.stdout, /wrote plugin\/sideband\/hooks\/hooks\.json/);
    const plugin = join(host.home, "plugin", "sideband");
    const manifest = JSON.parse(readFileSync(join(plugin, ".claude-plugin", "plugin.json"), "utf8"));
    assert.equal(manifest.name, "sideband");
    const mcp = JSON.parse(readFileSync(join(plugin, ".mcp.json"), "utf8"));
    assert.deepEqual(mcp.mcpServers.sideband, { command: "sideband", args: ["mcp"], alwaysLoad: true });
    assert.match(readFileSync(join(plugin, "README.md"), "utf8"), /^# Sideband for Claude Code/);
    const hooks = readHooks(join(plugin, "hooks", "hooks.json"));
    const env = environment(running);
    const start = (source: string) =>
      host.shell(commandFor(hooks, "SessionStart", source), {
        env,
        input: JSON.stringify({
          ...CLAUDE,
          hook_event_name: "SessionStart",
          source,
          model: "claude-opus-4-1",
        }),
      });

    const empty = await start("startup");
    // What is worth keeping is said by the MCP server, whose words Claude Code tells its model.
    assert.deepEqual([empty.status, empty.stdout, empty.stderr], [0, "", ""]);

    await running.call("POST", "/encode", {
      body: { user_id: "ada", label: "TASK.decision", value: "lmdb, not SQLite" },
    });
    const context = (await running.call("GET", "/context?user_id=ada")).json;
    const section = memorySection(context, "index");
    for (const source of ["startup", "clear", "compact"]) {
      if (source === "compact") {
        const input = { ...CLAUDE, hook_event_name: "PreCompact", trigger: "auto", custom_instructions: "" };
        const flushed = await host.shell(commandFor(hooks, "PreCompact", "auto"), {
          env,
          input: JSON.stringify(input),
        });
        // Claude Code adds it to its summary prompt.
        assert.deepEqual([flushed.status, flushed.stdout, flushed.stderr], [0, LIST_BEFORE_COMPACTION, ""]);
        // Nothing to flush: the prompt has no block.
        assert.doesNotMatch(
          (await running.call("GET", "/metrics")).text,
          /route="\/flush",status="200"\} [1-9]/,
        );
      }
      const { status, stdout, stderr } = await start(source);
      assert.deepEqual([status, stderr], [0, ""]);
      const additionalContext = source === "compact" ? `${STORE_AFTER_COMPACTION}\n\n${section}` : section;
      // The person is told once what others have changed since the last session.
      const news =
        'Sideband, since your last session here: TASK.decision now "lmdb, not SQLite". "sideband log" has it all.';
      assert.deepEqual(JSON.parse(stdout), {
        ...(source === "startup" ? { systemMessage: news } : {}),
        hookSpecificOutput: { hookEventName: "SessionStart", additionalContext },
      });
    }
  });

  test("Codex: hooks beside the user's own, and its JSON", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    const folder = join(host.home, ".codex");
    mkdirSync(folder);
    const own = { matcher: "startup", hooks: [{ type: "command", command: "echo mine", timeout: 5 }] };
    writeFileSync(
      join(folder, "hooks.json"),
      JSON.stringify({ hooks: { SessionStart: [own], Stop: [own] } }),
    );
    writeFileSync(join(folder, "config.toml"), 'model = "gpt-5"\n');
    for (let round = 0; round < 2; round++) {
      assert.equal((await host.sideband("agents install codex")).status, 0);
    }
    const hooks = readHooks(join(folder, "hooks.json"));
    assert.equal(hooks.hooks.SessionStart.length, 2, "installing twice adds nothing");
    assert.deepEqual([hooks.hooks.SessionStart[0], hooks.hooks.Stop[0]], [own, own]);
    const toml = readFileSync(join(folder, "config.toml"), "utf8");
    assert.equal(toml.split("[mcp_servers.sideband]").length, 2);
    assert.ok(toml.startsWith('model = "gpt-5"\n'));

    await running.call("POST", "/encode", { body: { user_id: "ada", label: "USER.name", value: "Ada" } });
    hooks.hooks.SessionStart.shift();
    const input = JSON.stringify({ ...CODEX, hook_event_name: "SessionStart", source: "startup" });
    const command = commandFor(hooks, "SessionStart", "startup");
    const { status, stdout } = await host.shell(command, { input, env: environment(running) });
    assert.equal(status, 0);
    const { hookSpecificOutput, ...rest } = JSON.parse(stdout);
    // Codex refuses fields that its schema does not know.
    assert.deepEqual(
      [Object.keys(rest), Object.keys(hookSpecificOutput)],
      [[], ["hookEventName", "additionalContext"]],
    );
    assert.match(hookSpecificOutput.additionalContext, /USER\.name=Ada/);
    const compact = JSON.stringify({
      ...CODEX,
      hook_event_name: "PreCompact",
      trigger: "manual",
      turn_id: "7",
    });
    const flushed = await host.shell(commandFor(hooks, "PreCompact", "manual"), {
      input: compact,
      env: environment(running),
    });
    assert.deepEqual([flushed.status, flushed.stdout, flushed.stderr], [0, "", ""]);
  });

  test("without a service the hook reads the data folder itself", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    const key = await running.newKey("default");
    await running.call("POST", "/encode", {
      key,
      body: { user_id: "ada", label: "USER.os", value: "Plan 9" },
    });
    const input = JSON.stringify({ ...CLAUDE, hook_event_name: "SessionStart", source: "startup" });
    const { stdout, status } = await host.shell("sideband hook --user ada --include index", {
      input,
      env: { SIDEBAND_DATA: running.folder },
    });
    assert.equal(status, 0);
    assert.match(
      JSON.parse(stdout).hookSpecificOutput.additionalContext,
      /\nUSER\.os=Plan 9\n<\/sideband-memory>$/,
    );
  });

  test("with memory silent, away, forbidden or misconfigured a hook says one line and the agent goes on", async (t) => {
    const host = makeHost(t);
    const silent = await scriptedServer(t, () => "hang");
    const refusing = await scriptedServer(t, () => ({
      status: 401,
      body: { code: "invalid_key", detail: "This API key is not valid." },
    }));
    const input = JSON.stringify({ ...CLAUDE, hook_event_name: "SessionStart", source: "startup" });
    const flush = JSON.stringify({ ...CLAUDE, hook_event_name: "PreCompact", trigger: "auto" });
    for (const [env, text, says] of [
      [{ SIDEBAND_API_URL: silent.url, SIDEBAND_TIMEOUT_MS: "" }, input, /no answer within 2000 ms/],
      [
        { SIDEBAND_API_URL: silent.url, SIDEBAND_TIMEOUT_MS: "2000", SIDEBAND_INCLUDE: "both" },
        flush,
        /no answer within 2000 ms/,
      ],
      [{ SIDEBAND_API_URL: silent.url, SIDEBAND_INCLUDE: "all" }, input, /SIDEBAND_INCLUDE takes one of/],
      [{ SIDEBAND_INCLUDE: "all" }, flush, /SIDEBAND_INCLUDE takes one of/],
      [{ SIDEBAND_DATA: "/dev/null/nowhere", SIDEBAND_INCLUDE: "both" }, flush, /nowhere|null/],
      [{ SIDEBAND_API_URL: await closedPort() }, input, /cannot reach http/],
      [{ SIDEBAND_API_URL: refusing.url }, input, /not valid/],
      [{ SIDEBAND_API_URL: refusing.url }, "this is not JSON", /JSON/],
      [{ SIDEBAND_DATA: "/dev/null/nowhere" }, input, /nowhere|null/],
    ] as const) {
      const { status, stdout, stderr } = await host.shell("sideband hook", { env, input: text });
      assert.equal(status, 0, stderr);
      if (text === input) {
        // The person is told by the host's own message, and the model by a line of its context.
        const { systemMessage, hookSpecificOutput } = JSON.parse(stdout);
        assert.match(systemMessage, /^Sideband: going on without memory: /);
        assert.match(systemMessage, says);
        assert.deepEqual(hookSpecificOutput, {
          hookEventName: "SessionStart",
          additionalContext: outageSection(),
        });
        // What a compaction's summary is asked for is printed before anything that can fail.
      } else assert.equal(stdout, text === flush ? LIST_BEFORE_COMPACTION : "", stderr);
      assert.match(stderr, /^sideband: going on without memory: [^\n]*\n$/);
      assert.match(stderr, says);
    }
  });

  test("a block that is not ready in time is left out, the facts are not", async (t) => {
    const host = makeHost(t);
    const index = {
      user_id: "ada",
      fdm_block: "",
      channel_labels: ["USER.os"],
      plain_index: "USER.os=Plan 9",
    };
    const slow = await scriptedServer(t, ({ path, query }) =>
      path === "/context" && query.include === "index" ? { body: index } : "hang",
    );
    const input = JSON.stringify({ ...CLAUDE, hook_event_name: "SessionStart", source: "startup" });
    const env = { SIDEBAND_API_URL: slow.url, SIDEBAND_TIMEOUT_MS: "10000" };
    const { status, stdout, stderr } = await host.shell("sideband hook --user ada --include both", {
      input,
      env,
    });
    assert.deepEqual([status, stderr], [0, ""]);
    const { additionalContext } = JSON.parse(stdout).hookSpecificOutput;
    const section = memorySection({ fdm_block: "", plain_index: "USER.os=Plan 9" });
    assert.equal(additionalContext, section);
  });

  test("a session sees the facts of the person and of its repository, and of no other", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    for (const name of ["loom", "mill"]) mkdirSync(join(host.home, name, ".git"), { recursive: true });
    const write = (project: string | undefined, label: string, value: string) =>
      running.call("POST", "/encode", { body: { user_id: "ada", project, label, value } });
    const projects = ["loom", "mill"].map((name) => projectOf([join(host.home, name)]) ?? "");
    await write(undefined, "USER.name", "Ada");
    await write(projects[0], "PROJ.goal", "weave");
    await write(projects[1], "PROJ.goal", "grind");
    const contextIn = async (folder: string, env = {}) => {
      const input = { ...CLAUDE, cwd: join(host.home, folder), hook_event_name: "SessionStart" };
      const { stdout } = await host.shell("sideband hook", {
        input: JSON.stringify(input),
        env: { ...environment(running), ...env },
      });
      return String(JSON.parse(stdout).hookSpecificOutput.additionalContext);
    };
    const seen = async (folder: string, env = {}) =>
      [...(await contextIn(folder, env)).matchAll(/^(?:USER|PROJ)\.\w+=.*$/gm)].map(([line]) => line);
    assert.deepEqual(await seen("loom"), ["USER.name=Ada", "PROJ.goal=weave"]);
    assert.deepEqual(await seen("mill"), ["USER.name=Ada", "PROJ.goal=grind"]);
    assert.deepEqual(await seen("."), ["USER.name=Ada"]);
    assert.deepEqual(await seen("loom", { SIDEBAND_PROJECT: "off" }), ["USER.name=Ada"]);
    const both = { SIDEBAND_INCLUDE: "both" };
    assert.equal((await contextIn("loom", both)).split("[MEM]").length, 2, "one block for both");
    const compact = { ...CLAUDE, cwd: join(host.home, "loom"), hook_event_name: "PreCompact" };
    await host.shell("sideband hook", {
      input: JSON.stringify(compact),
      env: { ...environment(running), ...both },
    });
    assert.match((await running.call("GET", "/metrics")).text, /route="\/flush",status="200"\} 1/);
  });

  test("a sub-agent gets the facts in plain text, whatever the session's prompt has", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install claude-code --dir plugin");
    const hooks = readHooks(join(host.home, "plugin", "sideband", "hooks", "hooks.json"));
    const start = () =>
      host.shell(commandFor(hooks, "SubagentStart", "Explore"), {
        env: { ...environment(running), SIDEBAND_INCLUDE: "both" },
        input: JSON.stringify({
          ...CLAUDE,
          hook_event_name: "SubagentStart",
          agent_type: "Explore",
          agent_id: "a1",
        }),
      });
    assert.equal((await start()).stdout, "");
    await running.call("POST", "/encode", { body: { user_id: "ada", label: "USER.name", value: "Ada" } });
    const additionalContext = memorySection({ fdm_block: "", plain_index: "USER.name=Ada" }, "index");
    assert.deepEqual(JSON.parse((await start()).stdout), {
      hookSpecificOutput: { hookEventName: "SubagentStart", additionalContext },
    });
  });

  test("a large memory fits Claude Code's limit: the block goes, and facts are whole or only named", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    const contextFor = async (args: string) => {
      const input = JSON.stringify({ ...CLAUDE, hook_event_name: "SessionStart", source: "startup" });
      const { stdout } = await host.shell(`sideband hook ${args}`, { input, env: environment(running) });
      return String(JSON.parse(stdout).hookSpecificOutput.additionalContext);
    };
    const labels = LABELS.filter((label) => /^(USER|PREF)/.test(label));
    const facts = labels.map((label, i) => ({ label, value: i === 0 ? "short" : "long ".repeat(120) }));
    await running.call("POST", "/encode/batch", { body: { user_id: "ada", facts } });
    const cut = await contextFor("--host claude-code --include both");
    assert.ok(!cut.includes("[MEM]") && cut.endsWith("</sideband-memory>"));
    for (const label of labels)
      assert.match(cut, new RegExp(`\n${label}=(?:short|(?:long ){120})\n|[:,] ${label}[,\n]`));
    const all = await contextFor("--host claude-code --include index");
    assert.equal(all, cut);
    const whole = await contextFor("--host codex --include both");
    assert.ok(whole.length > 11_000 && whole.includes("[MEM]"));
  });

  // Longer than the 2 s of other events.
  const SLOW_MS = 2_500;

  test("before a compaction a slow service has the time that the host gives", async (t) => {
    const host = makeHost(t);
    const slow = await scriptedServer(t, async () => {
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return { body: { status: "empty", channel_count: 0, lossless: true, fdm_block: "", overflow: [] } };
    });
    const env = { SIDEBAND_API_URL: slow.url, SIDEBAND_TIMEOUT_MS: "", SIDEBAND_PROJECT: "off" };
    const input = JSON.stringify({ ...CLAUDE, hook_event_name: "PreCompact", trigger: "auto" });
    const { stdout, stderr, ms } = await host.shell("sideband hook --include both", { input, env });
    assert.deepEqual([stdout, stderr], [LIST_BEFORE_COMPACTION, ""]);
    assert.ok(ms >= SLOW_MS, `${ms} ms`);
  });

  test("a long session is asked once at its end, a short one is not", async (t) => {
    const host = makeHost(t);
    const path = join(host.home, "transcript.jsonl");
    const stop = async (lines: string[], more = {}) => {
      writeFileSync(path, lines.join("\n"));
      const input = { ...CLAUDE, hook_event_name: "Stop", transcript_path: path, ...more };
      const env = { SIDEBAND_API_URL: "http://127.0.0.1:1" };
      const { status, stdout, stderr } = await host.shell("sideband hook", {
        input: JSON.stringify(input),
        env,
      });
      assert.deepEqual([status, stderr], [0, ""]);
      return stdout;
    };
    const said = JSON.stringify({ type: "assistant", message: { role: "assistant", content: "x" } });
    const long = Array<string>(25).fill(said);
    assert.equal(await stop(long.slice(0, 5)), "");
    assert.deepEqual(JSON.parse(await stop(long)), { decision: "block", reason: STORE_BEFORE_END });
    assert.equal(await stop(long, { stop_hook_active: true }), "");
    assert.equal(await stop([...long, JSON.stringify({ content: STORE_BEFORE_END })]), "");
  });

  test("a hook of another event does nothing", async (t) => {
    const host = makeHost(t);
    const input = JSON.stringify({ ...CLAUDE, hook_event_name: "Notification" });
    const { status, stdout, stderr } = await host.shell("sideband hook", {
      input,
      env: { SIDEBAND_API_URL: "http://127.0.0.1:1" },
    });
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  });
});
